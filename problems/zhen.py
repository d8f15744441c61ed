"""Licensed Chinese-English corpora in local files."""

from __future__ import annotations

from t2t_phrase import registry
from t2t_phrase.data.sources.local_problem import LocalProblem


@registry.problems.register
class TranslateZhenNist(LocalProblem):
    """NIST Chinese to English from newswire corpora of the Linguistic Data Consortium.

    Expected in `TMP_DIR/nist`, in UTF-8:

    - training text, a pair of files for each corpus: `train.LDC2002E18.zh`,
      `train.LDC2002E18.en`, ... (or one pair `train.zh`, `train.en`), one sentence per line;
    - MT02 as `dev`, MT03 to MT06 as `test`, each with four references: NIST's own SGML as
      `dev.mt02.zh.sgm`, `dev.mt02.en.sgm`, `test.mt03.zh.sgm`, ..., or text as `dev.zh`,
      `dev.en.0` to `dev.en.3`. Several test sets are concatenated in the order of their names.
    """

    languages = ("zh", "en")
    vocab_size = 32_000
    character_coverage = 0.9995
    folder = "nist"
    references = 4


@registry.problems.register
class TranslateZhenBolt(LocalProblem):
    """BOLT Chinese-English discussion forums.

    Expected in `TMP_DIR/bolt`, in UTF-8 with one sentence per line: `train.zh` and `train.en` (or
    `train.NAME.zh` and `train.NAME.en` for each release), `dev.zh` and `dev.en`, `test.zh` and
    `test.en`; several references as `test.en.0`, `test.en.1`, ...
    """

    languages = ("zh", "en")
    vocab_size = 32_000
    character_coverage = 0.9995
    folder = "bolt"

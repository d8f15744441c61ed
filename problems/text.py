"""Your own parallel text, without writing code."""

from __future__ import annotations

from t2t_phrase import registry
from t2t_phrase.data.sources.local_problem import LocalProblem


@registry.problems.register
class TranslateText(LocalProblem):
    """Your own parallel files in `--tmp_dir`.

    Either name them `train.src`, `train.tgt`, `dev.src`, `dev.tgt` and, if you have a test set,
    `test.src` and `test.tgt`. They are in UTF-8 with one sentence per line and may be gzipped
    (`train.src.gz`). Several training files are named `train.NAME.src` and `train.NAME.tgt`,
    several references of a dev or test set `test.tgt.0`, `test.tgt.1`, ... Constituency trees of
    the sources may accompany them (`train.src.trees`, see docs/trees.md).

    Or list the files in `translate_text.json`, with paths relative to it. Each part is a source
    file and one or more reference files:

    ```json
    {"train": [["news.en", "news.de"], ["talks.en.gz", "talks.de.gz"]],
     "dev": [["dev.en", "dev.de"]],
     "test": [["test.en", "test.de.0", "test.de.1"]]}
    ```

    With `"weights": [1, 4]` next to these, the pairs of the second training part occur four times
    in each epoch.

    By default there is one joint vocabulary of subwords, whose size suits the size of the corpus;
    `--vocab_size`, `--noshared_vocab`, `--vocab_type=words` and `--vocab_file` change that.
    """

    languages = ("src", "tgt")
    file_list = "translate_text.json"
    optional_splits = ("test",)

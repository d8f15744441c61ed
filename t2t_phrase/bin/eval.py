"""t2t-phrase-eval: scores translations by sacreBLEU, with signatures.

    t2t-phrase-eval --translation=out.de --reference=test.de --metrics=bleu,chrf,ter

`--tokenize=intl` reproduces t2t-bleu's cased figure, with `--lowercase` its uncased one.
"""

from __future__ import annotations

from collections.abc import Sequence

from absl import app, flags

from t2t_phrase.bin import common
from t2t_phrase.config import UserError
from t2t_phrase.evaluation.scores import METRICS, corpus_score
from t2t_phrase.evaluation.significance import paired_bootstrap
from t2t_phrase.evaluation.text_files import read_text

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_string("translation", None, "Translations, one detokenised sentence a line.")
    flags.DEFINE_multi_string("reference", None, "References; repeat the flag for several.")
    flags.DEFINE_list("metrics", ["bleu"], f"Among {', '.join(METRICS)}.")
    flags.DEFINE_string(
        "tokenize", "13a", "sacreBLEU's tokenizer for BLEU; intl reproduces t2t-bleu."
    )
    flags.DEFINE_bool("lowercase", False, "Ignore case; t2t-bleu's uncased figure, with intl.")
    flags.DEFINE_string(
        "baseline", None, "Translations of another system, compared by a paired bootstrap."
    )


def main(argv: Sequence[str]) -> None:
    """Print one line for each metric, and one for each comparison."""
    del argv
    if not FLAGS.translation or not FLAGS.reference:
        raise app.UsageError("--translation and --reference are needed")
    options = {"tokenize": FLAGS.tokenize, "lowercase": FLAGS.lowercase}
    hypotheses = read_text(FLAGS.translation)
    references = [read_same_length(path, len(hypotheses)) for path in FLAGS.reference]
    for metric in FLAGS.metrics:
        print(corpus_score(metric, hypotheses, references, **options), flush=True)
    if FLAGS.baseline:
        baseline = read_same_length(FLAGS.baseline, len(hypotheses))
        print(f"Compared with {FLAGS.baseline}; p: chance of such a difference between equals")
        for comparison in paired_bootstrap(
            hypotheses, baseline, references, metrics=FLAGS.metrics, **options
        ):
            print(comparison)


def read_same_length(path: str, expected: int) -> list[str]:
    """Return a file's lines, as many as the translation has.

    Raises:
        UserError: there are more or fewer; both files are named.
    """
    lines = read_text(path)
    if len(lines) != expected:
        raise UserError(
            f"{FLAGS.translation} has {expected} lines and {path} has {len(lines)}; each line of "
            "one must belong to the same line of the other"
        )
    return lines


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=False)


if __name__ == "__main__":
    run()

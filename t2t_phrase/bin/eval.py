"""t2t-phrase-eval: scores translations by sacreBLEU, with signatures.

    t2t-phrase-eval --translation=out.de --reference=test.de --metrics=bleu,chrf,ter
    t2t-phrase-eval --translation=out.de --reference=test.de --source=test.en --by_length=15,30,45
    t2t-phrase-eval --translation=out.de --facts=data/translate_ende_grammar-test.facts

`--tokenize=intl` reproduces t2t-bleu's cased figure, with `--lowercase` its uncased one.
"""

from __future__ import annotations

from collections.abc import Sequence

from absl import app, flags

from t2t_phrase.bin import common
from t2t_phrase.config import UserError
from t2t_phrase.evaluation import phenomena
from t2t_phrase.evaluation.by_length import BOUNDARIES, bleu_by_length
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
        "baseline", None, "Translations of another system, to compare; p by a paired bootstrap."
    )
    flags.DEFINE_string("source", None, "What was translated: BLEU also by its length.")
    flags.DEFINE_list(
        "by_length",
        None,
        f"Where the lengths part, in words of --source; default: {','.join(map(str, BOUNDARIES))}.",
    )
    flags.DEFINE_string(
        "facts",
        None,
        "The .facts file of the grammar corpus: accuracy on idioms, compounds, particle verbs.",
    )


def main(argv: Sequence[str]) -> None:
    """Print one line for each figure, and one for each comparison."""
    del argv
    if not FLAGS.translation or not (FLAGS.reference or FLAGS.facts):
        raise app.UsageError("--translation and --reference (or --facts) are needed")
    if FLAGS.source and not FLAGS.reference:
        raise app.UsageError("--source: BLEU by length needs --reference")
    if FLAGS.by_length and not FLAGS.source:
        raise app.UsageError("--by_length: the lengths are those of --source, which is needed")
    hypotheses = read_text(FLAGS.translation)
    baseline = read_same_length(FLAGS.baseline, len(hypotheses)) if FLAGS.baseline else None
    if FLAGS.reference:
        score(hypotheses, baseline)
    if FLAGS.facts:
        judge(hypotheses, baseline)


def score(hypotheses: list[str], baseline: list[str] | None) -> None:
    """Print the corpus scores, by length too if asked, and the comparison with the baseline."""
    options = {"tokenize": FLAGS.tokenize, "lowercase": FLAGS.lowercase}
    references = [read_same_length(path, len(hypotheses)) for path in FLAGS.reference]
    for metric in FLAGS.metrics:
        print(corpus_score(metric, hypotheses, references, **options), flush=True)
    if FLAGS.source:
        sources = read_same_length(FLAGS.source, len(hypotheses))
        for system in (hypotheses, *([baseline] if baseline else [])):
            if system is baseline:
                print(f"By length, {FLAGS.baseline}")
            groups = bleu_by_length(system, references, sources, boundaries=boundaries(), **options)
            print(*groups, sep="\n", flush=True)
    if baseline:
        print(f"Compared with {FLAGS.baseline}; p: chance of such a difference between equals")
        for comparison in paired_bootstrap(
            hypotheses, baseline, references, metrics=FLAGS.metrics, **options
        ):
            print(comparison, flush=True)


def boundaries() -> list[int]:
    """Return the numbers of --by_length.

    Raises:
        UserError: some of them is no number.
    """
    try:
        return [int(word) for word in FLAGS.by_length or BOUNDARIES]
    except ValueError:
        given = ",".join(FLAGS.by_length)
        raise UserError(f"--by_length={given}: expected numbers of words, as 15,30,45") from None


def judge(hypotheses: list[str], baseline: list[str] | None) -> None:
    """Print the share of idioms, compounds and particle verbs that are right."""
    facts = phenomena.read_facts(FLAGS.facts)
    judgements = phenomena.judge(hypotheses, facts)
    print(*phenomena.accuracies(judgements), sep="\n")
    if baseline:
        print(f"Compared with {FLAGS.baseline}; p: McNemar's exact test")
        print(*phenomena.compare(judgements, phenomena.judge(baseline, facts)), sep="\n")


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

"""t2t-phrase-contrast: how often a model finds the reference likelier than one with a mistake.

    t2t-phrase-contrast --output_dir=run --data_dir=data
    t2t-phrase-contrast --output_dir=run --data_dir=data --contrastive_file=lingeval97.json

The first takes the wrong twins of the built-in grammar: agreement, particles, case and gender; the
second Sennrich's (2017) LingEval97. Accuracy is printed by kind of mistake, and by the distance of
the words that must agree.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.decoder import Ticker, define_model_flags, load, note
from t2t_phrase.bin.source_phrases import define_trees_flags, source_phrases
from t2t_phrase.evaluation import contrastive
from t2t_phrase.evaluation.text_files import check_writable, write_text

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    define_model_flags()
    flags.DEFINE_string(
        "contrastive_file", None, "LingEval97's JSON; without it, the grammar's wrong twins."
    )
    flags.DEFINE_integer(
        "sentences",
        1000,
        "How many of the grammar's test sentences get twins; of translate_ende_grammar the first "
        "1000 are the test set.",
        lower_bound=1,
    )
    flags.DEFINE_string("json_to_file", None, "Where the counts go as JSON.")
    define_trees_flags()
    flags.DEFINE_integer("batch_size", 4096, "Tokens scored at once.", lower_bound=1)
    flags.DEFINE_bool("xla_compile", None, "Compile by XLA; default: on a GPU.")


def main(argv: Sequence[str]) -> None:
    """Score all translations and print how many decisions were right."""
    del argv
    if not (FLAGS.output_dir or FLAGS.checkpoint_path):
        raise app.UsageError("--output_dir (or the --checkpoint_path of one checkpoint) is needed")
    registry.discover(FLAGS.t2t_usr_dir)
    if FLAGS.json_to_file:
        check_writable(FLAGS.json_to_file)
    trees = None
    if FLAGS.contrastive_file:
        pairs = contrastive.read_lingeval(FLAGS.contrastive_file)
    else:
        pairs, trees = contrastive.grammar_pairs(FLAGS.sentences)
    wanted = contrastive.to_score(pairs)
    found = contrastive.accuracies(
        pairs, dict(zip(wanted, log_probabilities(wanted, trees), strict=True))
    )
    print(contrastive.as_text(found))
    if FLAGS.json_to_file:
        write_text(FLAGS.json_to_file, [json.dumps(contrastive.as_json(found), indent=2)])


def log_probabilities(
    wanted: Sequence[tuple[int, str, str]], trees: Sequence[str] | None
) -> list[float]:
    """Return the log-probability of each (sentence, source, target).

    Args:
        wanted: see `contrastive.to_score`.
        trees: of the sentences by number, where they are known.

    Raises:
        UserError: no such model, or it reads phrases and they are not to be had.
    """
    from t2t_phrase.decoding.scoring import Scorer

    trained, encoder = load()
    phrases = None
    if trained.record.resolved().reads_phrases:
        sources = {sentence: source for sentence, source, _ in wanted}
        phrases = cut_sources(trained.record, sources, trees)
    scorer = Scorer(trained.model, encoder, batch_size=FLAGS.batch_size, xla=FLAGS.xla_compile)
    start = time.monotonic()
    scores = scorer.score(
        [(source, target) for _, source, target in wanted],
        phrases=None if phrases is None else [phrases[sentence] for sentence, _, _ in wanted],
        progress=Ticker("scored", len(wanted)),
    )
    note(f"{len(wanted)} translations scored in {time.monotonic() - start:.1f} s")
    return scores


def cut_sources(
    record: object, sources: dict[int, str], trees: Sequence[str] | None
) -> dict[int, list[str]]:
    """Return the phrases of each source sentence, by its number.

    Raises:
        UserError: they are not to be had, or a tree does not fit its sentence.
    """
    if trees is not None:
        from t2t_phrase.text.subword_phrases import cut_lines

        own = [trees[sentence] for sentence in sources]
        cut = cut_lines(list(sources.values()), own, "the grammar")
    else:
        found = source_phrases(record, list(sources.values()), FLAGS.contrastive_file)
        assert found is not None  # the model reads phrases
        cut = found
    return dict(zip(sources, cut, strict=True))


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

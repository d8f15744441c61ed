"""t2t-phrase-contrast: contrastive evaluation, by comparing references with corrupted copies.

    t2t-phrase-contrast --output_dir=run --data_dir=data
    t2t-phrase-contrast --output_dir=run --data_dir=data --contrastive_file=lingeval97.json

Prints how often the model assigns a higher probability to the reference, by kind of error and by
the distance between the words that must agree. The first command uses the built-in grammar, with
errors in agreement, particles, case and gender; the second uses LingEval97 (Sennrich, 2017).
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.decoder import Ticker, define_model_flags, load, note
from t2t_phrase.bin.source_phrases import define_trees_flags, source_phrases
from t2t_phrase.config import UserError
from t2t_phrase.evaluation import contrastive
from t2t_phrase.evaluation.text_files import check_writable, write_text

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    define_model_flags()
    flags.DEFINE_string(
        "contrastive_file", None, "JSON file of LingEval97; default: the built-in grammar."
    )
    flags.DEFINE_integer(
        "sentences",
        1000,
        "Number of the grammar's test sentences to use; the first 1000 are the test set of "
        "translate_ende_grammar.",
        lower_bound=1,
    )
    flags.DEFINE_string("json_to_file", None, "File for the counts, as JSON.")
    define_trees_flags()
    flags.DEFINE_integer("batch_size", 4096, "Number of tokens scored at once.", lower_bound=1)
    flags.DEFINE_bool("xla_compile", None, "Compile with XLA; default: only on a GPU.")


def main(argv: Sequence[str]) -> None:
    """Score all translations and print the accuracies."""
    del argv
    if not (FLAGS.output_dir or FLAGS.checkpoint_path):
        raise app.UsageError("--output_dir or --checkpoint_path is required")
    registry.discover(FLAGS.t2t_usr_dir)
    if FLAGS.json_to_file:
        check_writable(FLAGS.json_to_file)
    if FLAGS.contrastive_file:
        examined = contrastive.read_lingeval(FLAGS.contrastive_file)
    else:
        examined = contrastive.grammar_pairs(FLAGS.sentences)
    found = contrastive.accuracies(examined.pairs, log_probabilities(examined))
    print(contrastive.as_text(found))
    if FLAGS.json_to_file:
        write_text(FLAGS.json_to_file, [json.dumps(contrastive.as_json(found), indent=2)])


def log_probabilities(
    examined: contrastive.ContrastiveSet,
) -> dict[tuple[int, str, str], float]:
    """Return the log-probability of each (sentence, source, target).

    Raises:
        UserError: the model cannot be loaded, or it reads segments and there are none.
    """
    from t2t_phrase.decoding.scoring import Scorer

    trained, encoder = load()
    wanted = contrastive.to_score(examined.pairs)
    phrases = None
    if trained.record.resolved().reads_phrases:
        phrases = cut_sources(trained.record, examined)
    scorer = Scorer(trained.model, encoder, batch_size=FLAGS.batch_size, xla=FLAGS.xla_compile)
    start = time.monotonic()
    scores = scorer.score(
        [(source, target) for _, source, target in wanted],
        phrases=None if phrases is None else [phrases[sentence] for sentence, _, _ in wanted],
        progress=Ticker("scored", len(wanted)),
    )
    note(f"{len(wanted)} translations scored in {time.monotonic() - start:.1f} s")
    return dict(zip(wanted, scores, strict=True))


def cut_sources(record: Any, examined: contrastive.ContrastiveSet) -> list[list[str]]:
    """Return the segments of each source sentence.

    Raises:
        UserError: there are no trees, or one does not match its sentence.
    """
    if examined.trees is not None:
        from t2t_phrase.text.trees.subword_phrases import cut_lines

        return cut_lines(examined.sources, examined.trees, "the grammar")
    if not (FLAGS.decode_trees_file or FLAGS.parser):
        raise UserError(
            f"models of {record.hparams_set} read segments of parsed sentences: give "
            f"--decode_trees_file with a tree for each entry of {FLAGS.contrastive_file}, or "
            "--parser=stanza or --parser=corenlp to parse them now"
        )
    found = source_phrases(record, examined.sources, None)
    assert found is not None  # the model reads segments
    return found


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

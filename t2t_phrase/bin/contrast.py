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
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.bin.model_flags import define_model_flags, load
from t2t_phrase.bin.source_features import (
    define_feature_flags,
    given_feature_files,
    given_parser,
)
from t2t_phrase.evaluation import contrastive
from t2t_phrase.features import TREES
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.reporting import Ticker, note
from t2t_phrase.io.text_files import write_text
from t2t_phrase.io.text_job import check_paths

if TYPE_CHECKING:
    from t2t_phrase.decoding.sides import FeatureTexts
    from t2t_phrase.features import Feature

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
        upper_bound=100_000,
    )
    flags.DEFINE_string("json_to_file", None, "JSON file for the counts.")
    define_feature_flags()
    flags.DEFINE_integer("batch_size", 4096, "Tokens scored at once.", lower_bound=1)
    flags.DEFINE_bool("xla_compile", None, "Compile with XLA; default: only on a GPU.")


def main(argv: Sequence[str]) -> None:
    """Score all translations and print the accuracies."""
    del argv
    refuse_empty("contrastive_file", "json_to_file")
    if not (FLAGS.output_dir or FLAGS.checkpoint_path):
        raise app.UsageError("--output_dir or --checkpoint_path is required")
    if FLAGS.contrastive_file and FLAGS["sentences"].present:
        raise app.UsageError(
            "--sentences is only used with the built-in grammar; leave it out with "
            "--contrastive_file"
        )
    if not FLAGS.contrastive_file and (FLAGS.feature_files or FLAGS.parser):
        raise app.UsageError(
            "--feature_files and --parser are only used with --contrastive_file; the built-in "
            "grammar has its own trees"
        )
    registry.discover(FLAGS.t2t_usr_dir)
    if FLAGS.json_to_file:
        inputs = [*filter(None, [FLAGS.contrastive_file]), *given_feature_files().values()]
        check_paths(FLAGS.json_to_file, inputs)
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
        UserError: the model cannot be loaded, or the segments that it reads are missing.
    """
    from t2t_phrase.decoding.scoring import Scorer

    trained, vocabularies = load()
    if not FLAGS.contrastive_file:
        check_direction(trained.members[0].record.problem)
    wanted = contrastive.to_score(examined.pairs)
    scorer = Scorer(trained.model, vocabularies, batch_size=FLAGS.batch_size, xla=FLAGS.xla_compile)
    texts = texts_of_sources(scorer.features, examined)
    start = time.monotonic()
    scores = scorer.score(
        [(source, target) for _, source, target in wanted],
        features={
            name: [by_sentence[sentence] for sentence, _, _ in wanted]
            for name, by_sentence in texts.items()
        },
        progress=Ticker("scored", len(wanted)),
    )
    note(f"{counted(len(wanted), 'translation')} scored in {time.monotonic() - start:.1f} s")
    return dict(zip(wanted, scores, strict=True))


def check_direction(name: str) -> None:
    """Check that a model was trained on a problem of the grammar's languages.

    Args:
        name: of the problem; "", or one that is not registered: nothing is known.

    Raises:
        UserError: as for `contrastive.check_languages`.
    """
    from t2t_phrase.data.problem import REVERSED, get_problem

    if name.removesuffix(REVERSED) in registry.problems:
        problem = get_problem(name)
        contrastive.check_languages(problem.source_language, problem.target_language)


def texts_of_sources(
    features: Sequence[Feature], examined: contrastive.ContrastiveSet
) -> FeatureTexts:
    """Return the text of each feature for every source sentence.

    Raises:
        UserError: a feature belongs to the target, a file is missing, or a line does not fit.
    """
    contrastive.check_features(features)
    if examined.trees is not None:
        from t2t_phrase.text.annotations.base import read_annotations

        return {
            feature.name: read_annotations(feature, examined.sources, examined.trees, "the grammar")
            for feature in features
            if feature.stream == TREES
        }
    from t2t_phrase.decoding.feature_files import feature_texts

    return feature_texts(
        features,
        {"source": examined.sources},
        {"source": FLAGS.contrastive_file},
        given_feature_files(),
        given_parser(),
    )


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

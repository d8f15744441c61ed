"""t2t-phrase-compare: trains hparams sets with one recipe and compares their translations.

    t2t-phrase-compare --problem=translate_ende_multi30k --data_dir=data --train_steps=8000 \\
        --hparams_sets=transformer_30k,phrase_interleaved_queryk_1_2_30k --output_dir=runs/compare

The first set is the baseline with which the others are compared, seed by seed. SET:FIELD=VALUE, or
SET:FIELD=VALUE+FIELD=VALUE, is a set with changes of its own, such as transformer_30k:r_drop=3.0.
Each step is one of the commands, printed before it runs. Finished steps are not repeated, so the
same command resumes an interrupted comparison, even with more sets or seeds. The table is printed
and written to table.md and table.json in --output_dir, with --split=dev to table_dev.md and
table_dev.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.backend import check_backend
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.config import HParamsError, UserError, shown, split_at_commas
from t2t_phrase.io.files import expanded

if TYPE_CHECKING:
    from t2t_phrase.comparison.recipe import Recipe
    from t2t_phrase.features import Feature

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_string("problem", None, "Registered name of the problem.")
    flags.DEFINE_string("data_dir", None, "Folder that t2t-phrase-datagen wrote.")
    flags.DEFINE_string("output_dir", None, "Folder for the runs, their translations and tables.")
    flags.DEFINE_string(
        "hparams_sets",
        None,
        "The hparams sets to compare, the baseline first; SET:FIELD=VALUE+FIELD=VALUE changes one.",
    )
    flags.DEFINE_integer(
        "train_steps", None, "Number of updates in each training run.", lower_bound=1
    )
    flags.DEFINE_list("seeds", ["1234"], "Random seeds; several give a mean and a spread.")
    flags.DEFINE_string("hparams", "", "Changes to every set, as for the trainer.")
    flags.DEFINE_integer(
        "num_last_checkpoints", 5, "Number of checkpoints of each run to average.", lower_bound=1
    )
    flags.DEFINE_integer(
        "local_eval_frequency",
        0,
        "Updates between two checkpoints; 0: a twentieth of --train_steps.",
        lower_bound=0,
    )
    flags.DEFINE_string("decode_hparams", "beam_size=5", "Options of decoding.")
    flags.DEFINE_enum(
        "split", "test", ["dev", "test"], "What to translate: dev to choose models, test to report."
    )
    flags.DEFINE_integer(
        "test_sentences", 5000, "Number of sentences, for the grammar.", lower_bound=1
    )
    flags.DEFINE_list(
        "metrics", ["bleu"], "Comma-separated metrics, the main one first: bleu, chrf, chrf++, ter."
    )
    flags.DEFINE_string(
        "tokenize",
        None,
        "sacreBLEU's tokenizer for BLEU; none for text that is tokenised already. Default: the "
        "problem's, usually 13a.",
    )
    flags.DEFINE_bool("lowercase", False, "Ignore case when scoring.")
    flags.DEFINE_list("by_length", [], "Boundaries of source lengths in words, such as 10,15,20.")
    flags.DEFINE_integer("ngrams", 0, "Precision of n-grams up to this order.", lower_bound=0)
    flags.DEFINE_string(
        "contrastive",
        "",
        "Contrastive pairs: `grammar`, or the JSON file of LingEval97.",
    )
    flags.DEFINE_bool("report_only", False, "Train nothing; report what is finished.")
    flags.DEFINE_string(
        "t2t_usr_dir", "", "Folder of a Python package with your own registrations."
    )


def main(argv: Sequence[str]) -> None:
    """Train, translate and report."""
    del argv
    refuse_empty("contrastive")
    for flag in ("problem", "data_dir", "output_dir", "hparams_sets", "train_steps"):
        if not FLAGS[flag].value:
            raise app.UsageError(f"--{flag} is required")
    seeds, boundaries = _numbers("seeds"), _numbers("by_length")
    sets = [name.strip() for name in split_at_commas(FLAGS.hparams_sets)]
    check_backend()
    common.load_tensorflow()
    registry.discover(FLAGS.t2t_usr_dir)
    from t2t_phrase.comparison.recipe import Recipe
    from t2t_phrase.comparison.runs import compare
    from t2t_phrase.comparison.scoring import Scoring
    from t2t_phrase.comparison.steps import StepFailed

    recipe = Recipe(
        problem=FLAGS.problem,
        data_dir=expanded(FLAGS.data_dir),
        work_dir=expanded(FLAGS.output_dir),
        train_steps=FLAGS.train_steps,
        hparams=FLAGS.hparams,
        local_eval_frequency=FLAGS.local_eval_frequency,
        num_last_checkpoints=FLAGS.num_last_checkpoints,
        decode_hparams=FLAGS.decode_hparams,
        test_sentences=FLAGS.test_sentences,
        split=FLAGS.split,
        contrastive=FLAGS.contrastive and str(expanded(FLAGS.contrastive)),
        t2t_usr_dir=FLAGS.t2t_usr_dir,
    )
    tokenize = recipe.loaded_problem().bleu_tokenize if FLAGS.tokenize is None else FLAGS.tokenize
    scoring = Scoring(tuple(FLAGS.metrics), tokenize, FLAGS.lowercase)
    scoring.check()
    check(recipe, sets, boundaries)
    from t2t_phrase.comparison.report import report

    print(f"to translate: {recipe.test.source}, {recipe.test.description}", flush=True)
    found = compare(recipe, sets, seeds, train=not FLAGS.report_only)
    if found.done:
        report(recipe, found.done, sets, boundaries, FLAGS.ngrams, scoring)
    if found.failed:
        # The machine failed only if no command failed for another reason.
        code = min(found.failed.values())
        raise StepFailed(f"failed: {', '.join(found.failed)}; the messages are above", code)
    if not found.done:
        raise UserError("no such run is finished; leave out --report_only to train")


def check(recipe: Recipe, sets: Sequence[str], boundaries: Sequence[int]) -> None:
    """Find mistakes before hours of training.

    Raises:
        UserError: the data are missing, or a set, an option or a number is wrong.
    """
    from t2t_phrase.comparison import variants
    from t2t_phrase.comparison.recipe import GRAMMAR
    from t2t_phrase.data.sources.grammar_problem import GrammarProblem
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.evaluation.by_length import check_boundaries
    from t2t_phrase.evaluation.contrastive import check_languages, read_lingeval
    from t2t_phrase.evaluation.ngram_precision import check_orders
    from t2t_phrase.training_hparams import registered_hparams

    DecodeHParams().override(recipe.decode_hparams)
    recipe.check_checkpoints()
    problem = recipe.loaded_problem()
    if FLAGS["test_sentences"].present and not isinstance(problem, GrammarProblem):
        raise UserError(
            f"--test_sentences: only the grammar has sets of any size; that of {problem.name} is "
            "translated as a whole"
        )
    if recipe.contrastive == GRAMMAR:
        check_languages(problem.source_language, problem.target_language)
    elif recipe.contrastive:
        read_lingeval(recipe.contrastive)
    if boundaries:
        check_boundaries(boundaries)
    if FLAGS.ngrams:
        check_orders(FLAGS.ngrams)
    problem.record_files(str(recipe.data_dir), "train")
    files = [variants.file_name(name) for name in sets]
    for name, file in zip(sets, files, strict=True):
        try:
            hparams_set, overrides = variants.split(name, recipe.hparams)
            hparams = registered_hparams(hparams_set).override(overrides)
        except HParamsError as error:
            raise HParamsError(f"{name}: {error}") from error
        if reason := registry.models[hparams.model].capabilities.cannot_translate:
            raise UserError(f"--hparams_sets: {name} cannot be compared: {reason}")
        if files.count(file) > 1:
            raise UserError(f"--hparams_sets: {shown(name)} is given twice")
        if recipe.contrastive:
            try:
                check_contrastive(recipe.contrastive, hparams.features)
            except UserError as error:
                raise UserError(f"--contrastive: {name}: {error}") from error
        try:
            problem.require_features(str(recipe.data_dir), hparams.training_features)
        except UserError as error:
            raise UserError(f"--hparams_sets: {name}: {error}") from error
    from t2t_phrase.io.files import explain_os_error

    try:
        recipe.work_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, recipe.work_dir) from error


def check_contrastive(pairs: str, features: Sequence[Feature]) -> None:
    """Check that contrastive pairs have all features that a model reads.

    Args:
        pairs: `grammar`, or their file.
        features: of the model.

    Raises:
        UserError: a feature belongs to the target, or has no file beside that of the pairs.
    """
    from t2t_phrase.comparison.recipe import GRAMMAR
    from t2t_phrase.decoding.feature_files import file_beside
    from t2t_phrase.evaluation.contrastive import check_features

    check_features(features)
    for feature in features:
        if pairs != GRAMMAR and not file_beside(pairs, feature):
            raise UserError(
                f"the model reads the source feature {feature.name!r}, so it needs the file "
                f"{pairs}.{feature.stream} with a line for each entry of {pairs}"
            )


def _numbers(flag: str) -> list[int]:
    """Return the numbers of a list flag."""
    texts: list[str] = FLAGS[flag].value or []
    for text in texts:
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            raise UserError(f"--{flag}: {shown(text)} is not a number")
    numbers = [int(text) for text in texts]
    for number in numbers:
        if numbers.count(number) > 1:
            raise UserError(f"--{flag}: {number} is given twice")
    if flag == "seeds" and not numbers:
        raise UserError("--seeds= names no seed; leave it out for the default")
    return numbers


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=False)


if __name__ == "__main__":
    run()

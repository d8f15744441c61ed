"""Input of t2t-phrase-probe: sentences with their trees, labelled and encoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase.bin.source_features import given_feature_files
from t2t_phrase.config import UserError, nearest
from t2t_phrase.features import TREES, of_side
from t2t_phrase.io.files import expanded
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.reporting import Ticker, note

if TYPE_CHECKING:
    from t2t_phrase.probing.probes import Given
    from t2t_phrase.probing.tasks import Task
    from t2t_phrase.training_hparams import TrainingHParams

FLAGS = flags.FLAGS
# The number of sentences that the built-in grammar draws by default.
_GRAMMAR_SENTENCES = 12_000
_GRAMMAR = "the grammar"


def define_input_flags() -> None:
    """Define the flags about sentences."""
    flags.DEFINE_string(
        "trees_file",
        None,
        "Trees in Penn Treebank brackets, one for each sentence; default: test sentences of the "
        "built-in grammar.",
    )
    flags.DEFINE_string(
        "text_file",
        None,
        "The sentences as written; default: FILE if --trees_file is FILE.trees and FILE exists, "
        "else the words of the trees separated by blanks.",
    )
    flags.DEFINE_string(
        "feature_files",
        "",
        "Files with a line for each sentence, for models that read other features than those of "
        "--trees_file: NAME=FILE,NAME=FILE.",
    )
    flags.DEFINE_integer(
        "sentences",
        None,
        "Maximum number of sentences to use; default: all of --trees_file, or "
        f"{_GRAMMAR_SENTENCES} of the grammar.",
        lower_bound=1,
    )


def check_input_flags() -> None:
    """Refuse flags that do not fit together.

    Raises:
        UsageError: flags contradict each other.
    """
    for flag in ("text_file", "feature_files"):
        if FLAGS[flag].value and not FLAGS.trees_file:
            raise app.UsageError(f"--{flag} is only used with --trees_file")


def input_files() -> list[str]:
    """Return the names of all files that are read.

    Raises:
        UserError: --feature_files is malformed.
    """
    given = [FLAGS.trees_file, text_file(), *given_feature_files().values()]
    return [path for path in given if path]


def text_file() -> str | None:
    """Return the file of the sentences, if there is one."""
    if FLAGS.text_file or not FLAGS.trees_file:
        return FLAGS.text_file
    path = expanded(FLAGS.trees_file.removesuffix(".gz"))
    beside = path.with_suffix("")
    return str(beside) if path.suffix == f".{TREES}" and beside.is_file() else None


def read_input(tasks: Sequence[Task]) -> Given:
    """Return the sentences that the flags name, labelled for tasks.

    Raises:
        UserError: a file cannot be read, a line does not fit, or a task has no labels.
    """
    from t2t_phrase.io.text_files import read_text
    from t2t_phrase.probing.classes import task_data
    from t2t_phrase.probing.corpus import make_corpus
    from t2t_phrase.probing.probes import Given

    name, most = FLAGS.trees_file or _GRAMMAR, FLAGS.sentences
    if not FLAGS.trees_file:
        corpus = make_corpus(_grammar(most or _GRAMMAR_SENTENCES), tasks, name=name)
        files: dict[str, Sequence[str]] = {}
    else:
        trees = read_text(FLAGS.trees_file)
        if not trees:
            raise UserError(f"{FLAGS.trees_file} is empty: there is nothing to probe")
        files = {}
        for feature, path in given_feature_files().items():
            files[feature] = read_text(path)
            _check_count(path, files[feature], trees)
        corpus = make_corpus(_pairs(trees), tasks, name=name, most=most)
    note(corpus.describe())
    labelled = [task_data(task, corpus, tss_classes=FLAGS.tss_classes) for task in tasks]
    for data in labelled:
        note(data.describe())
    return Given(name, corpus, labelled, files)


def check_features(encoders: Iterable[TrainingHParams]) -> None:
    """Check that all features that do not come from trees have files, and that all files are read.

    Args:
        encoders: the hparams of all encoders that are probed.

    Raises:
        UserError: a feature has no file, or no encoder reads it.
    """
    given = given_feature_files()
    features = {f.name: f for hparams in encoders for f in of_side(hparams.features, "source")}
    names = list(features)
    for feature in features.values():
        if feature.stream != TREES and feature.name not in given:
            raise UserError(
                f"an encoder reads the feature {feature.name!r}, which trees do not contain: give "
                f"a line for each sentence with --feature_files={feature.name}=FILE"
            )
    for name in given:
        if name not in names:
            raise UserError(
                f"--feature_files={name}=...: no encoder reads such a feature"
                f"{nearest(name, names)} (features that they read: {', '.join(names) or 'none'})"
            )


def check_language(problems: Iterable[str | None]) -> None:
    """Check that the built-in grammar's sentences are in the language that the encoders read.

    Args:
        problems: of the runs and --problem; None, "", or one that is not registered: nothing is
            known.

    Raises:
        UserError: they read German.
    """
    from t2t_phrase import registry
    from t2t_phrase.data.problem import REVERSED, get_problem

    for name in problems:
        if FLAGS.trees_file or not name or name.removesuffix(REVERSED) not in registry.problems:
            continue
        problem = get_problem(name)
        if problem.source_language == "de":
            raise UserError(
                f"the grammar's sentences are English, but encoders of {name} read "
                f"{problem.source_language}; give sentences and their trees with --trees_file"
            )


def _grammar(size: int) -> Iterator[tuple[str, str]]:
    """Yield (tree, sentence) of the grammar's test split, which no training has seen."""
    from t2t_phrase import grammar

    ticker = Ticker("drawn", size)
    for number, pair in enumerate(grammar.generate("test", size), start=1):
        yield pair.tree, pair.source
        ticker(number)


def _pairs(trees: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    from t2t_phrase.io.text_files import read_text

    path = text_file()
    if path is None:
        note(f"the sentences are the words of {FLAGS.trees_file} separated by blanks")
        return ((tree, None) for tree in trees)
    note(f"the sentences are those of {path}")
    texts = read_text(path)
    _check_count(path, texts, trees)
    return iter(zip(trees, texts, strict=True))


def _check_count(path: str, lines: Sequence[str], trees: Sequence[str]) -> None:
    if len(lines) != len(trees):
        raise UserError(
            f"{path} has {counted(len(lines), 'line')} for the {counted(len(trees), 'tree')} of "
            f"{FLAGS.trees_file}"
        )

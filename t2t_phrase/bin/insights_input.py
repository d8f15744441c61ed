"""Input of t2t-phrase-insights: sentence pairs, and the features of a sentence to draw."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import flags

from t2t_phrase.bin.folder_files import read_files_of
from t2t_phrase.bin.source_features import given_feature_files, given_parser
from t2t_phrase.config import UserError, clipped, nearest
from t2t_phrase.features import ALIGN, OTHER, TREES
from t2t_phrase.io.files import expanded
from t2t_phrase.io.line_counts import check_one_to_one
from t2t_phrase.io.reporting import note
from t2t_phrase.io.text_job import check_paths

if TYPE_CHECKING:
    from t2t_phrase.decoding.sides import FeatureTexts
    from t2t_phrase.features import Feature
    from t2t_phrase.runs.load_model import TrainedModel

FLAGS = flags.FLAGS


def texts_of_features(features: Sequence[Feature]) -> FeatureTexts:
    """Return the text of each feature of the sentences to draw.

    Raises:
        UserError: a feature is missing, malformed, does not fit, or is not read by the model.
    """
    from t2t_phrase.decoding.feature_files import TreeParser, check_parser
    from t2t_phrase.text.annotations.base import annotation_of

    given = given_features()
    check_parser(given_parser(), features)
    names = [feature.name for feature in features]
    for name in given:
        if name not in names:
            known = ", ".join(names) or "none"
            raise UserError(
                f"--feature={name}=...: the model reads no such feature{nearest(name, names)} "
                f"(features that it reads: {known})"
            )
    texts, parsed = {}, []
    sides = {"source": FLAGS.source, "target": FLAGS.target}
    for feature in features:
        sentence, other = sides[feature.side], sides[OTHER[feature.side]]
        if sentence is None:
            raise UserError(f"the model reads the target feature {feature.name!r}: give --target")
        if feature.name in given:
            try:
                text = annotation_of(feature).read(sentence, given[feature.name], other)
            except UserError as error:
                raise UserError(f"--feature={feature.name}: {error}") from error
            texts[feature.name] = [text]
        elif feature.stream == TREES and FLAGS.parser:
            parsed.append(feature)
        else:
            others = {
                TREES: ", or --parser=stanza or --parser=corenlp",
                ALIGN: ", or, with --html, --alignment_model_dir",
            }
            raise UserError(
                f"the model reads the feature {feature.name!r}: give "
                f"--feature='{feature.name}=LINE'{others.get(feature.stream, '')}"
            )
    if parsed:
        sentences = {side: [text] for side, text in sides.items()}
        made = TreeParser(given_parser()).texts(parsed, sentences, lambda row, text: note(text))
        texts.update(made)
    elif FLAGS.parser:
        trees = next(feature.name for feature in features if feature.stream == TREES)
        note(f"--parser={FLAGS.parser}: not used, since --feature={trees}=... gives the trees")
    return texts


def feature_texts_of_files(
    features: Sequence[Feature], sources: Sequence[str], references: Sequence[str] | None
) -> FeatureTexts:
    """Return the text of each feature of the sentences of --insights_from_file.

    Args:
        features: the features that are needed.
        sources: the sentences.
        references: the lines of --references_file; None: there are none.

    Raises:
        UserError: a file is missing, does not fit the sentences or would be overwritten, or a
            feature is given that no model reads.
    """
    from t2t_phrase.decoding.feature_files import feature_texts

    check_outputs(features)
    sentences = (
        {"source": sources} if references is None else {"source": sources, "target": references}
    )
    files = {"source": FLAGS.insights_from_file, "target": FLAGS.references_file}
    return feature_texts(features, sentences, files, given_feature_files(), given_parser())


def check_outputs(features: Sequence[Feature] = ()) -> None:
    """Refuse outputs that are inputs or files of a run, or that cannot be written.

    Args:
        features: the features that are read from files beside the sentences.

    Raises:
        UserError: an output is an input, a file of a run or of its data or another output, or
            cannot be written, or --feature_files is malformed.
    """
    from t2t_phrase.decoding.feature_files import file_beside

    files = {"source": FLAGS.insights_from_file, "target": FLAGS.references_file}
    inputs = [*files.values(), *given_feature_files().values()]
    inputs += [file_beside(files[feature.side], feature) for feature in features]
    for flag in ("output_dir", "compare_output_dir", "alignment_model_dir", "data_dir"):
        inputs += read_files_of(*filter(None, (FLAGS[flag].value or "").split(",")))
    taken: dict[pathlib.Path, str] = {}
    for flag in ("stats_file", "html", "weights_file"):
        if output := FLAGS[flag].value:
            check_paths(output, filter(None, inputs))
            path = expanded(output).resolve()
            if path in taken:
                raise UserError(f"--{taken[path]} and --{flag} name the same file; name two")
            taken[path] = flag


def given_features() -> dict[str, str]:
    """Return the lines of --feature by name.

    Raises:
        UserError: a flag is not NAME=LINE, or a name is given twice.
    """
    given: dict[str, str] = {}
    for option in FLAGS.feature:
        name, equals, line = option.partition("=")
        if not (name and equals):
            raise UserError(f"--feature={clipped(option)}: expected NAME=LINE")
        if name in given:
            raise UserError(f"--feature={clipped(name)}=...: given twice")
        given[name] = line
    return given


def read_files() -> list[tuple[str, str]]:
    """Return the sentence pairs of --insights_from_file and --references_file.

    Raises:
        UserError: a file cannot be read, or the files have different numbers of lines.
    """
    from t2t_phrase.io.text_files import read_text

    sources, references = read_text(FLAGS.insights_from_file), read_text(FLAGS.references_file)
    check_one_to_one(FLAGS.insights_from_file, len(sources), FLAGS.references_file, len(references))
    if not sources:
        raise UserError(f"{FLAGS.insights_from_file} is empty: there is nothing to look at")
    return list(zip(sources, references, strict=True))


def read_dev_set(trained: TrainedModel) -> tuple[list[tuple[str, str]], FeatureTexts]:
    """Return the pairs of the problem's development set, and the features that the model reads.

    Raises:
        UserError: the set does not exist, or has no such features.
    """
    from t2t_phrase.runs.problem import problem_of

    name = trained.record.problem or FLAGS.problem
    if not name or not FLAGS.data_dir:
        raise UserError(
            "the development set requires --problem and --data_dir: give both, or "
            "--insights_from_file and --references_file"
        )
    problem, features = problem_of(trained.record, name), trained.model.hparams.features
    texts = problem.raw_features(FLAGS.data_dir, "dev", features) if features else {}
    return list(zip(*problem.raw_text(FLAGS.data_dir, "dev"), strict=True)), texts

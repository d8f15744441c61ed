"""Features of source sentences, read from files next to the text or from a parser."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from absl import flags

from t2t_phrase.config import UserError, nearest, parse_assignments
from t2t_phrase.features import OTHER, TREES

if TYPE_CHECKING:
    from t2t_phrase.decoding.sides import FeatureTexts
    from t2t_phrase.features import Feature
    from t2t_phrase.io.line_windows import Window

FLAGS = flags.FLAGS


def define_feature_flags() -> None:
    """Define the flags by which a command is given features or told to make them."""
    flags.DEFINE_string(
        "feature_files",
        "",
        "Files with a line for each sentence, for a model that reads features in addition to the "
        "text: NAME=FILE,NAME=FILE. Default: FILE.STREAM next to the text, such as test.en.trees.",
    )
    define_parser_flags()


def define_parser_flags() -> None:
    """Define the flags that choose a parser."""
    flags.DEFINE_enum(
        "parser", None, ("stanza", "corenlp"), "An installed parser, for models that read trees."
    )
    flags.DEFINE_string("language", "en", "The language whose models Stanza loads.")
    flags.DEFINE_string("corenlp_url", "http://localhost:9000", "Address of the CoreNLP server.")


def given_feature_files() -> dict[str, str]:
    """Return the files of --feature_files by feature.

    Raises:
        UserError: the flag is malformed.
    """
    return parse_assignments(FLAGS.feature_files)


def feature_texts(
    features: Sequence[Feature], sentences: dict[str, Sequence[str]], files: dict[str, str | None]
) -> FeatureTexts:
    """Return the text of each feature, one string for each sentence.

    Args:
        features: those that the model reads here.
        sentences: of the sides "source" and, where targets are known, "target".
        files: the files that the sentences of a side are from, if they are from files.

    Raises:
        UserError: a file is missing or does not fit the sentences, or a feature is given that the
            model does not read.
    """
    from t2t_phrase.io.line_windows import Window
    from t2t_phrase.io.text_files import read_text

    reader = FeatureReader(features, files)
    beside = {path: read_text(path) for path in reader.files}
    return reader.texts(Window(0, [], beside), sentences)


class FeatureReader:
    """Gives the text of each feature, window by window.

    Args:
        features: those that the model reads here.
        files: the files that the sentences of a side are from, if they are from files.

    Attributes:
        files: the files of the features.

    Raises:
        UserError: a file or a parser is missing, or a feature is given that the model does not
            read.
    """

    def __init__(self, features: Sequence[Feature], files: Mapping[str, str | None]) -> None:
        given = given_feature_files()
        names = [feature.name for feature in features]
        for name in given:
            if name not in names:
                raise UserError(
                    f"--feature_files={name}=...: the model reads no such feature"
                    f"{nearest(name, names)} "
                    f"(features that it reads: {', '.join(names) or 'none'})"
                )
        self._features = features
        self._files: dict[str, str] = {}
        self._parsers: dict[str, Callable[[Sequence[str]], list[str]]] = {}
        for feature in features:
            text = files.get(feature.side)
            path = given.get(feature.name) or file_beside(text, feature)
            if path:
                self._files[feature.name] = path
            elif feature.stream == TREES and FLAGS.parser:
                self._parsers[feature.name] = parsed(feature)
            else:
                raise UserError(_missing(feature, text))
        self.files = list(dict.fromkeys(self._files.values()))

    def texts(self, window: Window, sentences: Mapping[str, Sequence[str]]) -> FeatureTexts:
        """Return the text of each feature, one string for each sentence.

        Args:
            window: has the lines of `files` beside it.
            sentences: of the window, for each side of a feature.

        Raises:
            UserError: a line does not fit its sentence.
        """
        from t2t_phrase.text.annotations.base import read_annotations

        texts = {}
        for feature in self._features:
            own, path = sentences[feature.side], self._files.get(feature.name)
            if path is None:
                texts[feature.name] = self._parsers[feature.name](own)
            else:
                lines = window.beside[path]
                texts[feature.name] = read_annotations(
                    feature,
                    own,
                    lines,
                    path,
                    first=window.first,
                    others=sentences.get(OTHER[feature.side]),
                )
        return texts


def parsed(feature: Feature) -> Callable[[Sequence[str]], list[str]]:
    """Return a function that makes the text of a feature by parsing sentences with --parser.

    Raises:
        UserError: the parser is not installed.
    """
    from t2t_phrase.text.annotations.base import annotation_of
    from t2t_phrase.text.trees.parsers import open_parser, parse_lines

    parser = open_parser(FLAGS.parser, language=FLAGS.language, corenlp_url=FLAGS.corenlp_url)
    annotation = annotation_of(feature)

    def make(sentences: Sequence[str]) -> list[str]:
        trees = (tree for tree, _ in parse_lines(parser, sentences))
        return [annotation.read(*pair) for pair in zip(sentences, trees, strict=True)]

    return make


def annotator(features: Sequence[Feature]) -> Callable[[Sequence[str]], FeatureTexts] | None:
    """Return a function that makes the features of typed sentences; None if there are none.

    Raises:
        UserError: a feature cannot be made from the sentence alone.
    """
    if not features:
        return None
    for feature in features:
        if feature.stream != TREES:
            raise UserError(
                f"the model reads the feature {feature.name!r}, which typed sentences do not have; "
                "use --decode_from_file"
            )
        if not FLAGS.parser:
            raise UserError(
                f"the model reads the feature {feature.name!r}, made from trees: to translate what "
                "is typed, give --parser=stanza or --parser=corenlp"
            )
    makers: dict[str, Any] = {feature.name: parsed(feature) for feature in features}
    return lambda sentences: {name: make(sentences) for name, make in makers.items()}


def file_beside(text_file: str | None, feature: Feature) -> str | None:
    """Return the file of a feature that belongs to a text file, if there is one.

    It is called `FILE.STREAM`; the text that t2t-phrase-datagen keeps, `NAME-test.en`, has its
    trees in `NAME-test.trees`, see `Feature.side_stream`.
    """
    if not text_file:
        return None
    path = pathlib.Path(text_file.removesuffix(".gz")).expanduser()
    beside = path.with_name(f"{path.name}.{feature.stream}")
    for candidate in (beside, path.with_suffix(f".{feature.side_stream}")):
        if candidate.is_file():
            return str(candidate)
    return None


def _missing(feature: Feature, text_file: str | None) -> str:
    where = f"{text_file}.{feature.stream}" if text_file else "a file"
    sentence = (
        f"the model reads the {feature.side} feature {feature.name!r}, and there is no file of it: "
        f"make {where}, or give --feature_files={feature.name}=FILE"
    )
    if feature.stream == TREES:
        made = f" (t2t-phrase-parse --input_file={text_file} makes it)" if text_file else ""
        sentence += f"{made}, or let --parser=stanza or --parser=corenlp parse now"
    return sentence

"""Features of sentences, read from files next to the text or made by a parser."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from t2t_phrase.config import UserError, nearest
from t2t_phrase.features import OTHER, TREES
from t2t_phrase.io.files import expanded
from t2t_phrase.io.reporting import note
from t2t_phrase.text.trees.flat_tree_notes import FlatTreeNotes

if TYPE_CHECKING:
    from t2t_phrase.decoding.sides import FeatureTexts
    from t2t_phrase.features import Feature
    from t2t_phrase.io.line_windows import Window


@dataclasses.dataclass(frozen=True)
class ParserChoice:
    """A parser that makes trees of sentences.

    Attributes:
        name: "stanza" or "corenlp"; "": none.
        language: the language whose models Stanza loads.
        corenlp_url: address of the CoreNLP server.
    """

    name: str = ""
    language: str = "en"
    corenlp_url: str = "http://localhost:9000"

    @property
    def settings(self) -> dict[str, str]:
        """Settings that identify the parser, for a journal."""
        return {"parser": self.name, "language": self.language} if self.name else {}


NO_PARSER = ParserChoice()


def feature_texts(
    features: Sequence[Feature],
    sentences: Mapping[str, Sequence[str]],
    files: Mapping[str, str | None],
    given: Mapping[str, str],
    parser: ParserChoice = NO_PARSER,
) -> FeatureTexts:
    """Return the text of each feature, one string for each sentence.

    Args:
        features: those that the model reads here.
        sentences: of the sides "source" and, where targets are known, "target".
        files: the file from which the sentences of each side come, if any.
        given: the files of features that are not next to the text, by the feature's name.
        parser: makes the trees that are in no file.

    Raises:
        UserError: a file is missing or does not fit the sentences, or a feature is given that the
            model does not read.
    """
    from t2t_phrase.io.line_windows import Window
    from t2t_phrase.io.text_files import read_text

    reader = FeatureReader(features, files, given, parser)
    beside = {path: read_text(path) for path in reader.files}
    return reader.texts(Window(0, [], beside), sentences)


class FeatureReader:
    """Provides the text of each feature, window by window.

    Args:
        features: those that the model reads here.
        files: the file from which the sentences of each side come, if any.
        given: the files of features that are not next to the text, by the feature's name.
        parser: makes the trees that are in no file.

    Attributes:
        files: the files of the features.

    Raises:
        UserError: a file or a parser is missing, or a feature or a parser is given that the model
            does not need.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        files: Mapping[str, str | None],
        given: Mapping[str, str],
        parser: ParserChoice = NO_PARSER,
    ) -> None:
        check_parser(parser, features)
        names = [feature.name for feature in features]
        for name in given:
            if name not in names:
                raise UserError(
                    f"--feature_files={name}=...: the model reads no such feature"
                    f"{nearest(name, names)} "
                    f"(features that it reads: {', '.join(names) or 'none'})"
                )
        self._files: dict[Feature, str] = {}
        self._parsed: list[Feature] = []
        for feature in features:
            text = files.get(feature.side)
            path = given.get(feature.name) or file_beside(text, feature)
            if path:
                self._files[feature] = path
            elif feature.stream == TREES and parser.name:
                self._parsed.append(feature)
            else:
                raise UserError(_missing(feature, text))
        self.files = list(dict.fromkeys(self._files.values()))
        if parser.name and not self._parsed:
            trees = (path for feature, path in self._files.items() if feature.stream == TREES)
            note(f"--parser={parser.name}: not used, since trees are read from {next(trees)}")
        self._parser = TreeParser(parser) if self._parsed else None
        self._report = FlatTreeNotes()

    def texts(
        self,
        window: Window,
        sentences: Mapping[str, Sequence[str]],
        done: Collection[int] = (),
    ) -> FeatureTexts:
        """Return the text of each feature, one string for each sentence.

        Args:
            window: with the lines of `files` beside it.
            sentences: of the window, for each side that has features.
            done: numbers, from 0, of sentences that need not be parsed; they get flat trees.

        Raises:
            UserError: a line does not fit its sentence, or the parser cannot be reached.
        """
        from t2t_phrase.text.annotations.base import read_annotations

        def report(row: int, text: str) -> None:
            self._report(f"sentence {window.first + row + 1}: {text}")

        texts = {}
        if self._parser is not None:
            texts = self._parser.texts(self._parsed, sentences, report, done)
        for feature, path in self._files.items():
            texts[feature.name] = read_annotations(
                feature,
                sentences[feature.side],
                window.beside[path],
                path,
                first=window.first,
                others=sentences.get(OTHER[feature.side]),
            )
        return texts


class TreeParser:
    """A parser that is loaded once, and whose trees serve all features.

    Args:
        choice: the parser.

    Raises:
        UserError: the parser is not installed.
    """

    def __init__(self, choice: ParserChoice) -> None:
        from t2t_phrase.text.trees.parsers import open_parser

        self._parser = open_parser(
            choice.name, language=choice.language, corenlp_url=choice.corenlp_url
        )

    def texts(
        self,
        features: Sequence[Feature],
        sentences: Mapping[str, Sequence[str]],
        report: Callable[[int, str], object],
        done: Collection[int] = (),
    ) -> dict[str, list[str]]:
        """Return the text of each feature, one string for each sentence.

        Args:
            features: all of them made from trees.
            sentences: of each side that has features.
            report: called with the number of a sentence, from 0, whose tree does not fit, and a
                message.
            done: numbers of sentences that need not be parsed; they get flat trees.

        Raises:
            UserError: the parser cannot be reached.
        """
        from t2t_phrase.text.annotations.base import read_annotations

        trees = {
            side: self._trees(sentences[side], report, done)
            for side in dict.fromkeys(feature.side for feature in features)
        }
        return {
            feature.name: read_annotations(
                feature, sentences[feature.side], trees[feature.side], "the parser"
            )
            for feature in features
        }

    def _trees(
        self,
        sentences: Sequence[str],
        report: Callable[[int, str], object],
        done: Collection[int],
    ) -> list[str]:
        from t2t_phrase.text.trees.parsers import flat_tree, parse_lines

        trees = [flat_tree(sentence) if sentence.split() else "" for sentence in sentences]
        left = [row for row in range(len(sentences)) if row not in done]
        found = parse_lines(self._parser, [sentences[row] for row in left])
        for row, (tree, fault) in zip(left, found, strict=True):
            trees[row] = tree
            if fault:
                report(row, f"{fault}; a flat tree is used instead")
        return trees


def annotator(
    features: Sequence[Feature], parser: ParserChoice
) -> Callable[[Sequence[str]], FeatureTexts] | None:
    """Return a function that makes the features of typed sentences; None if there are no features.

    Raises:
        UserError: a feature cannot be made from the sentence alone, or no feature needs the parser.
    """
    check_parser(parser, features)
    if not features:
        return None
    for feature in features:
        if feature.stream != TREES:
            raise UserError(
                f"the model reads the feature {feature.name!r}, which typed sentences do not have; "
                "use --decode_from_file"
            )
        if not parser.name:
            raise UserError(
                f"the model reads the feature {feature.name!r}, made from trees: to translate what "
                "is typed, give --parser=stanza or --parser=corenlp"
            )
    trees = TreeParser(parser)
    return lambda sentences: trees.texts(
        features, {"source": sentences}, lambda row, text: note(text)
    )


def file_beside(text_file: str | None, feature: Feature) -> str | None:
    """Return the file of a feature that belongs to a text file, if there is one.

    It is named `FILE.STREAM`; the trees of a text `NAME-test.en` that t2t-phrase-datagen keeps are
    in `NAME-test.trees`, see `Feature.side_stream`.
    """
    if not text_file:
        return None
    path = expanded(text_file.removesuffix(".gz"))
    beside = path.with_name(f"{path.name}.{feature.stream}")
    for candidate in (beside, path.with_suffix(f".{feature.side_stream}")):
        if candidate.is_file():
            return str(candidate)
    return None


def check_parser(parser: ParserChoice, features: Sequence[Feature]) -> None:
    """Refuse a parser for a model that reads no trees.

    Raises:
        UserError: a parser is chosen, but no feature is made from trees.
    """
    if parser.name and not any(feature.stream == TREES for feature in features):
        raise UserError(f"--parser={parser.name}: the model reads no trees; leave the flag out")


def _missing(feature: Feature, text_file: str | None) -> str:
    where = f"{text_file}.{feature.stream}" if text_file else "a file"
    sentence = (
        f"the model reads the {feature.side} feature {feature.name!r}, but it has no file: create "
        f"{where}, or give --feature_files={feature.name}=FILE"
    )
    if feature.stream == TREES:
        sentence += (
            " (t2t-phrase-parse makes trees of a text with one sentence per line), or let "
            "--parser=stanza or --parser=corenlp parse the text now"
        )
    return sentence

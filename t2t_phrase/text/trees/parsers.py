"""Installed constituency parsers by name, and trees for every line of a text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from t2t_phrase.config import UserError
from t2t_phrase.text.trees.cut_by_tree import cut_by_tree
from t2t_phrase.text.trees.parser import Parser
from t2t_phrase.text.trees.trees import TreeError, escaped

PARSERS = ("stanza", "corenlp")
CORENLP_URL = "http://localhost:9000"
# Number of sentences parsed at once.
BATCH = 64


def open_parser(name: str, *, language: str = "en", corenlp_url: str = CORENLP_URL) -> Parser:
    """Load a parser.

    Args:
        name: one of PARSERS.
        language: language of Stanza's models. A CoreNLP server is started for one language.
        corenlp_url: address of the CoreNLP server.

    Raises:
        UserError: the package, its models or the server are missing; nothing is downloaded.
    """
    if name == "stanza":
        from t2t_phrase.text.trees.stanza_parser import StanzaParser

        return StanzaParser(language)
    if name == "corenlp":
        from t2t_phrase.text.trees.corenlp_parser import CoreNLPParser

        return CoreNLPParser(corenlp_url)
    raise UserError(f"parser {name!r} is unknown; expected one of {', '.join(PARSERS)}")


def parse_lines(parser: Parser, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (tree, fault) for each line; the tree always spells the line.

    A line without words has an empty tree. If the parser fails, or its tree does not spell the
    line, a flat tree is returned instead, and `fault` gives the reason; otherwise it is empty.

    Raises:
        UserError: as for `Parser.parse`.
    """
    stream = iter(lines)
    while batch := list(itertools.islice(stream, BATCH)):
        sentences = [" ".join(line.split()) for line in batch]
        found = iter(parser.parse([sentence for sentence in sentences if sentence]))
        for sentence in sentences:
            yield _checked(sentence, next(found)) if sentence else ("", "")


def flat_tree(sentence: str) -> str:
    """Return a tree in which all words, separated by whitespace, are siblings."""
    return f"(ROOT {' '.join(f'(X {escaped(word)})' for word in sentence.split())})"


def _checked(sentence: str, tree: str | TreeError) -> tuple[str, str]:
    try:
        if isinstance(tree, TreeError):
            raise tree
        cut_by_tree(sentence, tree)
    except TreeError as error:
        return flat_tree(sentence), str(error)
    return tree, ""

"""Constituency parsers that are installed, by name, and trees for every line of a text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from t2t_phrase.config import UserError
from t2t_phrase.text.trees.parser import Parser
from t2t_phrase.text.trees.subword_phrases import cut_by_tree
from t2t_phrase.text.trees.trees import TreeError, escaped

PARSERS = ("stanza", "corenlp")
CORENLP_URL = "http://localhost:9000"
# Sentences given to a parser at once.
BATCH = 64


def open_parser(name: str, *, language: str = "en", corenlp_url: str = CORENLP_URL) -> Parser:
    """Load a parser.

    Args:
        name: one of PARSERS.
        language: whose models Stanza loads. A CoreNLP server has been started for one language.
        corenlp_url: where the CoreNLP server listens.

    Raises:
        UserError: the package, its models or the server are not there; nothing is downloaded.
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

    A line without words has an empty tree. Where the parser's tree does not spell the line, the
    tree is flat, and the fault says what was wrong; else the fault is empty.

    Raises:
        UserError: as `Parser.parse`.
    """
    stream = iter(lines)
    while batch := list(itertools.islice(stream, BATCH)):
        sentences = [" ".join(line.split()) for line in batch]
        found = iter(parser.parse([sentence for sentence in sentences if sentence]))
        for sentence in sentences:
            yield _checked(sentence, next(found)) if sentence else ("", "")


def flat_tree(sentence: str) -> str:
    """Return a tree in which all words, as blanks part them, are sisters."""
    return f"(ROOT {' '.join(f'(X {escaped(word)})' for word in sentence.split())})"


def _checked(sentence: str, tree: str) -> tuple[str, str]:
    try:
        cut_by_tree(sentence, tree)
    except TreeError as error:
        return flat_tree(sentence), str(error)
    return tree, ""

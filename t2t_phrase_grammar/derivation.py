"""The parts of a derivation: linked English leaves, linked German tokens, and a context.

Every English leaf and every German token has links, which are small integers. A leaf and a token
are aligned if they share a link. A verb and its separated particle share a link, and so do the
words of an idiom.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from t2t_phrase_grammar.lexicon import Lexicon

# (tag, word, link) or (label, [children]).
Tree = tuple[Any, ...]


class Token(NamedTuple):
    """A German token; `note` records how it was inflected, for `wrong_twins`."""

    form: str
    links: tuple[int, ...]
    note: tuple[Any, ...] | None = None


class Context:
    """The random choices, links and facts of one sentence."""

    def __init__(self, rng: random.Random, lexicon: Lexicon) -> None:
        self.rng = rng
        self.lexicon = lexicon
        self._links = 0
        self.phenomena: list[tuple[str, str, int]] = []
        self.constructions: list[str] = []
        self.clauses: list[str] = []

    def link(self) -> int:
        """Return a new link."""
        self._links += 1
        return self._links

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.rng.random() < probability

    def phenomenon(self, kind: str, citation: str, link: int) -> None:
        """Record an idiom, a compound or a particle verb, and the link of its words."""
        self.phenomena.append((kind, citation, link))

    def fact(self, construction: str) -> None:
        """Record a construction once."""
        if construction not in self.constructions:
            self.constructions.append(construction)


def leaves(tree: Tree) -> Iterator[Tree]:
    """Yield the leaves (tag, word, link) from left to right."""
    if isinstance(tree[1], str):
        yield tree
    else:
        for child in tree[1]:
            yield from leaves(child)


def bracketed(tree: Tree, words: Iterator[str]) -> str:
    """Write the tree in Penn Treebank brackets, with the words of the leaves from `words`."""
    if isinstance(tree[1], str):
        return f"({tree[0]} {next(words)})"
    return f"({tree[0]} {' '.join([bracketed(child, words) for child in tree[1]])})"


def fixed(words: Iterable[str], link: int) -> list[Token]:
    """Return uninflected German tokens that share a link."""
    return [Token(word, (link,)) for word in words]


COMMA = ","


def comma(link: int) -> Token:
    """Return a comma, linked to the word that requires it."""
    return Token(COMMA, (link,))


def tidy(tokens: list[Token]) -> list[Token]:
    """Drop commas before other punctuation and at the beginning."""
    kept: list[Token] = []
    for token in tokens:
        if token.form in (",", ".", "?", "!") and kept and kept[-1].form == COMMA:
            kept.pop()
        kept.append(token)
    return kept

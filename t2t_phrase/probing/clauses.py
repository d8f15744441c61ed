"""The main clause of a sentence and the verbs of its verb phrase."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from t2t_phrase.probing.treebank import Parse, is_tag
from t2t_phrase.text.trees.constituents import Constituent

CLAUSES = frozenset({"S", "SINV", "SQ", "SBARQ"})
_MODAL = "MD"
_FINITE = frozenset({"VBD", "VBZ", "VBP", _MODAL})


class Verb(NamedTuple):
    """A verb, auxiliaries and modals included.

    Attributes:
        tag: its part of speech.
        word: the verb in lower case.
        has_object: whether a noun phrase follows the verb as a sibling.
    """

    tag: str
    word: str
    has_object: bool

    @property
    def finite(self) -> bool:
        """Whether the verb has a tense."""
        return self.tag in _FINITE


def main_verbs(parse: Parse) -> list[Verb]:
    """Return the verbs of the main verb phrase, from the outermost to the innermost.

    "She has been seen" has three. A verb phrase below another clause, as in "(has) to be seen",
    does not belong to it. Of coordinated clauses and verb phrases, the first counts.

    The main clause is the highest S, SINV, SQ or SBARQ with a verb or a verb phrase as its child;
    below a clause without one, it is the first clause with a finite verb, or else with any verb.

    Returns:
        An empty list for a sentence without a main clause, such as a fragment.
    """
    if parse.top.label not in CLAUSES:
        return []
    # Breadth first, so that an outer clause counts before an inner one.
    level, fallback = [parse.top], list[Verb]()
    while level:
        below = []
        for clause in level:
            found = list(_verbs(clause, parse.words))
            if any(verb.finite for verb in found[:1]):
                return found
            fallback = fallback or found
            if not found:
                below += [node for node in clause.children if node.label in CLAUSES]
        level = below
    return fallback


def _verbs(clause: Constituent, words: tuple[str, ...]) -> Iterator[Verb]:
    node: Constituent | None = clause
    while node is not None:
        children = node.children
        place = next((i for i, child in enumerate(children) if _is_verb(child)), None)
        if place is not None:
            child = children[place]
            nouns = any(other.label == "NP" for other in children[place + 1 :])
            yield Verb(child.label, words[child.start].lower(), nouns)
            children = children[place + 1 :]
        node = _verb_phrase(children)


def _is_verb(node: Constituent) -> bool:
    return is_tag(node) and (node.label.startswith("VB") or node.label == _MODAL)


def _verb_phrase(children: list[Constituent]) -> Constituent | None:
    """Return the first verb phrase after a subject, or else the first one."""
    subject = next((i for i, child in enumerate(children) if child.label == "NP"), 0)
    for candidates in (children[subject:], children):
        for child in candidates:
            if child.label == "VP":
                return child
    return None

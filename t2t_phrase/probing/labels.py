"""The labels of sentences and words to predict, by rules over Penn Treebank trees.

The tasks are those of Shi et al. (2016), who do not give all rules; docs/probing.md lists ours.
"""

from __future__ import annotations

import itertools

from t2t_phrase.probing.clauses import CLAUSES, Verb, main_verbs
from t2t_phrase.probing.treebank import WRAPPERS, Parse, is_tag
from t2t_phrase.text.trees.tree_levels import UNNAMED

ACTIVE, PASSIVE = "active", "passive"
PAST, NON_PAST = "past", "non-past"
_BE = frozenset(["be", "am", "is", "are", "was", "were", "been", "being", "'m", "'re", "'s"])
_GET = frozenset(["get", "gets", "got", "gotten", "getting"])
# Perfect forms, regardless of the preceding verb.
_NEVER_PASSIVE = frozenset({"been"})


def voice(parse: Parse) -> str | None:
    """Return whether the main clause is active or passive; None: it has no verb.

    It is passive if a form of "be" or "get" governs a past participle in the main verb phrase.
    """
    verbs = main_verbs(parse)
    if not verbs:
        return None
    passive = any(_is_passive(*pair) for pair in itertools.pairwise(verbs))
    return PASSIVE if passive else ACTIVE


def tense(parse: Parse) -> str | None:
    """Return whether the finite verb of the main clause is past; None: there is none.

    Modals are non-past.
    """
    verbs = main_verbs(parse)
    if not verbs or not verbs[0].finite:
        return None
    return PAST if verbs[0].tag == "VBD" else NON_PAST


def tss(parse: Parse) -> str | None:
    """Return the labels of the top node's children, such as `NP-VP-.`; None: no single top node.

    A clause whose only child is another clause is skipped; a bare word is labelled X.
    """
    node = parse.top
    if node.label in WRAPPERS or is_tag(node):
        return None
    while len(node.children) == 1 and node.label in CLAUSES and node.children[0].label in CLAUSES:
        node = node.children[0]
    return "-".join(child.label or UNNAMED for child in node.children)


def spc(parse: Parse) -> tuple[str | None, ...]:
    """Return, for each word, the label of the smallest constituent above its part of speech.

    None: there is only a wrapper above the word.
    """
    return tuple(phrase for _, phrase in _above_words(parse))


def pos(parse: Parse) -> tuple[str | None, ...]:
    """Return the part of speech of each word; None: it has none in the tree."""
    return tuple(tag for tag, _ in _above_words(parse))


def _is_passive(first: Verb, second: Verb) -> bool:
    word = first.word.replace("’", "'")
    if second.tag != "VBN" or second.word in _NEVER_PASSIVE:
        return False
    if word == "'s" and (second.word == "got" or second.has_object):
        # "has", as in "'s got" and "'s eaten a cake".
        return False
    return word in _BE or word in _GET


def _above_words(parse: Parse) -> list[tuple[str | None, str | None]]:
    """Return the part of speech and the smallest constituent above each word."""
    found: list[tuple[str | None, str | None]] = []
    # A node, and the label of the constituent above it. Not recursive, because degenerate trees
    # are deep.
    stack = [(parse.top, "")]
    while stack:
        node, above = stack.pop()
        if is_tag(node):
            found.append((node.label or None, above if above not in WRAPPERS else None))
        elif not node.children:
            found.append((None, above if above not in WRAPPERS else None))
        else:
            stack.extend((child, node.label) for child in reversed(node.children))
    return found

"""Constituency trees in Penn Treebank brackets, and their match with a sentence."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import nltk

from t2t_phrase.config import UserError, shown

_BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
_ESCAPE = re.compile("|".join([*_BRACKETS, r"\\[/*]"]))
# Tokens that English parsers write for characters that do not occur in the Penn Treebank.
_STAND_FOR = {
    "``": ('"', "“", "„", "«"),
    "''": ('"', "”", "“", "»"),
    "`": ("'", "‘", "‚"),
    "'": ("’", "‘"),
    "--": ("–", "—"),
    "...": ("…",),
}


# Some methods of NLTK are recursive; constituents of a sentence are nested about 30 deep.
DEEPEST = 500


class TreeError(UserError):
    """A fault in one tree; the caller adds the file and line."""


def read_tree(line: str) -> nltk.Tree:
    """Read one tree, such as `(S (NP (NNP Kim)) (VP (VBZ sleeps)) (. .))`.

    Raises:
        TreeError: the line is not exactly one tree, or the tree has no words.
    """
    depth = _depth(line)
    if depth > DEEPEST:
        raise TreeError(f"the brackets are nested {depth} deep; at most {DEEPEST} levels are read")
    try:
        tree = from_brackets(line)
    except ValueError as error:
        raise TreeError(_explain(line, error)) from error
    if next(words(tree), None) is None:
        raise TreeError("the tree has no words")
    return tree


def from_brackets(text: str) -> nltk.Tree:
    """Return the tree that a text in Penn Treebank brackets describes.

    Raises:
        ValueError: the text is not a tree.
    """
    # Recent versions of NLTK count a bracket after a backslash as part of the word.
    return nltk.Tree.fromstring(text.replace("\\)", "\\ )"))


def words(tree: nltk.Tree) -> Iterator[str]:
    """Yield the words of a tree from left to right, without unescaping them."""
    # Not Tree.leaves(), which is recursive, because degenerate trees are deep.
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        else:
            stack.extend(reversed(node))


def word_ends(spelt: Sequence[str], sentence: str) -> list[int]:
    """Find the words of a tree in the sentence.

    Whitespace is ignored on both sides. Words may use the escapes of the Penn Treebank: -LRB- for
    an opening bracket, `` and '' for quotation marks, and so on.

    Args:
        spelt: the words of the tree.
        sentence: natural text.

    Returns:
        For each word, the number of visible characters of the sentence up to its end.

    Raises:
        TreeError: the words do not spell the sentence.
    """
    visible = "".join(sentence.split())
    ends = []
    at = 0
    for number, word in enumerate(spelt, start=1):
        form = next((f for f in _forms(word) if visible.startswith(f, at)), None)
        if form is None:
            form = _partly_escaped(word, visible, at)
        if not form:
            found = f"has {_clip(visible[at:])!r} there" if at < len(visible) else "ends before it"
            raise TreeError(f"word {number} of the tree is {shown(word)}, but the sentence {found}")
        at += len(form)
        ends.append(at)
    if at < len(visible):
        raise TreeError(f"the tree ends before {_clip(visible[at:])!r} of the sentence")
    return ends


def escaped(word: str) -> str:
    """Return a word escaped for a tree: no whitespace, and brackets as -LRB- and -RRB-."""
    return "".join(word.split()).replace("(", "-LRB-").replace(")", "-RRB-")


def unescaped(word: str) -> str:
    """Return a word of a tree with brackets and quotation marks as they are usually written."""
    if word in ("``", "''"):
        return '"'
    return _ESCAPE.sub(lambda match: _BRACKETS.get(match[0], match[0][-1]), word)


def _forms(word: str) -> Iterator[str]:
    """Yield the possible spellings of a tree's word in the sentence, the most likely first."""
    yield word
    yield from _STAND_FOR.get(word, ())
    plain = unescaped(word)
    if plain != word:
        yield plain
    brackets = word.replace("-LRB-", "(").replace("-RRB-", ")")
    if brackets not in (word, plain):
        yield brackets
    if "'" in word:
        yield word.replace("'", "’")


def _partly_escaped(word: str, visible: str, at: int) -> str:
    """Return the text at a position that a word spells if it has both -LRB- and (; "" if none."""
    parts = re.split("(-LRB-|-RRB-)", word)
    if len(parts) == 1:
        return ""
    choices = (f"({part}|{re.escape(_BRACKETS[part])})" for part in parts[1::2])
    plain = map(re.escape, parts[::2])
    spelt = "".join(itertools.chain(*itertools.zip_longest(plain, choices, fillvalue="")))
    found = re.compile(spelt).match(visible, at)
    return found[0] if found else ""


def _depth(line: str) -> int:
    """Return the deepest level of brackets."""
    steps = (1 if char == "(" else -1 for char in line if char in "()")
    return max(itertools.accumulate(steps), default=0)


def _explain(line: str, error: ValueError) -> str:
    opening, closing = line.count("("), line.count(")")
    if not line.strip():
        return "the line is empty"
    if opening != closing:
        return f"the brackets do not match: {opening} opening, {closing} closing"
    if "expected 'end-of-string'" in str(error):
        return "there is more text after the end of the tree"
    if "expected '('" in str(error):
        return "the line does not begin with a bracket"
    return f"it is not a tree in Penn Treebank brackets ({' '.join(str(error).split())[:80]})"


def _clip(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:20]}..."

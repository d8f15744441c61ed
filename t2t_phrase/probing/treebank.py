"""Trees prepared for labels: without traces, function tags and the node above the sentence."""

from __future__ import annotations

import re
from typing import NamedTuple

from t2t_phrase.text.trees.constituents import Constituent, constituents
from t2t_phrase.text.trees.tree_levels import UNNAMED
from t2t_phrase.text.trees.trees import TreeError, read_tree, words

# Labels of treebanks and parsers for the node above a sentence.
WRAPPERS = frozenset({"", "ROOT", "TOP", "S1"})
_TRACE = re.compile(r"\(\s*-NONE-[^()\s]*\s+[^()\s]*\s*\)")
_EMPTY = re.compile(r"\(\s*[^()\s]*\s*\)")


class Parse(NamedTuple):
    """A tree whose labels are plain: `NP`, not `NP-SBJ-1`.

    Attributes:
        top: the highest node that is not a wrapper; a wrapper, if it has several children or only a
            part of speech.
        words: the words as written in the tree.
        line: the tree in brackets without traces.
    """

    top: Constituent
    words: tuple[str, ...]
    line: str

    @property
    def is_flat(self) -> bool:
        """Whether the tree stands for a missing one, as written by `t2t-phrase-parse`."""
        return self.top.label in WRAPPERS and all(
            is_tag(node) and node.label == UNNAMED for node in self.top.children
        )


def read_parse(line: str) -> Parse:
    """Read a tree in Penn Treebank brackets.

    Raises:
        TreeError: the line is not a tree, or the tree has no words but traces.
    """
    tree = read_tree(line)
    if "-NONE-" in line:
        line = without_traces(line)
        if not line.strip():
            raise TreeError("the tree contains only traces")
        tree = read_tree(line)
    root = constituents(tree)
    stack = [root]
    while stack:
        node = stack.pop()
        node.label = plain_label(node.label)
        stack.extend(node.children)
    return Parse(_unwrapped(root), tuple(words(tree)), line)


def plain_label(label: str) -> str:
    """Return a label without function tags and indices: `NP` for `NP-SBJ-1`, `NP=2` and `NP|X`."""
    # -LRB- and the like are whole labels.
    return label if label.startswith("-") else re.split(r"[-=|]", label, maxsplit=1)[0]


def without_traces(line: str) -> str:
    """Return a tree in brackets without its traces and constituents that contain nothing else."""
    line, found = _TRACE.subn("", line)
    while found:
        line, found = _EMPTY.subn("", line)
    return line


def _unwrapped(node: Constituent) -> Constituent:
    while node.label in WRAPPERS and len(node.children) == 1:
        child = node.children[0]
        if not child.children or is_tag(child):
            break
        node = child
    return node


def is_tag(node: Constituent) -> bool:
    """Return whether a node is a part of speech: its only child is a word."""
    return len(node.children) == 1 and not node.children[0].children

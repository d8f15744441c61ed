"""Phrases from a constituency tree: Xu et al. (2020), Algorithm 1."""

from __future__ import annotations

import dataclasses

import nltk


def phrase_length(words: int) -> int:
    """Return the most words that a phrase of a sentence of so many words may have.

    The paper's footnote 2, which it uses for phrases from trees as well.
    """
    return max(min(8, words // 6), 3)


def phrase_ends(tree: nltk.Tree, longest: int | None = None) -> list[int]:
    """Cut a tree into phrases; phrase k is the words from `ends[k - 1]` up to `ends[k]`.

    From the right, each phrase is the largest sub-tree of what is left of the tree that has at most
    `longest` words, and, while they still fit, the sub-trees of the same depth to the left of it.

    Differs from the paper: its pseudocode asks the first sub-tree to have fewer than n tokens, and
    then lets n more be added to it. Section 3 says that n is "the maximum number of tokens allowed"
    in a phrase; so here the first sub-tree may have n, and the others what is left of n.

    What it leaves open:

    - Of several sub-trees of the same words (unary chains, and constituents of which only their
      first child is left) the highest is taken, since it has the most neighbours.
    - A sub-tree is one of the tree that is left: words that were cut off no longer count in it.
    - A single word is a sub-tree, so one that fits always exists.
    - The sub-trees to the left of the first one are its sisters. It is the highest that fits, so
      its parent has more than n words left, and they cannot run out.

    Args:
        tree: of n words, at least one.
        longest: most words of a phrase; None: `phrase_length(n)`.
    """
    root = _measured(tree)
    longest = longest or phrase_length(root.end)
    ends: list[int] = []
    left = root.end
    while left:
        ends.append(left)
        node, sisters = root, [root]
        while left - node.start > longest:
            sisters = [child for child in node.children if child.start < left]
            node = sisters[-1]
        start = node.start
        for sister in reversed(sisters[:-1]):
            if ends[-1] - sister.start > longest:
                break
            start = sister.start
        left = start
    return ends[::-1]


@dataclasses.dataclass(slots=True)
class _Constituent:
    """The words `start` up to `end`; a word itself has no children."""

    start: int
    end: int
    children: list[_Constituent]


def _measured(tree: nltk.Tree) -> _Constituent:
    """Return the tree's constituents, those without words left out."""
    root = _Constituent(0, 0, [])
    at = 0
    # No recursion: degenerate trees are deep.
    stack = [(iter(tree), root)]
    while stack:
        children, parent = stack[-1]
        for child in children:
            if isinstance(child, str):
                parent.children.append(_Constituent(at, at + 1, []))
                at += 1
            else:
                node = _Constituent(at, at, [])
                parent.children.append(node)
                stack.append((iter(child), node))
                break
        else:
            parent.end = at
            parent.children = [node for node in parent.children if node.end > node.start]
            stack.pop()
    return root

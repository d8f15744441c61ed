"""The constituents of a tree as spans of words."""

from __future__ import annotations

import dataclasses

import nltk


@dataclasses.dataclass(slots=True)
class Constituent:
    """A span of words `start` to `end - 1`; a single word has no children and no label."""

    label: str
    start: int
    end: int
    children: list[Constituent]


def constituents(tree: nltk.Tree) -> Constituent:
    """Return the root of the tree; constituents without words are left out."""
    root = Constituent(str(tree.label()), 0, 0, [])
    at = 0
    # Not recursive, because degenerate trees are deep.
    stack = [(iter(tree), root)]
    while stack:
        children, parent = stack[-1]
        for child in children:
            if isinstance(child, str):
                parent.children.append(Constituent("", at, at + 1, []))
                at += 1
            else:
                node = Constituent(str(child.label()), at, at, [])
                parent.children.append(node)
                stack.append((iter(child), node))
                break
        else:
            parent.end = at
            parent.children = [node for node in parent.children if node.end > node.start]
            stack.pop()
    return root

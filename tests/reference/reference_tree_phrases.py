"""Xu et al. (2020), Algorithm 1, line by line: sub-trees are looked for everywhere and cut out."""

from __future__ import annotations

import copy

import nltk

Path = tuple[int, ...]


def extract_phrases(tree: nltk.Tree, n: int) -> list[list[str]]:
    """Return the phrases of a tree, each a list of its words."""
    left: nltk.Tree | None = copy.deepcopy(tree)
    phrases = []
    while left is not None:
        phrase: list[str] = []
        mt = n
        fitting = [path for path in _on_the_right(left) if len(_words(left, path)) <= n]
        # Of those with the most words the one of the least depth.
        largest = max(fitting, key=lambda path: (len(_words(left, path)), -len(path)))
        depth = len(largest)
        phrase = _words(left, largest)
        mt -= len(phrase)
        left = _without(left, largest)
        while mt > 0 and left is not None:
            adjacent = [path for path in _on_the_right(left) if len(path) == depth]
            if adjacent and len(_words(left, adjacent[0])) <= mt:
                words = _words(left, adjacent[0])
                phrase = words + phrase
                left = _without(left, adjacent[0])
                mt -= len(words)
            else:
                break
        phrases.append(phrase)
    return phrases[::-1]


def _on_the_right(tree: nltk.Tree) -> list[Path]:
    """Return the paths of all sub-trees, words included, that end where the tree ends."""
    last = tree.treepositions("leaves")[-1]
    return [path for path in tree.treepositions() if path == last[: len(path)]]


def _words(tree: nltk.Tree, path: Path) -> list[str]:
    node = tree[path]
    return [node] if isinstance(node, str) else node.leaves()


def _without(tree: nltk.Tree, path: Path) -> nltk.Tree | None:
    """Return the tree less a sub-tree, and less what then has no words; None: nothing is left."""
    while path:
        del tree[path]
        path = path[:-1]
        if _words(tree, path):
            return tree
    return None

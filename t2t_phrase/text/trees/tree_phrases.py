"""Segments from a constituency tree: Xu et al. (2020), Algorithm 1."""

from __future__ import annotations

import nltk

from t2t_phrase.text.trees.constituents import constituents


def phrase_length(words: int) -> int:
    """Return the maximum length of a segment in a sentence of this number of words.

    From the paper's footnote 2, which also applies to segments from trees.
    """
    return max(min(8, words // 6), 3)


def phrase_ends(tree: nltk.Tree, longest: int | None = None) -> list[int]:
    """Cut a tree into segments; segment k consists of the words `ends[k - 1]` to `ends[k] - 1`.

    Segments are cut from right to left. Each is the largest subtree at the right edge of the
    remaining tree that has at most `longest` words, extended to the left by sibling subtrees as
    long as they fit.

    Differs from the paper: `longest` counts words, not tokens, so that segments do not depend on
    the vocabulary.

    Differs from the paper: its pseudocode requires the first subtree to have fewer than n tokens,
    and then allows n more to be added. But in Section 3, n is "the maximum number of tokens
    allowed" in a phrase. So here the first subtree may have n words, and its siblings only as many
    as remain of n.

    What the paper leaves open:

    - If several subtrees consist of the same words (unary chains, and constituents of which only
      the first child remains), the highest is taken, since it has the most siblings.
    - Subtrees are those of the remaining tree: words that were cut off no longer count.
    - A single word is a subtree, so there is always one that fits.
    - Only siblings of the first subtree are added. It is the highest that fits, so its parent has
      more than n words left, and there are always enough siblings.

    Args:
        tree: a tree with at least one word.
        longest: maximum number of words in a segment; None: `phrase_length` of the sentence.
    """
    root = constituents(tree)
    longest = longest or phrase_length(root.end)
    ends: list[int] = []
    left = root.end
    while left:
        ends.append(left)
        node, sisters = root, [root]
        while left - node.start > longest:
            sisters = node.children
            # Nodes that are cut off are not visited again, or time would be quadratic.
            while sisters[-1].start >= left:
                sisters.pop()
            node = sisters[-1]
        start = node.start
        for place in range(len(sisters) - 2, -1, -1):
            if left - sisters[place].start > longest:
                break
            start = sisters[place].start
        left = start
    return ends[::-1]

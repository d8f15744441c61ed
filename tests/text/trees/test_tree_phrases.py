import itertools
import random

import nltk
import pytest
from reference_tree_phrases import extract_phrases

import t2t_phrase_grammar as grammar
from t2t_phrase.text.trees.tree_phrases import phrase_ends, phrase_length


def cut(text, longest=None):
    tree = nltk.Tree.fromstring(text)
    words = tree.leaves()
    ends = phrase_ends(tree, longest)
    return [" ".join(words[a:b]) for a, b in itertools.pairwise([0, *ends])]


def test_length_of_phrases():
    lengths = [1, 17, 18, 23, 24, 30, 47, 48, 200]
    assert [phrase_length(n) for n in lengths] == [3, 3, 3, 3, 4, 5, 7, 8, 8]


@pytest.mark.parametrize(
    "tree, longest, phrases",
    [
        # A single word with unary chains above it.
        ("(S (VP (VB Go)))", 3, ["Go"]),
        ("(NN Rain)", 1, ["Rain"]),
        # A tree that fits is one segment.
        ("(S (NP (PRP He)) (VP (VBD saw) (NP (PRP her))))", 3, ["He saw her"]),
        # The largest subtree that fits; its sibling in the rest of S does not fit.
        (
            "(S (NP (DT The) (NN dog)) (VP (VBD bit) (NP (DT the) (NN man))))",
            3,
            ["The dog", "bit the man"],
        ),
        # Exactly n words fit, although the pseudocode requires fewer than n.
        ("(S (NP a b c) (VP d (NP e f)))", 3, ["a b c", "d e f"]),
        # Siblings are added while they fit: (. .) and (ADVP now), but not the long NP.
        (
            "(S (NP a b c d) (VP (V e)) (ADVP (RB now)) (. .))",
            3,
            ["a", "b c d", "e now ."],
        ),
        # Siblings are never split.
        ("(S (NP a b) (NP c d) (NP e f))", 3, ["a b", "c d", "e f"]),
        # The first subtree counts: three words in total, not two and three more.
        ("(S a b c d (NP e f))", 3, ["a b c", "d e f"]),
        # Ties: NP, N and the word are equal; NP is chosen, whose sibling is V, not DT.
        (
            "(S (X (DT a) (JJ b)) (V c) (V d) (NP (N e)))",
            2,
            ["a b", "c", "d e"],
        ),
        # A tie after a cut: only V is left of VP, and NP, the sibling of VP, fits.
        ("(S (NP a) (VP (V b) (NP c d e)))", 3, ["a b", "c d e"]),
        # Flat constituents are cut every n words, from the right.
        ("(S a b c d e f g h)", 3, ["a b", "c d e", "f g h"]),
        ("(S a b c)", 1, ["a", "b", "c"]),
        # Empty constituents, left by traces, do not count.
        ("(S (NP (-NONE- )) (VP (V a) (NP )) (. b))", 3, ["a b"]),
    ],
)
def test_by_hand(tree, longest, phrases):
    assert cut(tree, longest) == phrases


def test_the_length_is_that_of_the_sentence():
    flat = " ".join(f"w{i}" for i in range(24))
    assert [len(phrase.split()) for phrase in cut(f"(S {flat})")] == [4] * 6


def random_tree(draw, words):
    """Return a random tree, with some unary chains and words without tags."""
    if words == 1:
        node = "w"
        for _ in range(draw.randrange(3)):
            node = nltk.Tree("X", [node])
        return node
    parts = min(words, draw.randint(1, 4))
    cuts = sorted(draw.sample(range(1, words), parts - 1))
    sizes = [b - a for a, b in itertools.pairwise([0, *cuts, words])]
    if parts == 1:
        inner = random_tree(draw, words) if draw.random() < 0.8 else nltk.Tree("U", ["w"] * words)
        return nltk.Tree("U", [inner])
    return nltk.Tree("X", [random_tree(draw, size) for size in sizes])


def test_random_trees_as_the_pseudocode_has_it():
    draw = random.Random(0)
    for _ in range(300):
        tree = nltk.Tree("ROOT", [random_tree(draw, draw.randint(1, 14))])
        longest = draw.randint(1, 6)
        for number, place in enumerate(tree.treepositions("leaves")):
            tree[place] = f"w{number}"
        expected = extract_phrases(tree, longest)
        ends = list(itertools.accumulate(map(len, expected)))
        assert phrase_ends(tree, longest) == ends, (str(tree), longest)


@pytest.fixture(scope="module")
def gold():
    pairs = grammar.generate("dev", 60)
    return [nltk.Tree.fromstring(pair.tree) for pair in pairs]


def test_the_grammars_trees_as_the_pseudocode_has_it(gold):
    for tree in gold:
        words = tree.leaves()
        expected = extract_phrases(tree, phrase_length(len(words)))
        ends = phrase_ends(tree)
        assert [words[a:b] for a, b in itertools.pairwise([0, *ends])] == expected


def test_phrases_are_sisters_of_what_was_left_and_could_not_be_longer(gold):
    several = 0
    for tree in gold:
        words = tree.leaves()
        limit = phrase_length(len(words))
        ends = phrase_ends(tree)
        assert ends[-1] == len(words)
        for start, end in itertools.pairwise([0, *ends]):
            assert start < end <= start + limit
            # Spans (parent's span, own span) of what the tree is with its first `end` words.
            families = sisters(tree, end)
            family = next(f for f in families if {start, end} <= {x for span in f for x in span})
            inside = [span for span in family if start <= span[0] and span[1] <= end]
            assert (inside[0][0], inside[-1][1]) == (start, end)
            several += len(inside) > 1
            before = [span for span in family if span[1] == start]
            if before:
                assert end - before[0][0] > limit
    assert several > 50


def sisters(tree, words):
    """Return the spans of all groups of siblings among the first words, the highest first."""
    groups = [[(0, words)]]
    queue = [(tree, 0)]
    while queue:
        node, start = queue.pop(0)
        group = []
        for child in node:
            size = 1 if isinstance(child, str) else len(child.leaves())
            if start < words and size:
                group.append((start, min(start + size, words)))
                if not isinstance(child, str):
                    queue.append((child, start))
            start += size
        groups.append(group)
    return groups


def test_deep_trees_need_no_stack():
    deep = nltk.Tree("X", ["end"])
    for number in range(5000):
        deep = nltk.Tree("X", [f"w{number}", deep])
    ends = phrase_ends(deep)
    assert ends[-1] == 5001 and max(b - a for a, b in itertools.pairwise(ends)) == 8

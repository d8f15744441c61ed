import pytest

from t2t_phrase.probing.treebank import plain_label, read_parse, without_traces
from t2t_phrase.text.trees.parsers import flat_tree
from t2t_phrase.text.trees.trees import TreeError


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("NP", "NP"),
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("ADVP|PRT", "ADVP"),
        ("PRP$", "PRP$"),
        ("-LRB-", "-LRB-"),
        ("``", "``"),
        ("", ""),
    ],
)
def test_labels_lose_function_tags(label, plain):
    assert plain_label(label) == plain


def test_traces_and_what_holds_nothing_else_disappear():
    line = "(S (NP-SBJ-1 (-NONE- *)) (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1)))) (. .))"
    assert without_traces(line).split() == [
        "(S",
        "(VP",
        "(VBD",
        "was)",
        "(VP",
        "(VBN",
        "seen)",
        "))",
        "(.",
        ".))",
    ]
    assert read_parse(line).words == ("was", "seen", ".")
    # Traces below several nodes, and a word that only looks like one.
    parse = read_parse("( (S (SBAR (S (NP (-NONE- *T*-2)))) (NP (NN *))) )")
    assert parse.words == ("*",)
    assert [child.label for child in parse.top.children] == ["NP"]


def test_wrappers_are_passed():
    for line in ("(S (NN a) (NN b))", "(ROOT (S (NN a) (NN b)))", "( (TOP (S (NN a) (NN b))))"):
        assert read_parse(line).top.label == "S"
    assert read_parse("(ROOT (S (NN a) (NN b)) (S (NN c) (NN d)))").top.label == "ROOT"


def test_flat_trees_are_known():
    assert read_parse(flat_tree("one two (three)")).is_flat
    assert read_parse(flat_tree("one")).is_flat
    assert not read_parse("(ROOT (S (X one) (X two)))").is_flat
    assert not read_parse("(ROOT (NN one) (X two))").is_flat


def test_what_is_no_tree_is_refused():
    for line, reason in (
        ("(S (NP", "brackets do not match"),
        ("", "empty"),
        ("(S (NP (-NONE- *)))", "contains only traces"),
        ("(" * 600 + "X a" + ")" * 600, "nested 600 deep"),
    ):
        with pytest.raises(TreeError, match=reason):
            read_parse(line)
    assert read_parse("(S " * 490 + "(NN a) (NN b)" + ")" * 490).words == ("a", "b")

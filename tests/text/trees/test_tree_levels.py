import nltk
import pytest

from t2t_phrase.features import CONTINUES, MOST_LEVELS
from t2t_phrase.text.trees.cut_by_tree import with_levels
from t2t_phrase.text.trees.tree_levels import label_at, tree_levels
from t2t_phrase.text.trees.trees import TreeError

BUSH = (
    "(ROOT (S (NP (NNP Bush)) (VP (VBD held) (NP (DT a) (NN talk)) (PP (IN with) (NP (NNP "
    "Sharon))))))"
)


def segments(line, level):
    """Return "label: words" for each segment of a level."""
    tree = nltk.Tree.fromstring(line)
    found = []
    for word, spelt in zip(tree_levels(tree), tree.leaves(), strict=True):
        if word.level <= level:
            found.append(f"{label_at(word, level)}: {spelt}")
        else:
            found[-1] += f" {spelt}"
    return found


def test_figure_1_of_the_paper():
    assert segments(BUSH, 1) == ["NP: Bush", "VP: held a talk with Sharon"]
    second = ["NP: Bush", "VBD: held", "NP: a talk", "PP: with Sharon"]
    assert segments(BUSH, 2) == second
    third = ["NP: Bush", "VBD: held", "DT: a", "NN: talk", "IN: with", "NP: Sharon"]
    assert segments(BUSH, 3) == segments(BUSH, 9) == third


def test_a_unary_chain_is_one_node_with_the_upper_name():
    line = "(ROOT (S (VP (A a) (X (Y (Z (B b) (C c)))) (D (E (F f))))))"
    # The root is VP, the highest node with several children.
    assert segments(line, 1) == ["A: a", "X: b c", "D: f"]
    assert segments(line, 2) == ["A: a", "B: b", "C: c", "D: f"]


def test_uneven_depth_leaves_words_as_they_are():
    left = "(S (A (B (C (D d) (E e)) (F f)) (G g)) (H h))"
    assert segments(left, 1) == ["A: d e f g", "H: h"]
    assert segments(left, 2) == ["B: d e f", "G: g", "H: h"]
    assert segments(left, 3) == ["C: d e", "F: f", "G: g", "H: h"]
    assert segments(left, 4) == ["D: d", "E: e", "F: f", "G: g", "H: h"]


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("(ROOT (NP (NN dog)))", "NP"),
        ("(NN dog)", "NN"),
        ("(ROOT (NP dog))", "NP"),
    ],
)
def test_one_word(line, label):
    for level in (1, 2, 3):
        assert segments(line, level) == [f"{label}: dog"]


def test_words_without_a_tag_and_empty_constituents():
    assert segments("(S (A ) (VP can not swim) (B (C )))", 1) == ["X: can", "X: not", "X: swim"]


def test_what_lies_too_deep_is_not_cut():
    words = [f"w{i}" for i in range(MOST_LEVELS + 5)]
    line = "".join(f"(A (B {word}) " for word in words) + "(C end)" + ")" * len(words)
    found = tree_levels(nltk.Tree.fromstring(line))
    assert [word.level for word in found[:4]] == [1, 1, 2, 3]
    assert [word.level for word in found[MOST_LEVELS:]] == [MOST_LEVELS] + [CONTINUES] * 5
    assert len(segments(line, MOST_LEVELS)) == MOST_LEVELS + 1
    assert max(len(word.labels) for word in found) == MOST_LEVELS


def test_a_long_chain_has_no_levels():
    line = "(A " * 400 + "(B b) (C c)" + ")" * 400
    assert [word.level for word in tree_levels(nltk.Tree.fromstring(line))] == [1, 1]


def test_sentences_with_tabs():
    bush = "Bush\theld\t\ta\t\t\ttalk\t\twith\t\t\tSharon"
    assert with_levels("Bush held a talk with Sharon", BUSH) == bush
    swim = "(S (NP (DT The) (NN dog)) (VP (MD can) (RB not) (VP (VB swim))) (. .))"
    assert with_levels(" The dog  cannot swim.", swim) == "The\t\tdog\tcan\t\tnot\t\tswim\t."
    assert with_levels(" ", "") == ""
    with pytest.raises(TreeError, match="the brackets do not match"):
        with_levels("The dog", "(S The")

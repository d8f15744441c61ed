import pytest

from t2t_phrase.config import UserError
from t2t_phrase.features import PHRASES
from t2t_phrase.text.annotations.base import read_annotations
from t2t_phrase.text.trees.cut_by_tree import cut_by_tree

TREE = "(S (NP (DT The) (NN dog)) (VP (MD can) (RB not) (VP (VB swim))) (. .))"


def test_sentences_are_cut_by_their_trees():
    assert cut_by_tree("The dog cannot  swim.", TREE) == ["The dog", "cannot swim", "."]
    assert cut_by_tree(" ", "") == []


def test_trees_that_do_not_fit_are_named_by_line():
    sentence = "The dog cannot swim."
    found = read_annotations(PHRASES, [sentence, ""], [TREE, " "], "x.trees")
    assert found == ["The dog\tcannot swim\t.", ""]
    with pytest.raises(UserError, match=r"^x\.trees:2: word 1 of the tree is 'The'"):
        read_annotations(PHRASES, [sentence, "A dog"], [TREE, TREE], "x.trees")
    with pytest.raises(UserError, match=r"^x\.trees:1: the line is empty"):
        read_annotations(PHRASES, ["A dog"], [""], "x.trees")
    with pytest.raises(UserError, match=r"x\.trees has 1 line for 2 sentences"):
        read_annotations(PHRASES, ["A dog", "b"], [TREE], "x.trees")

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.text.trees.subword_phrases import cut_by_tree, cut_lines

TREE = "(S (NP (DT The) (NN dog)) (VP (MD can) (RB not) (VP (VB swim))) (. .))"


def test_sentences_are_cut_by_their_trees():
    assert cut_by_tree("The dog cannot  swim.", TREE) == ["The dog", "cannot swim", "."]
    assert cut_by_tree(" ", "") == []
    assert cut_lines(["The dog cannot swim.", ""], [TREE, " "], "x.trees")[1] == []


def test_trees_that_do_not_fit_are_named_by_line():
    with pytest.raises(UserError, match=r"^x\.trees:2: word 1 of the tree is 'The'"):
        cut_lines(["The dog cannot swim.", "A dog"], [TREE, TREE], "x.trees")
    with pytest.raises(UserError, match=r"^x\.trees:1: the line is empty"):
        cut_lines(["A dog"], [""], "x.trees")
    with pytest.raises(UserError, match=r"x\.trees has 1 trees for 2 sentences"):
        cut_lines(["A dog", "b"], [TREE], "x.trees")

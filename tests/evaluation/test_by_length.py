import pytest

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.bleu import corpus_bleu
from t2t_phrase.evaluation.by_length import bleu_by_length


def sentences(lengths, word="w"):
    return [" ".join(f"{word}{i}" for i in range(length)) for length in lengths]


def test_groups_part_at_the_boundaries_and_score_as_corpora():
    sources = sentences([4, 5, 6, 9, 10, 0])
    references = sentences([6] * 6, "r")
    hypotheses = [line.replace("r3", "x") if i % 2 else line for i, line in enumerate(references)]
    groups = bleu_by_length(hypotheses, references, sources, boundaries=[5, 10])
    assert [group.sentences for group in groups] == [2, 3, 1]
    members = [[0, 5], [1, 2, 3], [4]]
    for group, own in zip(groups, members, strict=True):
        expected = corpus_bleu([hypotheses[i] for i in own], [references[i] for i in own])
        assert group.score == expected
    assert [g.name for g in groups] == ["under 5 words", "5 to 9 words", "10 and more words"]
    assert str(groups[2]).startswith("10 and more words, 1 sentence: BLEU = 100.00  nrefs:1|")


def test_a_group_may_be_empty():
    groups = bleu_by_length(["a b c d"], ["a b c d"], ["one two"], boundaries=[3])
    assert groups[1].sentences == 0 and groups[1].score is None
    assert str(groups[1]) == "3 and more words, 0 sentences: no BLEU"


def test_options_and_several_references_reach_the_score():
    lists = [["A b c d"], ["x y z w"]]
    (group, _) = bleu_by_length(["a b c d"], lists, ["s"], boundaries=[3], lowercase=True)
    assert group.score.value == pytest.approx(100)
    assert group.score.signature.startswith("nrefs:2|case:lc")


@pytest.mark.parametrize("boundaries", [[], [0, 5], [5, 5], [9, 3]])
def test_boundaries_must_ascend(boundaries):
    with pytest.raises(UserError, match="must be ascending and positive"):
        bleu_by_length(["a"], ["a"], ["a"], boundaries=boundaries)


def test_the_source_must_have_as_many_lines():
    with pytest.raises(UserError, match="translation has 1 line and the source has 2"):
        bleu_by_length(["a"], ["a"], ["a", "b"])


def test_a_range_of_one_length():
    groups = bleu_by_length(["a b c d"], ["a b c d"], ["one"], boundaries=[1, 2, 4, 5])
    assert [g.name for g in groups][:4] == ["no words", "1 word", "2 to 3 words", "4 words"]

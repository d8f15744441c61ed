import json

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.phenomena import (
    accuracies,
    compare,
    judge,
    read_facts,
)
from t2t_phrase_grammar import PHENOMENA, Rendering, generate

PARTICLE = Rendering("particle verb", "an|rufen", ("rief", "an"))
IDIOM = Rendering("idiom", "play second fiddle", ("spielt", "die", "zweite", "Geige"))


def one(hypothesis, rendering):
    (judgement,) = judge([hypothesis], [[rendering]])
    return judgement.right, judgement.in_order


@pytest.mark.parametrize(
    ("hypothesis", "right", "in_order"),
    [
        ("Er rief sie gestern an.", True, True),
        ("Rief er sie an?", True, True),
        ("An diesem Tag rief er.", True, False),
        ("Er rief sie gestern.", False, False),
        ("Er RIEF sie an.", False, False),
        ("Er rief sie An.", False, False),
        ("", False, False),
    ],
)
def test_all_words_must_be_there(hypothesis, right, in_order):
    assert one(hypothesis, PARTICLE) == (right, in_order)


def test_words_are_needed_as_often_as_the_reference_has_them():
    twice = Rendering("idiom", "an eye for an eye", ("Auge", "um", "Auge"))
    assert one("Er sagte Auge um Auge.", twice) == (True, True)
    assert one("Er sagte um Auge Auge.", twice) == (True, False)
    assert one("Er sagte Auge um Zahn.", twice) == (False, False)


def test_a_noun_at_the_start_keeps_its_capital():
    compound = Rendering("compound", "tea spoons", ("Teelöffel",))
    assert one("Teelöffel fehlen.", compound) == (True, True)
    assert one("Die Teelöffel fehlen.", compound) == (True, True)
    assert one("Die teelöffel fehlen.", compound) == (False, False)


def test_references_are_right_and_other_sentences_are_not():
    pairs = list(generate("test", 400))
    facts = [pair.facts.renderings for pair in pairs]
    found = accuracies(judge([pair.target for pair in pairs], facts))
    assert [accuracy.kind for accuracy in found] == list(PHENOMENA)
    for accuracy in found:
        assert accuracy.total > 20
        assert accuracy.right == accuracy.in_order == accuracy.total
    shifted = [pair.target for pair in [*pairs[1:], pairs[0]]]
    assert all(accuracy.percent < 5 for accuracy in accuracies(judge(shifted, facts)))


def test_accuracy_counts_by_kind():
    facts = [[PARTICLE, IDIOM], [PARTICLE], []]
    lines = ["Er rief an und spielt die zweite Geige.", "An rief er ihn.", "Ja."]
    idiom, particle = accuracies(judge(lines, facts))
    assert (idiom.kind, idiom.right, idiom.in_order, idiom.total) == ("idiom", 1, 1, 1)
    assert (particle.right, particle.in_order, particle.total) == (2, 1, 2)
    assert str(particle) == "particle verb: 2 of 2 right = 100.00%, in the right order 50.00%"


def test_comparison_counts_what_only_one_has_right():
    facts = [[PARTICLE]] * 4
    right, wrong = "Er rief an.", "Er rief."
    ours, theirs = [right, right, right, wrong], [right, wrong, wrong, wrong]
    (found,) = compare(judge(ours, facts), judge(theirs, facts))
    assert (found.kind, found.gained, found.lost) == ("particle verb", 2, 0)
    assert found.p_value == pytest.approx(0.5)
    assert str(found).startswith(
        "particle verb: 2 right here only, 0 right in the baseline only, p = 0.5"
    )


def test_facts_are_read_as_datagen_writes_them(tmp_path):
    from t2t_phrase.data.problem import get_problem

    problem = get_problem("translate_ende_grammar")
    corpus, pairs = problem.corpus(""), []
    facts = corpus.side_streams().index("facts")
    for pair in corpus.pairs("test"):
        pairs.append(pair)
        if len(pairs) == 30:
            break
    path = tmp_path / "x.facts"
    path.write_text("".join(pair.side[facts] + "\n" for pair in pairs), encoding="utf-8")
    assert read_facts(str(path)) == [
        list(pair.facts.renderings) for pair in generate("test", 30, seed=problem.seed)
    ]


@pytest.mark.parametrize(
    "line", ["", "[]", "{}", "no json", json.dumps({"renderings": [{"kind": "idiom"}]})]
)
def test_what_is_no_facts_is_named(tmp_path, line):
    path = tmp_path / "x.facts"
    path.write_text(f'{{"renderings": []}}\n{line}\n')
    with pytest.raises(UserError, match=r"x.facts:2: expected facts with renderings"):
        read_facts(str(path))


def test_line_counts_must_agree():
    with pytest.raises(UserError, match="translation has 1 line and the file of facts has 2"):
        judge(["a"], [[], []])

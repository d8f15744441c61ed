import pytest

from t2t_phrase.config import UserError
from t2t_phrase.probing.corpus import SPLITS, make_corpus, split_of
from t2t_phrase.probing.tasks import TASKS, choose_tasks
from t2t_phrase.text.trees.parsers import flat_tree
from t2t_phrase_grammar import generate
from t2t_phrase_grammar import split_of as split_of_grammar


def tree(*words: str) -> str:
    return f"(S (NP {' '.join(f'(NN {word})' for word in words)}) (VP (VBZ is)))"


def sentences(corpus) -> list[str]:
    return [sentence.text for split in SPLITS for sentence in corpus.splits[split]]


def test_ten_to_one_to_one_also_within_a_split_of_the_grammar():
    pairs = list(generate("test", 150))
    assert {split_of_grammar(pair.source) for pair in pairs} == {"test"}
    names = [f"{a} {b}" for a in range(60) for b in range(60)]
    shares = {split: sum(split_of(name) == split for name in names) / 3600 for split in SPLITS}
    assert shares["train"] == pytest.approx(10 / 12, abs=0.02)
    assert shares["dev"] == pytest.approx(1 / 12, abs=0.02)
    found = [split_of(pair.source) for pair in pairs]
    assert found.count("train") / 150 == pytest.approx(10 / 12, abs=0.1)
    assert found.count("dev") > 4 and found.count("test") > 4


def test_a_sentence_is_taken_once_whatever_its_blanks_and_case():
    lines = [
        (tree("a", "b"), "a b is"),
        (tree("A", "b"), "A  b is"),
        (tree("ab"), "ab is"),
        ("", ""),
        ("  ", None),
        (flat_tree("x y"), "x y"),
        (tree("c"), "c is"),
    ]
    corpus = make_corpus(lines, [], name="f")
    assert sorted(sentences(corpus)) == ["a b is", "c is"]
    assert corpus.left_out == {"repeated": 2, "without words": 2, "without a parse": 1}
    assert "lines left out: 2 repeated, 2 without words, 1 without a parse" in corpus.describe()
    assert split_of("A  b is") == split_of("ab IS")


def test_more_sentences_leave_the_others_where_they_are():
    lines = [(tree(f"w{i}"), None) for i in range(60)]
    few, many = (make_corpus(lines[::step], [], name="f").splits for step in (2, 1))
    for split in SPLITS:
        assert {s.text for s in few[split]} <= {s.text for s in many[split]}
    again = make_corpus(reversed(lines), [], name="f").splits
    assert {s.text for s in again["test"]} == {s.text for s in many["test"]}


def test_only_so_many_distinct_sentences_are_taken():
    lines = [(tree(word), None) for word in "aabbcc"]
    assert sorted(sentences(make_corpus(lines, [], name="f", most=2))) == ["a is", "b is"]
    assert len(sentences(make_corpus(lines, [], name="f", most=9))) == 3


def test_sentences_are_the_words_of_trees_where_there_is_no_text():
    line = (
        "( (S (NP-1 (-NONE- *)) (NP (`` ``) (NN and\\/or) ('' '') (-LRB- -LRB-)) (VP (VBZ is))) )"
    )
    (sentence,) = (
        s for of in make_corpus([(line, None)], [], name="f").splits.values() for s in of
    )
    assert sentence.text == '" and/or " ( is'
    assert sentence.starts == (0, 1, 7, 8, 9)
    assert "NONE" not in sentence.tree
    (sentence,) = (
        s
        for of in make_corpus(
            [(line, "“and/or” (is")], list(TASKS.values()), name="f"
        ).splits.values()
        for s in of
    )
    assert sentence.text == "“and/or” (is"
    assert sentence.labels["pos"] == ("``", "NN", "''", "-LRB-", "VBZ")


def test_lines_that_do_not_fit_are_named():
    good = (tree("a"), "a is")
    for bad, message in (
        (("(S (NP", "a"), r"x\.trees:2: the brackets do not match"),
        ((tree("a"), "b is"), r"x\.trees:2: word 1 of the tree is 'a', but the sentence has 'bis'"),
        (("", "b is"), r"x\.trees:2: the line is empty"),
        ((tree("a"), ""), r"x\.trees:2: .* the sentence ends before it"),
    ):
        with pytest.raises(UserError, match=message):
            make_corpus([good, bad], [], name="x.trees")


def test_tasks_are_chosen_by_name():
    assert [task.name for task in choose_tasks(["pos", "voice"])] == ["pos", "voice"]
    for names, message in (
        (["voise"], "'voise' is unknown; did you mean voice"),
        (["xyz"], "'xyz' is unknown; known: voice, tense, tss, spc, pos"),
        (["pos", "pos"], "pos is given twice"),
        ([], "names no task"),
    ):
        with pytest.raises(UserError, match=message):
            choose_tasks(names)

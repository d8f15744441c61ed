"""The whole aligner."""

import pytest

import t2t_phrase_grammar as grammar
from t2t_phrase.evaluation.alignment_error import alignment_error
from t2t_phrase.text.alignments.pharaoh import read_links
from t2t_phrase.word_aligner import aligner
from t2t_phrase.word_aligner.aligner import AlignerOptions, align
from t2t_phrase.word_aligner.symmetrization import SYMMETRIZATIONS


@pytest.fixture(scope="module")
def corpus():
    return list(grammar.generate("dev", 400))


def words(corpus):
    return [p.source_tokens for p in corpus], [p.target_tokens for p in corpus]


def test_the_grammar_is_aligned(corpus):
    messages, gold = [], [read_links(pair.alignment) for pair in corpus]
    found = align(*words(corpus), AlignerOptions(), log=messages.append)
    error = alignment_error(found, gold)
    assert error.error_rate < 0.33 and error.precision > 0.7
    assert align(*words(corpus), AlignerOptions(), log=str) == found
    # Per direction: what is read, five iterations of both models, and the search.
    assert len(messages) == 24
    assert messages[1].startswith("forward: IBM model 1, iteration 1 of 5: perplexity ")
    assert messages[-1].startswith("backward: best alignments, ")
    diagonal = [
        {(i, i) for i in range(min(map(len, pair)))} for pair in zip(*words(corpus), strict=True)
    ]
    assert alignment_error(diagonal, gold).error_rate > 0.5


def test_exchanged_sides_give_exchanged_links(corpus):
    sources, targets = words(corpus[:60])
    for name, other in (("forward", "backward"), ("intersection", "intersection")):
        there = align(sources, targets, AlignerOptions(iterations=2, symmetrization=name), log=str)
        back = align(targets, sources, AlignerOptions(iterations=2, symmetrization=other), log=str)
        assert [{(j, i) for i, j in links} for links in back] == there
    assert all(len({j for _, j in links}) == len(links) for links in there)


def test_case_makes_other_words_only_where_it_counts(corpus):
    tokens, targets = words(corpus[:60])
    sources = [[word.lower() for word in row if word.isalpha()] for row in tokens]
    mixed = [[word.upper() if n % 2 else word for n, word in enumerate(row)] for row in sources]
    renamed = [[word + "x" * (n % 2) for n, word in enumerate(row)] for row in sources]
    found = [
        align(given, targets, AlignerOptions(iterations=1, lowercase=lowercase), log=str)
        for given, lowercase in ((mixed, True), (sources, True), (mixed, False), (renamed, False))
    ]
    assert found[0] == found[1] != found[2] == found[3]


@pytest.mark.parametrize("name", SYMMETRIZATIONS)
def test_pairs_that_cannot_be_aligned_have_no_links(name, monkeypatch):
    monkeypatch.setattr(aligner, "LONGEST", 2)
    sources = [["a", "b"], [], ["a"], ["a"] * 4, ["b"], []]
    targets = [["x", "y"], ["x"], [], ["x"], ["y"], []]
    options = AlignerOptions(iterations=3, symmetrization=name)
    found = align(sources, targets, options, log=str)
    assert found == [{(0, 0), (1, 1)}, set(), set(), set(), {(0, 0)}, set()]
    assert align([[]], [["x"]], options, log=str) == [set()]
    assert align([], [], options, log=str) == []

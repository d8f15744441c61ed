"""Required terms against a search with Python lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_beam_search
import reference_constraints as reference
from table_model import TableModel, as_lists, assert_same, random_table

from t2t_phrase.compile import traced
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.constrained import Constraints, constrained_expansion
from t2t_phrase.decoding.search.required_terms import TERM
from t2t_phrase.special_ids import EOS_ID

LENGTH, VOCAB = 9, 8
# Token 7 goes on with the word before it.
BEGINS = np.array([False, True, True, True, True, True, True, False])
# Of each sentence: alternatives of one and two tokens; the same term twice, and one that begins
# like it; a term and one inside it; a term that another word begins with; nothing.
TERMS = [
    [[(3, 4), (5,)], [(2, 2)]],
    [[(3,)], [(3,)], [(3, 4, 5)]],
    [[(4, 2, 3)], [(2,)]],
    [[(6,)], [(6, 7)]],
    [],
]


def array_of(terms: list[list[list[tuple[int, ...]]]]) -> np.ndarray:
    found = np.zeros((len(terms), 4, 2, 3), "int32")
    for sentence, own in enumerate(terms):
        for term, alternatives in enumerate(own):
            for number, tokens in enumerate(alternatives):
                found[sentence, term, number, : len(tokens)] = tokens
    return found


def search(
    table: Any, terms: Any, limits: Any, beam_size: int, *, min_length: int = 0
) -> Hypotheses:
    decoder = TableModel(table).decoder(beam_size)
    constraints = Constraints(terms, BEGINS, limits)
    return beam_search(
        constrained_expansion(decoder, constraints, beam_size, min_length=min_length),
        max_lengths=limits,
        length=LENGTH,
        beam_size=beam_size,
        alpha=0.6,
    )


@pytest.mark.parametrize(
    ("seed", "beam_size", "eos"),
    [
        (0, 2, 0.0),
        *(pytest.param(*given, marks=pytest.mark.slow) for given in [(1, 3, 1.0), (2, 4, 0.5)]),
        (3, 6, 2.0),
        pytest.param(4, 4, -5.0, marks=pytest.mark.slow),
    ],
)
def test_hypotheses_are_those_of_the_definition(seed: int, beam_size: int, eos: float) -> None:
    table = random_table(seed, batch=len(TERMS), length=LENGTH, vocab=VOCAB, eos=eos)
    limits = np.array([9, 8, 7, 9, 6], "int32")
    found = search(table, array_of(TERMS), limits, beam_size)
    for sentence, terms in enumerate(TERMS):
        limit = int(limits[sentence])
        expected = reference.search(
            TableModel(table).log_probs(sentence),
            terms,
            BEGINS.tolist(),
            max_length=limit,
            beam_size=beam_size,
            alpha=0.6,
        )
        actual = as_lists(found, sentence)
        if expected[0][0][-1] != EOS_ID:
            actual = [(ids[:limit], score) for ids, score in actual]
        assert_same(actual[: len(expected)], expected)
        for beam, (ids, _) in enumerate(expected):
            assert reference.left(ids, terms, BEGINS.tolist()) == 0
            noted = np.asarray(found.notes[TERM])[sentence, beam, : len(ids)]
            for end in range(1, len(ids) + 1):
                last = reference.state_of(ids[:end], terms, BEGINS.tolist()).last
                assert noted[end - 1] == (0 if last is None else last + 1)


@pytest.mark.parametrize("eos", [3.0, pytest.param(-9.0, marks=pytest.mark.slow)])
def test_terms_of_exactly_the_length_are_met(eos: float) -> None:
    terms = [[[(3, 4, 5)], [(2, 2), (6, 6, 6)], [(4,)]]]
    table = random_table(5, batch=1, length=LENGTH, vocab=VOCAB, eos=eos)
    found = search(table, array_of(terms), np.array([7], "int32"), 2)
    ids = as_lists(found, 0)[0][0]
    assert len(ids) == 7
    assert reference.left(ids, terms[0], BEGINS.tolist()) == 0


def test_the_end_follows_a_term_although_it_is_unlikely() -> None:
    """The likeliest tokens go on with the term's word, which must be complete."""
    table = random_table(6, batch=1, length=LENGTH, vocab=VOCAB, eos=-9.0)
    begins = np.isin(np.arange(VOCAB), (EOS_ID, 3))
    constraints = Constraints(array_of([[[(3,)]]]), begins, np.array([2], "int32"))
    expansion = constrained_expansion(TableModel(table).decoder(2), constraints, 2)
    found = beam_search(
        expansion, max_lengths=np.array([2], "int32"), length=2, beam_size=2, alpha=0.6
    )
    (ids, score), *_ = as_lists(found, 0)
    assert ids == (3, EOS_ID) and score > -100


@pytest.mark.slow
def test_what_does_not_fit_is_written_as_far_as_it_goes() -> None:
    terms = [[[(3, 4, 5)], [(6, 6, 6)]]]
    table = random_table(5, batch=1, length=LENGTH, vocab=VOCAB, eos=3.0)
    found = search(table, array_of(terms), np.array([5], "int32"), 3)
    ids = tuple(np.asarray(found.ids)[0, 0, :5].tolist())
    assert reference.left(ids, terms[0], BEGINS.tolist()) == 1
    assert EOS_ID not in ids


@pytest.mark.slow
def test_without_terms_the_search_is_the_plain_one() -> None:
    table = random_table(2, batch=3, length=LENGTH, vocab=VOCAB)
    limits = np.array([9, 4, 9], "int32")
    found = search(table, array_of([[], [], []]), limits, 4, min_length=3)
    plain = TableModel(table).search(
        beam_size=4, max_lengths=limits, length=LENGTH, alpha=0.6, min_length=3
    )
    np.testing.assert_array_equal(found.ids, plain.ids)
    np.testing.assert_array_equal(found.scores, plain.scores)
    assert not np.any(found.notes[TERM])


def test_a_beam_that_holds_everything_finds_the_best_with_all_terms() -> None:
    terms = [[[(3,)], [(2, 3)]]]
    table = random_table(6, batch=1, length=5, vocab=4)
    model = TableModel(table)
    found = beam_search(
        constrained_expansion(
            model.decoder(300),
            Constraints(array_of(terms), BEGINS[:4], np.array([5], "int32")),
            300,
        ),
        max_lengths=np.array([5], "int32"),
        length=5,
        beam_size=300,
        alpha=0.6,
    )
    every = reference_beam_search.exhaustive(
        model.log_probs(0), vocab_size=4, max_length=5, alpha=0.6
    )
    expected = [each for each in every if not reference.left(each[0], terms[0], BEGINS.tolist())]
    assert 0 < len(expected) < 100
    assert_same(as_lists(found, 0), expected)


@pytest.mark.slow
@pytest.mark.parametrize("xla", [False, True])
def test_alone_and_compiled_equal_eager(xla: bool) -> None:
    table = random_table(7, batch=len(TERMS), length=LENGTH, vocab=VOCAB)
    limits, terms = np.array([9, 8, 7, 9, 6], "int32"), array_of(TERMS)
    eager = search(table, terms, limits, 3)
    compiled = traced(lambda *given: search(*given, 3), jit_compile=xla)(table, terms, limits)
    np.testing.assert_array_equal(compiled.ids, eager.ids)
    np.testing.assert_array_equal(compiled.notes[TERM], eager.notes[TERM])
    np.testing.assert_allclose(compiled.scores, eager.scores, rtol=1e-5)
    for one in range(1, len(TERMS), 2):
        rows = slice(one, one + 1)
        alone = search(table[rows], terms[rows], limits[rows], 3)
        np.testing.assert_array_equal(alone.ids[0], eager.ids[one])
        np.testing.assert_array_equal(alone.scores[0], eager.scores[one])

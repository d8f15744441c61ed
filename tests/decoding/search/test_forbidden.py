"""Outputs without forbidden phrases, against a search with Python lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_beam_search
from spelling_tokens import PIECES, few_tokens, text_of
from spelt_prefixes import Given, allowed, is_given, prefix_of
from table_model import TableModel, as_lists, assert_same, random_table

from t2t_phrase.compile import traced
from t2t_phrase.decoding.padding import padded_array
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.forbidden import forbidding_decoder
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.decoding.search.prefix import prefix_decoder
from t2t_phrase.decoding.terms import joined_edges, phrase_edges

LENGTH, VOCAB = 7, len(PIECES)
PHRASES = [["ab"], ["a ab", "b"], ["aa.", "ab b"], []]


def edges_of(phrases: list[list[str]]) -> np.ndarray:
    texts = few_tokens()
    rows = [joined_edges(own, lambda phrase: phrase_edges(phrase, texts)) for own in phrases]
    return padded_array(rows, len(rows), 2, last=3)


def completes(prefix: tuple[int, ...], token: int, phrases: list[str]) -> bool:
    """Return whether a token completes a phrase, by the definition."""
    if not PIECES[token]:
        return False
    text = text_of((*prefix, token))
    for phrase in phrases:
        # It begins with a token, at the beginning, after a blank, or after punctuation.
        begins = {
            len(text_of(prefix[:start]))
            for start in range(len(prefix) + 1)
            if text_of(prefix[:start])[-1:] in ("", " ", ".")
        }
        for begin in begins | {at for at, char in enumerate(text) if char == " "}:
            if text[begin:].removeprefix(" ") == phrase:
                return True
    return False


def search(table: Any, edges: Any, beam_size: int) -> Hypotheses:
    batch = table.shape[0]
    decoder = TableModel(table).decoder(beam_size)
    ends_word = few_tokens().tables.ends_word
    return beam_search(
        plain_expansion(forbidding_decoder(decoder, edges, ends_word, beam_size)),
        max_lengths=np.full(batch, LENGTH, "int32"),
        length=LENGTH,
        beam_size=beam_size,
        alpha=0.6,
    )


@pytest.mark.parametrize(("seed", "beam_size"), [(0, 1), (1, 3), (2, 5)])
def test_hypotheses_are_those_of_the_definition(seed: int, beam_size: int) -> None:
    table = random_table(seed, batch=len(PHRASES), length=LENGTH, vocab=VOCAB, eos=1.0)
    # So that forbidden phrases are likely; padding and unknown words are no text.
    table[..., [5, 7, 8]] += 2
    table[..., [0, 2]] -= 50
    found = search(table, edges_of(PHRASES), beam_size)
    for sentence, phrases in enumerate(PHRASES):
        log_probs = TableModel(table).log_probs(sentence)

        def masked(
            prefix: tuple[int, ...], log_probs: Any = log_probs, own: Any = phrases
        ) -> list[float]:
            values = log_probs(prefix)
            return [-np.inf if completes(prefix, i, own) else v for i, v in enumerate(values)]

        expected = reference_beam_search.search(
            masked, max_length=LENGTH, beam_size=beam_size, alpha=0.6
        )
        assert_same(as_lists(found, sentence)[: len(expected)], expected)
    plain = TableModel(table).search(
        beam_size=beam_size, max_lengths=np.full(4, LENGTH, "int32"), length=LENGTH, alpha=0.6
    )
    assert np.any(np.asarray(plain.ids)[:3] != np.asarray(found.ids)[:3])
    np.testing.assert_array_equal(plain.ids[3], found.ids[3])


# A word that follows a blank, a word that is completed, one that is given, and a phrase of which
# the beginning is given.
BEGUN: list[Given] = [((6,), " "), ((), " a"), ((), " ab"), ((6,), " b")]
BANS = [["ab"], ["ab"], ["ab"], ["a b."]]


@pytest.mark.parametrize(("seed", "beam_size"), [(0, 1), (1, 4)])
def test_only_what_is_given_may_have_a_phrase(seed: int, beam_size: int) -> None:
    table = random_table(seed, batch=len(BEGUN), length=LENGTH, vocab=VOCAB, eos=1.0)
    table[..., [5, 8, 9]] += 3
    table[..., [0, 2]] -= 50
    tables = few_tokens().tables
    begun = prefix_decoder(
        TableModel(table).decoder(beam_size), prefix_of(BEGUN), tables.ranks, beam_size
    )
    found = beam_search(
        plain_expansion(forbidding_decoder(begun, edges_of(BANS), tables.ends_word, beam_size)),
        max_lengths=np.full(len(BEGUN), LENGTH, "int32"),
        length=LENGTH,
        beam_size=beam_size,
        alpha=0.6,
    )
    for sentence, (given, phrases) in enumerate(zip(BEGUN, BANS, strict=True)):
        log_probs = TableModel(table).log_probs(sentence)

        def masked(
            prefix: tuple[int, ...],
            log_probs: Any = log_probs,
            given: Given = given,
            phrases: list[str] = phrases,
        ) -> list[float]:
            return [
                value
                if allowed(prefix, given, token)
                and (is_given(prefix, given, token) or not completes(prefix, token, phrases))
                else -np.inf
                for token, value in enumerate(log_probs(prefix))
            ]

        expected = reference_beam_search.search(
            masked, max_length=LENGTH, beam_size=beam_size, alpha=0.6
        )
        assert_same(as_lists(found, sentence)[: len(expected)], expected)


@pytest.mark.slow
@pytest.mark.parametrize("xla", [False, True])
def test_alone_and_compiled_equal_eager(xla: bool) -> None:
    table = random_table(4, batch=len(PHRASES), length=LENGTH, vocab=VOCAB)
    edges = edges_of(PHRASES)
    eager = search(table, edges, 3)
    compiled = traced(lambda *given: search(*given, 3), jit_compile=xla)(table, edges)
    np.testing.assert_array_equal(compiled.ids, eager.ids)
    np.testing.assert_allclose(compiled.scores, eager.scores, rtol=1e-5)
    for one in range(1, len(PHRASES), 2):
        alone = search(table[one : one + 1], edges_of([PHRASES[one]]), 3)
        np.testing.assert_array_equal(alone.ids[0], eager.ids[one])

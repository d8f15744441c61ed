"""Outputs that begin with a given text, against a search with Python lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_beam_search
from spelling_tokens import few_tokens
from spelt_prefixes import TEXTS, Given, allowed, prefix_of
from table_model import TableModel, as_lists, assert_same, random_table

from t2t_phrase.compile import traced
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.decoding.search.prefix import Prefix, prefix_decoder
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.token_texts import without_dead_ends

LENGTH, VOCAB = 7, len(TEXTS)
# Tokens before the last word, and what of it is given: within a word, at its end, a blank after
# it, tokens only, nothing.
PREFIXES: list[Given] = [((6,), " ab"), ((), " aab"), ((8, 5), " "), ((8, 4), ""), ((), "")]


def decoder_of(table: Any, given: Prefix, beam_size: int) -> BatchDecoder:
    ranks = few_tokens().tables.ranks
    return prefix_decoder(TableModel(table).decoder(beam_size), given, ranks, beam_size)


def search(table: Any, given: Prefix, limits: Any, beam_size: int) -> Hypotheses:
    return beam_search(
        plain_expansion(decoder_of(table, given, beam_size)),
        max_lengths=limits,
        length=LENGTH,
        beam_size=beam_size,
        alpha=0.6,
    )


@pytest.mark.parametrize(("seed", "beam_size"), [(0, 1), (1, 3), (2, 5)])
def test_hypotheses_and_scores_are_those_of_the_definition(seed: int, beam_size: int) -> None:
    table = random_table(seed, batch=len(PREFIXES), length=LENGTH, vocab=VOCAB, eos=2.0)
    found = search(table, prefix_of(PREFIXES), np.full(len(PREFIXES), LENGTH, "int32"), beam_size)
    for sentence, given in enumerate(PREFIXES):
        tokens, word = given
        log_probs = TableModel(table).log_probs(sentence)

        def masked(
            prefix: tuple[int, ...], log_probs: Any = log_probs, own: Given = given
        ) -> list[float]:
            values = log_probs(prefix)
            return [v if allowed(prefix, own, i) else -np.inf for i, v in enumerate(values)]

        expected = reference_beam_search.search(
            masked, max_length=LENGTH, beam_size=beam_size, alpha=0.6
        )
        actual = as_lists(found, sentence)
        assert_same(actual[: len(expected)], expected)
        for ids, _ in actual[: len(expected)]:
            assert ids[: len(tokens)] == tokens
            assert "".join(TEXTS[token] for token in ids[len(tokens) :]).startswith(word)


def test_without_prefixes_the_search_is_the_plain_one() -> None:
    table = random_table(3, batch=2, length=LENGTH, vocab=VOCAB)
    limits = np.array([LENGTH, 4], "int32")
    found = search(table, prefix_of([((), ""), ((), "")]), limits, 3)
    plain = TableModel(table).search(beam_size=3, max_lengths=limits, length=LENGTH, alpha=0.6)
    np.testing.assert_array_equal(found.ids, plain.ids)
    np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("xla", [False, True])
def test_alone_and_compiled_equal_eager(xla: bool) -> None:
    table = random_table(4, batch=len(PREFIXES), length=LENGTH, vocab=VOCAB)
    limits, given = np.full(len(PREFIXES), LENGTH, "int32"), prefix_of(PREFIXES)
    eager = search(table, given, limits, 3)
    compiled = traced(
        lambda table, *given: search(table, Prefix(*given), limits, 3), jit_compile=xla
    )(table, *given)
    np.testing.assert_array_equal(compiled.ids, eager.ids)
    np.testing.assert_allclose(compiled.scores, eager.scores, rtol=1e-5)
    for one in range(1, len(PREFIXES), 2):
        alone = search(table[one : one + 1], prefix_of([PREFIXES[one]]), limits[:1], 3)
        np.testing.assert_array_equal(alone.ids[0], eager.ids[one])
        np.testing.assert_allclose(alone.scores[0], eager.scores[one], rtol=1e-6)


def test_paths_that_cannot_complete_the_word_are_left_out() -> None:
    texts = few_tokens()
    word = b" a.a"
    edges = texts.edges(word)
    ends = {at for at in range(4) if texts.ranks_beginning_with(word[at:])[0] < 0}
    assert without_dead_ends(edges, ends) == []
    kept = without_dead_ends(edges, {2})
    assert {(edge.start, edge.end) for edge in kept} == {(0, 1), (0, 2), (1, 2)}
    assert EOS_ID not in {edge.token for edge in kept}

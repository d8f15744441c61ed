"""The coverage penalty against plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import reference_beam_search as reference
from keras import ops
from table_model import STATES, TableModel, as_lists, assert_same, random_table

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.coverage import FLOOR, covering_decoder
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.decoding.search.source_attention import SourceAttention
from t2t_phrase.layers.attention.layout import Layout, Units
from t2t_phrase.special_ids import EOS_ID

LENGTH, VOCAB, SOURCE, HEADS, BEAMS, WEIGHT = 6, 8, 4, 2, 4, 0.8
LIMITS = np.array([6, 3, 6], "int32")
TABLE = random_table(0, len(LIMITS), LENGTH, VOCAB, eos=1.0)
# Attention by sentence, time and the sum of tokens: a softmax of each head over the source.
WEIGHTS = np.random.default_rng(1).gamma(0.2, size=(3, LENGTH, HEADS, STATES, SOURCE))
WEIGHTS = (WEIGHTS / WEIGHTS.sum(-1, keepdims=True)).astype("float32")
REAL = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1]], bool)
ATTENTION = SourceAttention(
    (("cross", 0, Layout(num_heads=HEADS, rows=(Units(1),), columns=(Units(1),))),)
)


def search(table: Any, weights: Any) -> Hypotheses:
    plain = TableModel(table).decoder(BEAMS)

    def step(ids: Any, index: Any, cache: Any) -> Any:
        found = plain.step(ids, index, cache)
        now = ops.take(weights, index, axis=1)  # (B, H, STATES, S)
        rows = ops.broadcast_to(found.cache["sum"][:, None, :, None], (3, HEADS, BEAMS, 1))
        return found._replace(weights={"cross": [ops.take_along_axis(now, rows, axis=2)]})

    decoder = covering_decoder(
        plain._replace(step=step), ATTENTION, {}, REAL, beam_size=BEAMS, weight=WEIGHT
    )
    return beam_search(
        plain_expansion(decoder), max_lengths=LIMITS, length=LENGTH, beam_size=BEAMS, alpha=0.6
    )


def penalty_of(sentence: int, ids: tuple[int, ...]) -> float:
    """Return Eq. (14)'s second term for a whole output."""
    covered = np.zeros(SOURCE)
    for time in range(len(ids)):
        covered += WEIGHTS[sentence, time, :, sum(ids[:time]) % STATES].mean(0)
    used = [min(max(covered[i], FLOOR), 1.0) for i in range(SOURCE) if REAL[sentence, i]]
    return WEIGHT * sum(map(math.log, used))


def by_loops(sentence: int, limit: int) -> list[tuple[tuple[int, ...], float]]:
    """Return the results of the plain search with another score of what has ended."""
    log_probs = TableModel(TABLE).log_probs(sentence)
    alive: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    finished: list[tuple[tuple[int, ...], float]] = []
    for time in range(limit):
        found = [((*p, t), s + x) for p, s in alive for t, x in enumerate(log_probs(p))]
        found = sorted(found, key=lambda item: -item[1])[: 2 * BEAMS]
        alive = [item for item in found if item[0][-1] != EOS_ID][:BEAMS]
        finished += [
            (p, s / reference.penalty(time + 1, 0.6) + penalty_of(sentence, p))
            for p, s in found
            if p[-1] == EOS_ID
        ]
        finished = sorted(finished, key=lambda item: -item[1])[:BEAMS]
        if len(finished) == BEAMS and finished[-1][1] > alive[0][1] / reference.penalty(limit, 0.6):
            break
    return finished


def test_scores_and_order_are_those_of_the_equation() -> None:
    graph, xla = (compiled(search, xla=xla)(TABLE, WEIGHTS) for xla in (False, True))
    np.testing.assert_array_equal(graph.ids, xla.ids)
    np.testing.assert_allclose(graph.scores, xla.scores, rtol=1e-5)
    changed = 0
    for sentence, limit in enumerate(LIMITS.tolist()):
        expected = by_loops(sentence, limit)
        assert_same(as_lists(graph, sentence), expected)
        plain = reference.search(
            TableModel(TABLE).log_probs(sentence), max_length=limit, beam_size=BEAMS, alpha=0.6
        )
        changed += [ids for ids, _ in plain] != [ids for ids, _ in expected]
    assert changed, "the penalty should change the order"

"""A model that is a table of random logits, for searches; no weights, no TensorFlow."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import reference_beam_search as reference
from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses, beam_search
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.models.base import Step
from t2t_phrase.special_ids import EOS_ID

STATES = 5


@dataclasses.dataclass(frozen=True)
class TableModel:
    """Logits (B, L, STATES, V, V) by sentence, time, a sum of all tokens so far, and last token.

    The sum is kept in the cache, so that a beam that is continued with another's cache shows.
    """

    table: Any

    def decoder(self, beam_size: int) -> BatchDecoder:
        start = {"sum": ops.zeros((self.table.shape[0], beam_size), "int32")}
        return BatchDecoder(self.step, start, self.reorder)

    def step(self, ids: Any, index: Any, cache: Any) -> Step:
        total = ops.mod(cache["sum"] + ids, STATES)
        now = ops.take(self.table, index, axis=1)  # (B, STATES, V, V)
        batch, states, vocab, _ = now.shape
        rows = ops.reshape(now, (batch, states * vocab, vocab))
        logits = ops.take_along_axis(rows, (total * vocab + ids)[..., None], axis=1)
        return Step(logits, {"sum": total}, weights={})

    def reorder(self, cache: Any, parents: Any) -> Any:
        return {"sum": ops.take_along_axis(cache["sum"], parents, axis=1)}

    def log_probs(self, sentence: int) -> reference.LogProbs:
        def of_prefix(prefix: reference.Prefix) -> list[float]:
            last = prefix[-1] if prefix else 0
            row = np.asarray(self.table, "float64")[
                sentence, len(prefix), sum(prefix) % STATES, last
            ]
            top = row.max()
            return (row - top - np.log(np.exp(row - top).sum())).tolist()

        return of_prefix

    def search(self, *, beam_size: int, min_length: int = 0, **options: Any) -> Hypotheses:
        expansion = plain_expansion(self.decoder(beam_size), min_length=min_length)
        return beam_search(expansion, beam_size=beam_size, **options)


def random_table(seed: int, batch: int, length: int, vocab: int, eos: float = 0.0) -> np.ndarray:
    """Return logits; a higher `eos` makes outputs end earlier."""
    rng = np.random.default_rng(seed)
    table = 2 * rng.normal(size=(batch, length, STATES, vocab, vocab)).astype("float32")
    table[..., EOS_ID] += eos
    return table


def as_lists(found: Hypotheses, sentence: int) -> list[tuple[tuple[int, ...], float]]:
    """Return the hypotheses that are no placeholders, each without the zeros behind its EOS."""
    listed = []
    rows = zip(np.asarray(found.ids[sentence]), np.asarray(found.scores[sentence]), strict=True)
    for ids, score in rows:
        if score > WORST:
            ids = ids.tolist()
            end = ids.index(EOS_ID) + 1 if EOS_ID in ids else None
            if end is not None:
                assert not any(ids[end:])
            listed.append((tuple(ids[:end]), float(score)))
    return listed


def assert_same(actual: list, expected: list) -> None:
    """Compare lists of (ids, score)."""
    assert [ids for ids, _ in actual] == [ids for ids, _ in expected]
    np.testing.assert_allclose(
        [score for _, score in actual], [score for _, score in expected], atol=1e-4
    )

"""A tiny lexical model and alignment model with random weights, and what they say of prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import small_alignment_rnns
from random_weights import randomize
from reference_alignment_search import Found
from small_phrase_models import SMALL

from t2t_phrase import registry
from t2t_phrase.models.aligned_pair import AlignedPair
from t2t_phrase.models.alignment_assisted import with_alignment_heads
from t2t_phrase.models.alignment_model import with_jumps
from t2t_phrase.models.alignment_model_rnn import AlignmentModelRnn
from t2t_phrase.models.phrase_transformer import with_phrase_attention
from t2t_phrase.ops.jumps import MOST

VOCAB = 19


def make_pair(kind: str = "plain", *, near: int = 3, vocab_size: int = VOCAB) -> AlignedPair:
    """Return a pair of random models.

    Args:
        kind: "plain"; "phrases": the lexical model has phrase attention; "rnn_words", "rnn_jumps"
            and "rnns": the lexical model, the alignment model or both are recurrent.
        near: the alignment model prefers jumps up to so far, and some of them by much.
        vocab_size: of the shared vocabulary.
    """
    lexical, alignment = (
        registry.models[hparams.model].from_hparams(hparams, vocab_size=vocab_size)
        for hparams in _hparams(kind)
    )
    randomize(lexical, seed=1)
    randomize(alignment, seed=2)
    # (D, jumps), or (jumps, D) if it is recurrent.
    recurrent = isinstance(alignment, AlignmentModelRnn)
    variable = alignment.softmax.kernel if recurrent else alignment.jump_map.kernel
    kernel = np.array(variable)
    own = slice(MOST - near, MOST + near + 1)
    kernel[(own, slice(None)) if recurrent else (slice(None), own)] *= 8 if recurrent else 4
    variable.assign(kernel)
    return AlignedPair(lexical, alignment)


def _hparams(kind: str) -> tuple[Any, Any]:
    """Return those of both models."""
    base: Any = with_phrase_attention(SMALL, "interleaved_queryk") if kind == "phrases" else SMALL
    words: Any = with_alignment_heads(base)
    jumps: Any = with_jumps(SMALL)
    if kind in ("rnn_words", "rnns"):
        words = small_alignment_rnns.LEXICAL["feeding"]
    if kind in ("rnn_jumps", "rnns"):
        jumps = small_alignment_rnns.JUMPS["jumps"]
    return words, jumps


class Prefixes:
    """What the models say of one source, from whole prefixes, without any cache.

    Args:
        pair: the models.
        source: ids, EOS included.
    """

    def __init__(self, pair: AlignedPair, source: Sequence[int]) -> None:
        self.pair = pair
        self.source = np.array(source, "int32")

    def places(self, found: Sequence[Found]) -> list[list[float]]:
        """Return the log-probabilities of the next position after each hypothesis."""
        features = self._features([f.tokens for f in found], [(*f.places, 0) for f in found])
        jumps = _log_softmax(np.asarray(self.pair.alignment(features), "float64")[:, -1])
        rows = []
        for hypothesis, row in zip(found, jumps, strict=True):
            last = hypothesis.places[-1] if hypothesis.places else -1
            moves = [max(-MOST, min(MOST, s - last)) for s in range(len(self.source))]
            rows.append([float(row[move + MOST]) for move in moves])
        return rows

    def words(self, pairs: Sequence[tuple[Found, int]]) -> list[list[float]]:
        """Return the log-probabilities of the next token of each hypothesis at a position."""
        features = self._features(
            [f.tokens for f, _ in pairs], [(*f.places, place) for f, place in pairs]
        )
        logits = np.asarray(self.pair.lexical(features), "float64")[:, -1]
        return _log_softmax(logits).tolist()

    def _features(self, tokens: Sequence[Any], places: Sequence[Any]) -> dict[str, np.ndarray]:
        return {
            "inputs": np.tile(self.source, (len(tokens), 1)),
            "targets": np.array([(*row, 1) for row in tokens], "int32"),
            "alignment": np.array(places, "int32"),
        }


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    top = logits.max(axis=-1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))

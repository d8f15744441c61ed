"""The states of a frozen encoder for sentences and words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.batches import make_batches
from t2t_phrase.decoding.out_of_memory import explained
from t2t_phrase.features import IDS
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.probing.inputs import EncoderInputs
from t2t_phrase.probing.vectors import sentence_vectors, word_vectors

# Tokens encoded at once.
BATCH_TOKENS = 4096


@dataclasses.dataclass(frozen=True)
class States:
    """The vectors of a split.

    Attributes:
        sentences: (N, D) float32.
        words: for each sentence (W, D) float32; None if not requested.
    """

    sentences: np.ndarray
    words: list[np.ndarray] | None


class StateReader:
    """Computes states; the compiled function is kept from call to call.

    Args:
        model: any model that has `source_states`.
        batch_size: tokens encoded at once, padding included.
        xla: see `compile.compiled`.
    """

    def __init__(
        self, model: EncoderDecoder, *, batch_size: int = BATCH_TOKENS, xla: bool | None = None
    ) -> None:
        self._batch_size = batch_size

        def run(features: Any, words: Any, ends: Any = None) -> Any:
            states = model.source_states(features)
            vectors = word_vectors(states, words, ends)
            return sentence_vectors(states, features[IDS["source"]]), vectors

        self._run = compiled(run, variables=model.variables, xla=xla)

    def read(
        self,
        inputs: EncoderInputs,
        *,
        with_words: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> States:
        """Return the vectors of all sentences.

        Args:
            inputs: the sentences.
            with_words: whether vectors of words are kept.
            progress: called after each batch with the number of sentences done so far.

        Raises:
            OutOfMemoryError: a batch does not fit in memory.
        """
        count = len(inputs.side.ids)
        sentences: list[Any] = [None] * count
        words: list[Any] = [None] * count
        done = 0
        # Several words may share a token, so there may be more words than tokens.
        lengths = [max(map(len, pair)) for pair in zip(inputs.side.ids, inputs.words, strict=True)]
        for batch in make_batches(lengths, self._batch_size):
            with explained([line + 1 for line in batch.lines], batch.shape):
                spans = [batch.rows(inputs.words)]
                if inputs.ends is not None:
                    spans.append(batch.rows(inputs.ends))
                found = self._run(inputs.side.of_batch(batch), *spans)
                means, states = (np.asarray(of) for of in found)
            for row, line in enumerate(batch.lines):
                sentences[line] = means[row]
                if with_words:
                    # A copy: the view would keep the padding.
                    words[line] = states[row, : len(inputs.words[line])].copy()
            done += len(batch.lines)
            if progress is not None:
                progress(done)
        return States(np.stack(sentences), words if with_words else None)

"""A compiled search, with the weights of its model prepared for many batches."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.search.search_weights import prepare_weights
from t2t_phrase.models.base import EncoderDecoder


class PreparedSearch:
    """Compiles a search and prepares the weights that it reads.

    Args:
        search: maps `SearchWeights`, features and a seed to `Hypotheses`. It may treat the weights
            as constant, see `ops.quantized.quantized_product`.
        model: the model that has these weights.
        quantized: whether to multiply by 8-bit integers.
        xla: see `compile.compiled`.
    """

    def __init__(
        self,
        search: Callable[..., Any],
        model: EncoderDecoder,
        *,
        quantized: bool,
        xla: bool | None,
    ) -> None:
        self._compile = functools.partial(compiled, variables=model.variables, xla=xla)
        self._search, self._quantized = search, quantized
        self._prepare = self._compile(lambda: prepare_weights(model, quantized=quantized))
        self._sums = self._compile(
            lambda: ops.stack([ops.sum(ops.cast(v.value, "float32")) for v in model.variables])
        )
        self._known: np.ndarray | None = None
        self._run = self._compile(search)
        self._weights: Any = None

    def prepared(self) -> Callable[..., Any]:
        """Return the search for features and a seed, with the current weights of the model.

        Call it once for many batches: the model may have been trained since the last call.
        Quantising takes longer than other preparation, so it is repeated only if the weights have
        changed, which is detected by their sums.
        """
        if not self._quantized:
            return functools.partial(self._run, self._prepare())
        sums = np.asarray(self._sums())
        if self._known is None or not np.array_equal(sums, self._known):
            # Products in a function that has already been used would keep the previous weights.
            self._run = self._compile(self._search)
            self._weights, self._known = self._prepare(), sums
        return functools.partial(self._run, self._weights)

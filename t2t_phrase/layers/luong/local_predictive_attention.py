"""Luong's local-p attention."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.initializers import kernel_initializer, uniform
from t2t_phrase.layers.luong.local_attention import LocalAttention
from t2t_phrase.ops.linear import linear
from t2t_phrase.ops.product import operand
from t2t_phrase.ops.windows import gaussian


@keras.saving.register_keras_serializable(package="t2t_phrase")
class LocalPredictiveAttention(LocalAttention):
    """Local attention around a predicted position, which a Gaussian favours.

    Luong et al. (2015), local-p, Eq. (9) and (10):

        p_t = S sigmoid(v_p^T tanh(W_p h_t))
        a_t(s) = softmax_s(score(h_t, h_s)) exp(-(s - p_t)^2 / (2 sigma^2)),  sigma = D / 2

    The softmax is over the positions of the sentence that are at most D away from the one nearest
    to p_t; all others have the weight 0. The weights are not normalised again. p_t is learned
    through the Gaussian alone.

    Arguments and results are those of `LocalAttention`.

    Example:
        ```python
        attention = t2t_phrase.layers.LocalPredictiveAttention(
            units=32, window=2, score=t2t_phrase.layers.GeneralScore()
        )
        query, memory = keras.random.normal((2, 5, 32)), keras.random.normal((2, 7, 32))
        mask = (ops.arange(7) < ops.array([[7], [4]]))[:, None, None]  # (2, 1, 1, 7)
        hidden, weights = attention(query, memory, attention_mask=mask)  # (2, 5, 32), (2, 1, 5, 7)
        windows = attention.windows(query, attention.project_memory(memory), mask)
        predicted = windows.aligned  # (2, 5)
        ```
    """

    def build(self, query_shape: Any, memory_shape: Any) -> None:
        """Create all weights, including those of the prediction."""
        super().build(query_shape, memory_shape)
        self.position_kernel = self._weight("position_kernel", (self.units, self.units))
        self.position_vector = self._weight("position_vector", (self.units, 1))

    def _weight(self, name: str, shape: tuple[int, ...]) -> keras.Variable:
        initializer = uniform(self.initial_range) or kernel_initializer()
        return self.add_weight(name=name, shape=shape, initializer=initializer)

    def aligned(self, query: Any, lengths: Any, places: Any) -> Any:
        """Return the predicted p_t."""
        del places
        kernel = operand(self.position_kernel, self.compute_dtype)
        vector = operand(self.position_vector, self.compute_dtype)
        logits = linear(ops.tanh(linear(query, kernel)), vector)[..., 0]
        return ops.cast(lengths, "float32") * ops.sigmoid(ops.cast(logits, "float32"))

    @property
    def deviation(self) -> float:
        """$D / 2$."""
        return self.window / 2

    def shaped(self, weights: Any, window: Any, aligned: Any) -> Any:
        """Multiply the weights by the Gaussian."""
        return weights * gaussian(window, aligned, self.deviation)

"""Luong's score "location"."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.luong.score import Score
from t2t_phrase.ops.linear import linear
from t2t_phrase.ops.product import operand
from t2t_phrase.ops.scores import location_logits


@keras.saving.register_keras_serializable(package="t2t_phrase")
class LocationScore(Score):
    """$score_t = W_a h_t$, one number for each source position, whatever the token there.

    W_a has P rows. A shorter sentence uses the first ones; in a longer sentence, the tokens from P
    on are never attended to, as in the paper.

    Args:
        positions: P.
        initial_range: see `Score`.

    Call arguments and results are those of `Score`.

    Example:
        ```python
        query, memory = keras.random.normal((2, 5, 32)), keras.random.normal((2, 7, 32))
        score = t2t_phrase.layers.LocationScore(positions=50)
        logits = score(query, memory)  # (2, 5, 7)
        ```
    """

    scores_windows = False

    def __init__(self, *, positions: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if positions < 1:
            raise ValueError(f"positions must be at least 1, got {positions}.")
        self.positions = positions

    def build(self, query_shape: Any, memory_shape: Any = None) -> None:
        """Create W_a, transposed (U, P)."""
        self.kernel = self.add_map("kernel", (query_shape[-1], self.positions))
        self.built = True

    def project_query(self, query: Any) -> Any:
        """Return the scores of all P positions, (B, T, P)."""
        return linear(query, operand(self.kernel, self.compute_dtype))

    def logits(self, query: Any, keys: Any, length: Any) -> Any:
        """Return the scores of the S source positions."""
        del keys
        return location_logits(query, length)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "positions": self.positions}

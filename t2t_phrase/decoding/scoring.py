"""Forced decoding: how likely a model finds given translations.

Shapes: B sentences, S source length, T target length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.beam_search import EOS_ID
from t2t_phrase.decoding.search import Features
from t2t_phrase.decoding.translator import Encoder, make_batches
from t2t_phrase.ops.masks import padding_mask


def log_probabilities(model: Any, features: Features) -> Any:
    """Return (B,) float32: the log-probability of each target, EOS included, in nats.

    It is not divided by any length penalty.

    Args:
        model: a Transformer, see `models.transformer.Transformer`.
        features: "inputs", (B, S) int32, 0-padded, EOS at the end of each sentence, "targets",
            (B, T) int32, likewise, and what else the model reads of the source.
    """
    targets = features["targets"]
    hidden = model.decode(features, model.encode(features))
    nll = model.token_losses(hidden, targets)["nll"]  # (B, T)
    return -ops.sum(nll * ops.cast(padding_mask(targets), "float32"), axis=1)


class Scorer:
    """Scores pairs of lines with one model; what it compiled is kept from call to call.

    Args:
        model: see `log_probabilities`.
        encoder: the subword encoder of both languages.
        batch_size: tokens of the longer side scored at once, padding included.
        xla: see `compile.compiled`.
    """

    def __init__(
        self, model: Any, encoder: Encoder, *, batch_size: int = 4096, xla: bool | None = None
    ) -> None:
        self.encoder = encoder
        self.batch_size = batch_size
        self._run = compiled(lambda features: log_probabilities(model, features), xla=xla)

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[float]:
        """Return the log-probability of each target given its source, in the order of the pairs.

        Nothing is cut. An empty side counts as a sentence of no words, EOS alone.

        Args:
            pairs: (source, target).
            progress: called after each batch with the number of pairs done so far.
        """
        sources, targets = (
            [[*self.encoder.encode(pair[side]), EOS_ID] for pair in pairs] for side in (0, 1)
        )
        longer = [max(pair, key=len) for pair in zip(sources, targets, strict=True)]
        results = [0.0] * len(pairs)
        done = 0
        for batch in make_batches(longer, self.batch_size):
            shape = batch.inputs.shape
            features = {
                name: _padded([side[i] for i in batch.lines], shape)
                for name, side in (("inputs", sources), ("targets", targets))
            }
            scores = self._run(features)
            for line, score in zip(batch.lines, np.asarray(scores), strict=False):
                results[line] = float(score)
            done += len(batch.lines)
            if progress is not None:
                progress(done)
        return results


def _padded(sentences: Sequence[Sequence[int]], shape: tuple[int, ...]) -> np.ndarray:
    rows = np.zeros(shape, "int32")
    for row, ids in zip(rows, sentences, strict=False):
        row[: len(ids)] = ids
    return rows

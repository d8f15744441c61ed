"""Forced decoding: how likely a model finds given translations.

Shapes: B sentences, S source length, T target length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.search.plain_expansion import EOS_ID
from t2t_phrase.decoding.search.translate_ids import Features
from t2t_phrase.decoding.translator import (
    Encoder,
    encode_all,
    make_batches,
    no_phrases,
    padded,
    reads_phrases,
)
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
        self._reads_phrases = reads_phrases(model)
        self._run = compiled(
            lambda features: log_probabilities(model, features),
            variables=model.variables,
            xla=xla,
        )

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        phrases: Sequence[Sequence[str]] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[float]:
        """Return the log-probability of each target given its source, in the order of the pairs.

        Nothing is cut. An empty side counts as a sentence of no words, EOS alone.

        Args:
            pairs: (source, target).
            phrases: each source cut into its phrases, for a model that reads them.
            progress: called after each batch with the number of pairs done so far.

        Raises:
            UserError: the model reads phrases and there are none, or they do not fit the sources.
        """
        if self._reads_phrases and phrases is None:
            raise no_phrases()
        encoded, numbers = encode_all(self.encoder, [source for source, _ in pairs], phrases)
        sources = [[*ids, EOS_ID] for ids in encoded]
        targets = [[*self.encoder.encode(target), EOS_ID] for _, target in pairs]
        sides = {"inputs": sources, "targets": targets}
        if numbers is not None:
            sides["phrases"] = [[*n, n[-1] + 1 if n else 1] for n in numbers]
        longer = [max(pair, key=len) for pair in zip(sources, targets, strict=True)]
        results = [0.0] * len(pairs)
        done = 0
        for batch in make_batches(longer, self.batch_size):
            shape = batch.inputs.shape
            features = {
                name: padded([side[i] for i in batch.lines], shape) for name, side in sides.items()
            }
            scores = self._run(features)
            for line, score in zip(batch.lines, np.asarray(scores), strict=False):
                results[line] = float(score)
            done += len(batch.lines)
            if progress is not None:
                progress(done)
        return results

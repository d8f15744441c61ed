"""Forced decoding: how likely a model finds given translations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.batches import Batch, make_batches
from t2t_phrase.decoding.out_of_memory import explained
from t2t_phrase.decoding.search.source_attention import SourceAttention, strongest
from t2t_phrase.decoding.sides import (
    EncodedSide,
    FeatureTexts,
    check_features,
    encode_side,
    tokenize,
)
from t2t_phrase.decoding.word_links import word_links, words_of_text
from t2t_phrase.features import IDS, of_side
from t2t_phrase.models.base import EncoderDecoder, Features
from t2t_phrase.ops.masks import padding_mask
from t2t_phrase.text.alignments.pharaoh import Link
from t2t_phrase.text.vocabularies import Vocabularies


def log_probabilities(model: EncoderDecoder, features: Features) -> Any:
    """Return (B,) float32: the log-probability of each target, EOS included, in nats.

    It is not divided by any length penalty.

    Args:
        model: any encoder-decoder.
        features: of both sides, see `EncoderDecoder`.
    """
    tokens = model.token_log_probabilities(features)  # (B, T)
    return ops.sum(tokens * ops.cast(padding_mask(features["targets"]), "float32"), axis=1)


class Score(NamedTuple):
    """The score of a sentence pair.

    Attributes:
        log_probability: of the target given its source.
        links: between source and target words, if requested.
    """

    log_probability: float
    links: tuple[Link, ...] = ()


class Scorer:
    """Scores pairs of lines with one model; compiled functions are kept from call to call.

    Args:
        model: any encoder-decoder.
        vocabularies: of both sides.
        batch_size: tokens of the longer side scored at once, padding included.
        max_input_size: longer sources and targets are cut to this many tokens; 0: no limit.
        attention: of the model; gives the links of each pair. None: it gives no links.
        search: maps the features of a batch to scores, which replace those of the model, and to
            positions, which give links; see `search.forced_search`. None: the model scores.
        xla: see `compile.compiled`.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        vocabularies: Vocabularies,
        *,
        batch_size: int = 4096,
        max_input_size: int = 0,
        attention: SourceAttention | None = None,
        search: Callable[[Features], tuple[Any, Any]] | None = None,
        xla: bool | None = None,
    ) -> None:
        self.vocabularies = vocabularies
        self.batch_size = batch_size
        self.max_input_size = max_input_size
        self.features = model.hparams.features
        self._aligns = attention is not None or search is not None

        def run(features: Features) -> Any:
            if search is not None:
                return tuple(search(features))
            scores = log_probabilities(model, features)
            if attention is None:
                return scores, None
            weights = attention.accumulate(
                model.attention_weights(features), attention.partitions(model, features)
            )
            return scores, strongest(weights)

        self._run = compiled(run, variables=model.variables, xla=xla)

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        features: FeatureTexts | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[float]:
        """Return the log-probability of each target given its source, in the order of the pairs.

        An empty side counts as a sentence without words, which consists of EOS alone.

        Args:
            pairs: (source, target).
            features: the text of each feature that the model reads, of either side.
            progress: called after each batch with the number of pairs done so far.

        Raises:
            UserError: a feature is missing, or does not fit the sentences; or a text is not valid
                Unicode.
        """
        results = [0.0] * len(pairs)
        done = 0
        for batch, scores in self.batches(*self.encode(pairs, features)):
            for line, score in zip(batch.lines, scores, strict=True):
                results[line] = score.log_probability
            done += len(batch.lines)
            if progress is not None:
                progress(done)
        return results

    def encode(
        self, pairs: Sequence[tuple[str, str]], features: FeatureTexts | None = None
    ) -> tuple[EncodedSide, EncodedSide]:
        """Return the ids and features of both sides, cut to `max_input_size`; see `score`."""
        given = check_features(self.features, features or {}, len(pairs))
        sentences = [
            tokenize(
                encoder,
                [pair[number] for pair in pairs],
                starts=bool(self.features),
                name=f"{side} line",
            )
            for number, (side, encoder) in enumerate(zip(IDS, self.vocabularies, strict=True))
        ]
        source, target = (
            encode_side(
                side,
                sentences[number],
                of_side(self.features, side),
                given,
                others=sentences[1 - number],
                max_tokens=self.max_input_size,
                keep_empty=True,
            )
            for number, side in enumerate(IDS)
        )
        if self._aligns:
            source, target = (
                dataclasses.replace(
                    own,
                    words=[
                        words_of_text(encoder, pair[number], ids[:-1])
                        for pair, ids in zip(pairs, own.ids, strict=True)
                    ],
                )
                for number, (own, encoder) in enumerate(
                    zip((source, target), self.vocabularies, strict=True)
                )
            )
        return source, target

    def batches(
        self,
        source: EncodedSide,
        target: EncodedSide,
        *,
        done: Collection[int] = (),
        first: int = 0,
    ) -> Iterator[tuple[Batch, list[Score]]]:
        """Yield each batch with the scores of its pairs, longest pairs first.

        Args:
            source: from `encode`.
            target: from `encode`.
            done: numbers of pairs to leave out.
            first: number, from 0, of the first pair in its file, for messages.

        Raises:
            OutOfMemoryError: a batch does not fit.
        """
        lengths = [
            0 if i in done else max(map(len, pair))
            for i, pair in enumerate(zip(source.ids, target.ids, strict=True))
        ]
        for batch in make_batches(lengths, self.batch_size):
            with explained([first + i + 1 for i in batch.lines], batch.shape):
                scores, positions = self._run({**source.of_batch(batch), **target.of_batch(batch)})
                scores = np.asarray(scores)
                positions = np.asarray(positions) if self._aligns else None
            yield (
                batch,
                [
                    Score(
                        float(scores[row]),
                        ()
                        if positions is None
                        else word_links(
                            positions[row, : len(target.words[line])].tolist(),
                            target.words[line],
                            source.words[line],
                        ),
                    )
                    for row, line in enumerate(batch.lines)
                ],
            )

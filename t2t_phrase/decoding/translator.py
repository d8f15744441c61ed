"""Translates lines of text: batches by length, searches, restores the order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.beam_search import EOS_ID, WORST
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search import output_limits, search

# Padded lengths are multiples of this, so that few shapes are compiled.
LENGTH_STEP = 8


class Encoder(Protocol):
    """Turns text into ids and back."""

    def encode(self, text: str) -> list[int]:
        """Return ids without EOS."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """A translation and its score: log-probability over length penalty, see `beam_search`."""

    text: str
    score: float


@dataclasses.dataclass(frozen=True)
class Batch:
    """Sentences of like length: their line numbers (from 0) and their ids (rows, S)."""

    lines: tuple[int, ...]
    inputs: np.ndarray


class Translator:
    """Translates with one model; what it compiled is kept from call to call.

    Args:
        model: see `decoding.search.search`.
        encoder: the subword encoder of both languages.
        hparams: the options of decoding.
        xla: see `compile.compiled`.
    """

    def __init__(
        self, model: Any, encoder: Encoder, hparams: DecodeHParams, *, xla: bool | None = None
    ) -> None:
        self.encoder = encoder
        self.hparams = hparams

        def run(inputs: Any, seed: Any) -> Any:
            limits = output_limits(inputs, hparams)
            longest = inputs.shape[1] + hparams.extra_length
            longest = min(longest, hparams.max_length) if hparams.max_length else longest
            return search(model, inputs, limits, hparams, length=longest, seed=seed)

        self._run = compiled(run, xla=xla)

    def translate(
        self, lines: Sequence[str], *, progress: Callable[[int], None] | None = None
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses of every line, best first, in the order of the lines.

        A line without words has one hypothesis, the empty one.

        Args:
            lines: sentences.
            progress: called after each batch with the number of lines done so far.
        """
        sentences = [self.encode(line) for line in lines]
        results = [[Hypothesis("", 0.0)] for _ in lines]
        done = sum(not ids for ids in sentences)
        for number, batch in enumerate(make_batches(sentences, self.hparams.batch_size)):
            ids, scores = self._run(batch.inputs, np.int32(number))
            for line, row, row_scores in zip(
                batch.lines, np.asarray(ids), np.asarray(scores), strict=False
            ):
                results[line] = self._hypotheses(row, row_scores)
            done += len(batch.lines)
            if progress is not None:
                progress(done)
        return results

    def encode(self, line: str) -> list[int]:
        """Return the ids of a line with EOS, cut to `max_input_size`; [] if it has no words."""
        ids = self.encoder.encode(line)
        if self.hparams.max_input_size:
            ids = ids[: self.hparams.max_input_size - 1]
        return [*ids, EOS_ID] if ids else []

    def _hypotheses(self, ids: np.ndarray, scores: np.ndarray) -> list[Hypothesis]:
        count = len(scores) if self.hparams.return_beams else 1
        # Lists of finished hypotheses that never filled up end in placeholders.
        real = max(1, int((scores[:count] > WORST / 2).sum()))
        return [
            Hypothesis(self.encoder.decode(row.tolist()), float(score))
            for row, score in zip(ids[:real], scores[:real], strict=True)
        ]


def make_batches(sentences: Sequence[Sequence[int]], batch_size: int) -> Iterator[Batch]:
    """Yield batches of at most `batch_size` tokens (or one sentence), longest sentences first.

    The shapes are few: lengths are multiples of LENGTH_STEP, and all batches of a length have the
    same number of rows, the last ones filled up to a power of two with empty rows.
    """
    order = sorted((i for i, ids in enumerate(sentences) if ids), key=lambda i: -len(sentences[i]))
    while order:
        length = -(-len(sentences[order[0]]) // LENGTH_STEP) * LENGTH_STEP
        rows = min(max(1, batch_size // length), 1 << (len(order) - 1).bit_length())
        chosen = order[:rows]
        inputs = np.zeros((rows, length), "int32")
        for row, i in enumerate(chosen):
            inputs[row, : len(sentences[i])] = sentences[i]
        yield Batch(tuple(chosen), inputs)
        order = order[rows:]

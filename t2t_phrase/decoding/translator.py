"""Translates lines of text: batches by length, searches, restores the order."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from t2t_phrase.compile import compiled
from t2t_phrase.config import UserError
from t2t_phrase.decoding.batches import Batch, make_batches
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.out_of_memory import explained
from t2t_phrase.decoding.search.beam_search import WORST
from t2t_phrase.decoding.search.translate_ids import MakeExpansion, translate_ids
from t2t_phrase.decoding.sides import (
    EncodedSide,
    FeatureTexts,
    check_features,
    encode_side,
    tokenize,
)
from t2t_phrase.features import of_side
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.text.vocabularies import Vocabularies


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """A translation and its score.

    Attributes:
        text: one line, without tabs, whatever bytes the model put together.
        score: see `Hypotheses.scores`; 0 for the empty translation of an empty line. Greedy search
            and sampling give the plain log-probability.
        tokens: subwords, EOS included.
        positions: with an alignment model, at how many source positions these were evaluated, all
            of them together.
    """

    text: str
    score: float
    tokens: int = 0
    positions: int = 0


# The translation of a line without words.
NOTHING = Hypothesis("", 0.0)


class Translator:
    """Translates with one model; what it compiled is kept from call to call.

    Args:
        model: any encoder-decoder.
        vocabularies: of both sides.
        hparams: the options of decoding.
        make_expansion: another way of continuing hypotheses, see `search.translate_ids.search`.
        xla: see `compile.compiled`.

    Raises:
        UserError: plain beam search cannot translate with the model, and there is no other way.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        vocabularies: Vocabularies,
        hparams: DecodeHParams,
        *,
        make_expansion: MakeExpansion | None = None,
        xla: bool | None = None,
    ) -> None:
        if make_expansion is None and model.cannot_translate:
            raise UserError(model.cannot_translate)
        self.vocabularies = vocabularies
        self.hparams = hparams
        self.features = of_side(model.hparams.features, "source")

        def run(folded: Any, features: Any, seed: Any) -> Any:
            return translate_ids(
                model,
                features,
                hparams,
                seed=seed,
                folded=folded,
                make_expansion=make_expansion,
            )

        self._fold = compiled(model.fold_weights, variables=model.variables, xla=xla)
        self._run = compiled(run, variables=model.variables, xla=xla)

    def translate(
        self,
        lines: Sequence[str],
        *,
        features: FeatureTexts | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses of every line, best first, in the order of the lines.

        A line without words has one hypothesis, the empty one.

        Args:
            lines: sentences.
            features: the text of each source feature that the model reads.
            progress: called after each batch with the number of lines done so far.

        Raises:
            UserError: a feature is missing, or does not fit the lines.
        """
        return self.translate_encoded(self.encode(lines, features), progress=progress)

    def encode(self, lines: Sequence[str], features: FeatureTexts | None = None) -> EncodedSide:
        """Return the ids and features of all lines, cut to `max_input_size`; see `translate`."""
        return encode_side(
            "source",
            tokenize(self.vocabularies.source, lines, starts=bool(self.features)),
            self.features,
            check_features(self.features, features or {}, len(lines)),
            max_tokens=self.hparams.max_input_size,
        )

    def translate_encoded(
        self, lines: EncodedSide, *, progress: Callable[[int], None] | None = None
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses of what `encode` returned."""
        results = [[NOTHING] for _ in lines.ids]
        done = sum(not ids for ids in lines.ids)
        for batch, found in self.batches(lines):
            for line, hypotheses in zip(batch.lines, found, strict=True):
                results[line] = hypotheses
            done += len(batch.lines)
            if progress is not None:
                progress(done)
        return results

    def batches(
        self,
        lines: EncodedSide,
        *,
        done: Collection[int] = (),
        number: int = 0,
        first: int = 0,
    ) -> Iterator[tuple[Batch, list[list[Hypothesis]]]]:
        """Yield each batch with the hypotheses of its lines, longest lines first.

        Lines without words are left out. If whole batches are left out as done, the others are
        those of a call that does everything.

        Args:
            lines: what `encode` returned.
            done: numbers of lines to leave out.
            number: of the first batch; it makes a difference when sampling.
            first: number, from 0, of the first line in its file, for messages.

        Raises:
            OutOfMemoryError: a batch does not fit.
        """
        # Anew in each call: the model may have been trained since the last one.
        folded = self._fold()
        lengths = [0 if i in done else len(ids) for i, ids in enumerate(lines.ids)]
        extra = min(self.hparams.extra_length, self.hparams.max_length or math.inf)
        parts = make_batches(lengths, self.hparams.batch_size, extra_length=int(extra))
        for seed, batch in enumerate(parts, start=number):
            with explained([first + i + 1 for i in batch.lines], batch.shape):
                found = self._run(folded, lines.of_batch(batch), np.int32(seed))
                ids, scores = np.asarray(found.ids), np.asarray(found.scores)
                notes = {name: np.asarray(note) for name, note in found.notes.items()}
            positions = notes.get("positions", np.zeros_like(ids)).sum(axis=-1)
            yield (
                batch,
                [
                    self._hypotheses(ids[row], scores[row], positions[row])
                    for row in range(len(batch.lines))
                ],
            )

    def _hypotheses(
        self, ids: np.ndarray, scores: np.ndarray, positions: np.ndarray
    ) -> list[Hypothesis]:
        count = len(scores) if self.hparams.return_beams else 1
        # Lists of finished hypotheses that never filled up end in placeholders.
        real = max(1, int((scores[:count] > WORST / 2).sum()))
        decode = self.vocabularies.target.decode
        return [
            Hypothesis(
                # A model may spell a line feed by its byte; that must not break the line.
                " ".join(decode(row.tolist()).split()),
                float(score),
                int(np.count_nonzero(row)),
                int(evaluated),
            )
            for row, score, evaluated in zip(
                ids[:real], scores[:real], positions[:real], strict=True
            )
        ]


def format_hypotheses(hypotheses: Sequence[Hypothesis], hparams: DecodeHParams) -> str:
    """Return one line: the texts, best first, each with its score if wanted, tab-separated."""
    fields = []
    for hypothesis in hypotheses:
        fields.append(hypothesis.text)
        if hparams.write_scores:
            fields.append(f"{hypothesis.score:.4f}")
    return "\t".join(fields)

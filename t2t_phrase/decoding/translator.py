"""Translates lines of text: batches by length, searches, restores the order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, cast

import numpy as np

from t2t_phrase.compile import compiled
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.beam_search import WORST
from t2t_phrase.decoding.search.plain_expansion import EOS_ID
from t2t_phrase.decoding.search.translate_ids import translate_ids

# Padded lengths are multiples of this, so that few shapes are compiled.
LENGTH_STEP = 8


class Encoder(Protocol):
    """Turns text into ids and back."""

    def encode(self, text: str) -> list[int]:
        """Return ids without EOS."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""


class PhraseEncoder(Encoder, Protocol):
    """Also knows which phrase of a sentence each id is in."""

    def encode_with_phrases(self, text: str, phrases: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return ids without EOS, and for each the number, from 1, of its phrase."""


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """A translation and its score: see `Hypotheses.scores` and, for greedy search, `sample`.

    Attributes:
        text: one line, without tabs, whatever bytes the model put together.
        score: 0 for the empty translation of an empty line.
        tokens: subwords, EOS included.
    """

    text: str
    score: float
    tokens: int = 0


@dataclasses.dataclass(frozen=True)
class EncodedLines:
    """Lines as ids.

    Attributes:
        ids: of each line, with EOS; [] for a line without words.
        lengths: of each line before it was cut, EOS included.
        cut: numbers (from 0) of the lines that `max_input_size` cut.
        phrases: for each id the number of its phrase, EOS being the last one; None: not asked for.
    """

    ids: list[list[int]]
    lengths: list[int]
    cut: list[int]
    phrases: list[list[int]] | None = None


@dataclasses.dataclass(frozen=True)
class Batch:
    """Sentences of like length: their line numbers (from 0) and their ids (rows, S)."""

    lines: tuple[int, ...]
    inputs: np.ndarray

    def features(self, phrases: Sequence[Sequence[int]] | None) -> dict[str, np.ndarray]:
        """Return what a model reads of the source, `phrases` being those of all lines."""
        if phrases is None:
            return {"inputs": self.inputs}
        chosen = [phrases[line] for line in self.lines]
        return {"inputs": self.inputs, "phrases": padded(chosen, self.inputs.shape)}


class Translator:
    """Translates with one model; what it compiled is kept from call to call.

    Args:
        model: see `decoding.search.translate_ids.search`.
        encoder: the subword encoder of both languages.
        hparams: the options of decoding.
        xla: see `compile.compiled`.
    """

    def __init__(
        self, model: Any, encoder: Encoder, hparams: DecodeHParams, *, xla: bool | None = None
    ) -> None:
        self.encoder = encoder
        self.hparams = hparams
        self._reads_phrases = reads_phrases(model)

        def run(folded: Any, features: Any, seed: Any) -> Any:
            return translate_ids(model, features, hparams, seed=seed, folded=folded)

        self._fold = compiled(model.fold_weights, variables=model.variables, xla=xla)
        self._run = compiled(run, variables=model.variables, xla=xla)

    def translate(
        self,
        lines: Sequence[str],
        *,
        phrases: Sequence[Sequence[str]] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses of every line, best first, in the order of the lines.

        A line without words has one hypothesis, the empty one.

        Args:
            lines: sentences.
            phrases: each sentence cut into its phrases, for a model that reads them.
            progress: called after each batch with the number of lines done so far.

        Raises:
            UserError: the model reads phrases and there are none, or they do not fit the lines.
        """
        return self.translate_encoded(self.encode_lines(lines, phrases), progress=progress)

    def translate_encoded(
        self, lines: EncodedLines, *, progress: Callable[[int], None] | None = None
    ) -> list[list[Hypothesis]]:
        """Do the same for what `encode_lines` returned.

        Raises:
            UserError: the model reads phrases and there are none.
        """
        if self._reads_phrases and lines.phrases is None:
            raise no_phrases()
        results = [[Hypothesis("", 0.0)] for _ in lines.ids]
        done = sum(not ids for ids in lines.ids)
        # Anew in each call: the model may have been trained since the last one.
        folded = self._fold()
        for number, batch in enumerate(make_batches(lines.ids, self.hparams.batch_size)):
            found = self._run(folded, batch.features(lines.phrases), np.int32(number))
            for line, row, row_scores in zip(
                batch.lines, np.asarray(found.ids), np.asarray(found.scores), strict=False
            ):
                results[line] = self._hypotheses(row, row_scores)
            done += len(batch.lines)
            if progress is not None:
                progress(done)
        return results

    def encode(self, line: str) -> list[int]:
        """Return the ids of a line with EOS, cut to `max_input_size`; [] if it has no words."""
        return self.encode_lines([line]).ids[0]

    def encode_lines(
        self, lines: Sequence[str], phrases: Sequence[Sequence[str]] | None = None
    ) -> EncodedLines:
        """Return the ids of all lines, and which lines `max_input_size` cut; see `translate`."""
        limit = self.hparams.max_input_size
        encoded, numbers = encode_all(self.encoder, lines, phrases)
        lengths = [len(ids) + 1 for ids in encoded]
        cut = [i for i, length in enumerate(lengths) if limit and length > limit]
        for i in cut:
            encoded[i] = encoded[i][: limit - 1]
            if numbers is not None:
                numbers[i] = numbers[i][: limit - 1]
        return EncodedLines(
            [[*ids, EOS_ID] if ids else [] for ids in encoded],
            lengths,
            cut,
            None if numbers is None else [[*n, n[-1] + 1] if n else [] for n in numbers],
        )

    def _hypotheses(self, ids: np.ndarray, scores: np.ndarray) -> list[Hypothesis]:
        count = len(scores) if self.hparams.return_beams else 1
        # Lists of finished hypotheses that never filled up end in placeholders.
        real = max(1, int((scores[:count] > WORST / 2).sum()))
        return [
            Hypothesis(
                # A model may spell a line feed by its byte; that must not break the line.
                " ".join(self.encoder.decode(row.tolist()).split()),
                float(score),
                int(np.count_nonzero(row)),
            )
            for row, score in zip(ids[:real], scores[:real], strict=True)
        ]


def format_hypotheses(hypotheses: Sequence[Hypothesis], hparams: DecodeHParams) -> str:
    """Return one line: the texts, best first, each with its score if wanted, tab-separated."""
    fields = []
    for hypothesis in hypotheses:
        fields.append(hypothesis.text)
        if hparams.write_scores:
            fields.append(f"{hypothesis.score:.4f}")
    return "\t".join(fields)


def reads_phrases(model: Any) -> bool:
    """Return whether a model must be given the phrases of the source."""
    return bool(getattr(getattr(model, "hparams", None), "reads_phrases", False))


def no_phrases() -> UserError:
    """Return the error of a model that reads phrases and was given none."""
    return UserError("the model reads the phrases of parsed sentences: give it their trees")


def encode_all(
    encoder: Encoder, lines: Sequence[str], phrases: Sequence[Sequence[str]] | None
) -> tuple[list[list[int]], list[list[int]] | None]:
    """Return the ids of all lines, without EOS, and the numbers of their phrases, if any."""
    if phrases is None:
        return [encoder.encode(line) for line in lines], None
    # Models that read phrases come with subwords that know them.
    knowing = cast(PhraseEncoder, encoder)
    found = [knowing.encode_with_phrases(*pair) for pair in zip(lines, phrases, strict=True)]
    return [ids for ids, _ in found], [numbers for _, numbers in found]


def padded(sentences: Sequence[Sequence[int]], shape: tuple[int, ...]) -> np.ndarray:
    """Return the sentences as rows of an int32 array of that shape, 0-padded."""
    rows = np.zeros(shape, "int32")
    for row, ids in zip(rows, sentences, strict=False):
        row[: len(ids)] = ids
    return rows


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
        yield Batch(tuple(chosen), padded([sentences[i] for i in chosen], (rows, length)))
        order = order[rows:]

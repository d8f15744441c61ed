"""Random segmentations of words into subwords, reproducible by their seed."""

from __future__ import annotations

import abc
import functools
import heapq
import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

from sentencepiece import sentencepiece_model_pb2

from t2t_phrase.config import UserError
from t2t_phrase.text.subwords.encoder import BLANK, SubwordEncoder

# Number of words whose lattices are kept, and the length up to which they are.
_KEPT, _LONGEST_KEPT = 2**16, 40
Pieces = tuple[str, ...]
# Its classes are made at run time.
_MODEL: Any = sentencepiece_model_pb2


class SegmentationSampler:
    """Encodes text in randomly drawn segmentations.

    A word with characters that are not in the vocabulary keeps its usual segmentation, and so do a
    word whose characters the model's normalizer replaces by others of a different length in UTF-8,
    since the beginnings of their parts are unknown, and a text with "▁", SentencePiece's blank.

    Args:
        encoder: encoder with a vocabulary of byte pair encoding or of a unigram model.
        alpha: see `BpeDropout` and `UnigramSampling`.
        seed: seed of the random numbers. Segmentations do not depend on anything else, such as the
            version of SentencePiece, whose own generator differs between processes.

    Raises:
        UserError: the vocabulary is of another kind.
    """

    def __init__(self, encoder: SubwordEncoder, *, alpha: float, seed: int | str) -> None:
        model = _MODEL.ModelProto.FromString(encoder.model_bytes)
        kind = model.trainer_spec.model_type
        if kind not in _KINDS:
            raise UserError(
                "random segmentations need a vocabulary of byte pair encoding or of a unigram model"
            )
        normal = [(i, p) for i, p in enumerate(model.pieces) if p.type == p.NORMAL]
        self._ids = {piece.piece: i for i, piece in normal}
        self._segmenter = _KINDS[kind]({piece.piece: piece.score for _, piece in normal}, alpha)
        self._encoder = encoder
        self._random = random.Random(seed)

    def encode_with_starts(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Return the ids of each text and the byte offsets (UTF-8) at which they begin."""
        encoded = zip(texts, self._encoder.encode_with_starts(texts), strict=True)
        return [usual if BLANK in text else self._redraw(text, *usual) for text, usual in encoded]

    def _redraw(self, text: str, ids: list[int], starts: list[int]) -> tuple[list[int], list[int]]:
        """Return the ids and starts of a sentence in a random segmentation."""
        pieces, content = self._encoder.pieces(ids), text.encode()
        new_ids, new_starts = [], []
        firsts = [i for i, piece in enumerate(pieces) if piece.startswith(BLANK) or not i]
        for first, end in itertools.pairwise([*firsts, len(ids)]):
            # There is no blank before the first word of the text.
            place, blank = starts[first], " " if first else ""
            word = "".join(pieces[first:end])
            written = content[place : starts[end] if end < len(ids) else len(content)]
            known = all(piece in self._ids for piece in pieces[first:end])
            if not (known and _as_long(word.replace(BLANK, blank), written)):
                new_ids += ids[first:end]
                new_starts += starts[first:end]
                continue
            for piece in self._segmenter.draw(word, self._random):
                new_ids.append(self._ids[piece])
                new_starts.append(place)
                place += len(piece.replace(BLANK, blank).encode())
        return new_ids, new_starts


def _as_long(word: str, written: bytes) -> bool:
    """Return whether each character of a word takes as many bytes as the one in the text."""
    if word.encode() == written:
        return True
    lengths, others = (
        [len(char.encode()) for char in text] for text in (word, written.decode(errors="replace"))
    )
    return lengths == others


class Segmenter(abc.ABC):
    """Draws the segmentation of one word.

    Args:
        scores: scores of the pieces.
        alpha: parameter of the random draws.
    """

    def __init__(self, scores: dict[str, float], alpha: float) -> None:
        self._scores = scores
        self._alpha = alpha

    @abc.abstractmethod
    def draw(self, word: str, generator: random.Random) -> Pieces:
        """Return the pieces of a word, which begins with its blank."""


class BpeDropout(Segmenter):
    """BPE in which merges are dropped at random (Provilkov et al., 2020, Algorithm 1).

    In each step, every possible merge is dropped with probability `alpha`, and the best of the
    others is applied, until none remains. With `alpha` = 0 this is BPE.
    """

    def draw(self, word: str, generator: random.Random) -> Pieces:
        """Return the pieces of a word, which begins with its blank."""
        # Pieces are at the place of their first character; "" is a part of the piece before it.
        pieces, before = list(word), list(range(-1, len(word) - 1))
        # (-score, places of both pieces, merged piece), the best merge first, also outdated ones.
        merges: list[tuple[float, int, int, str]] = []

        def offer(left: int, right: int) -> None:
            merged = pieces[left] + pieces[right]
            if merged in self._scores:
                heapq.heappush(merges, (-self._scores[merged], left, right, merged))

        for left, right in itertools.pairwise(range(len(word))):
            offer(left, right)
        while True:
            dropped = []
            while merges:
                merge = heapq.heappop(merges)
                _, left, right, merged = merge
                if not (pieces[left] and pieces[right] and pieces[left] + pieces[right] == merged):
                    continue
                # Merges are tried in order, best first, so the first one kept is the best one kept.
                if generator.random() >= self._alpha:
                    break
                dropped.append(merge)
            else:
                return tuple(filter(None, pieces))
            for other in dropped:
                heapq.heappush(merges, other)
            pieces[left], pieces[right] = merged, ""
            if left:
                offer(before[left], left)
            if (end := left + len(merged)) < len(word):
                before[end] = left
                offer(left, end)


class UnigramSampling(Segmenter):
    """Draws segmentations x of a unigram model with P(x)^alpha / Z (Kudo, 2018, Section 3.2).

    P(x) is the product of the probabilities of the pieces. With `alpha` = 0 the distribution is
    uniform; the larger `alpha`, the closer the samples are to the most likely segmentation.
    """

    def __init__(self, scores: dict[str, float], alpha: float) -> None:
        super().__init__(scores, alpha)
        self._lattice = functools.lru_cache(_KEPT)(self._sum_up)
        self._longest = max(map(len, scores), default=0)

    def draw(self, word: str, generator: random.Random) -> Pieces:
        """Return the pieces of a word, which begins with its blank."""
        # In languages without blanks, a whole sentence is one word and hardly ever repeated.
        lattice = (self._lattice if len(word) <= _LONGEST_KEPT else self._sum_up)(word)
        end, pieces = len(word), []
        while end:
            starts, shares = lattice[end]
            (start,) = generator.choices(starts, cum_weights=shares)
            pieces.append(word[start:end])
            end = start
        return tuple(reversed(pieces))

    def _sum_up(self, word: str) -> list[tuple[list[int], list[float]]]:
        """Return, for each end, the possible starts of the last piece and cumulative weights."""
        totals = [0.0]  # log of the summed weights of all segmentations of word[:end]
        lattice: list[tuple[list[int], list[float]]] = [([], [])]
        for end in range(1, len(word) + 1):
            logs = {
                start: totals[start] + self._alpha * self._scores[word[start:end]]
                for start in range(max(0, end - self._longest), end)
                if word[start:end] in self._scores and totals[start] > -math.inf
            }
            most = max(logs.values(), default=-math.inf)
            weights = [math.exp(value - most) for value in logs.values()]
            totals.append(most + math.log(sum(weights)) if logs else -math.inf)
            lattice.append((list(logs), list(itertools.accumulate(weights))))
        return lattice


_KINDS: dict[int, type[Segmenter]] = {
    _MODEL.TrainerSpec.UNIGRAM: UnigramSampling,
    _MODEL.TrainerSpec.BPE: BpeDropout,
}

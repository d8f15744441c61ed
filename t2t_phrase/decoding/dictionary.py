"""The entries of a dictionary as tokens, and where they apply in each sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from t2t_phrase.config import UserError, shown
from t2t_phrase.decoding.batches import Batch
from t2t_phrase.decoding.padding import padded_array
from t2t_phrase.decoding.search.guided import STARTS, TOKENS
from t2t_phrase.special_ids import UNK_ID
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.dictionaries.matching import Match, Phrases, find_matches
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.text.visible import first_visible
from t2t_phrase.text.vocabularies import Encoder

# Longer translations are not those of phrases, and would enlarge the arrays of all sentences.
MOST_TOKENS = 256


@dataclasses.dataclass(frozen=True)
class SentenceEntries:
    """The entries that apply in a sentence.

    Attributes:
        starts: for each token, EOS included, the number of the entry, from 1, whose phrase begins
            in the token's word; 0: none.
        tokens: the translation of each entry, as target tokens.
    """

    starts: Sequence[int] = ()
    tokens: Sequence[Sequence[int]] = ()

    @property
    def matched(self) -> int:
        """Number of occurrences of entries in the source."""
        return len(self.tokens)


class Dictionary:
    """Entries for all sentences, with the vocabulary that spells their translations.

    Args:
        entries: with different sources.
        encoder: of the target.

    Raises:
        UserError: a translation cannot be spelt, or is too long.
    """

    # Entries apply where tokens are aligned with their sources.
    aligns = True

    def __init__(self, entries: Iterable[Entry], encoder: Encoder) -> None:
        self._encoder = encoder
        self._tokens: dict[str, list[int]] = {}
        entries = list(entries)
        self.check(entries)
        self._phrases = Phrases(entries)

    def check(self, entries: Iterable[Entry]) -> None:
        """Encode translations, including those for single sentences.

        Raises:
            UserError: a translation cannot be spelt with the vocabulary, or is too long.
        """
        for entry in entries:
            if entry.target not in self._tokens:
                self._tokens[entry.target] = encode_target(entry, self._encoder)

    def apply(
        self,
        sentence: Sentence,
        entries: Sequence[Entry] = (),
        *,
        cut: int | None = None,
        longest: int = 0,
    ) -> SentenceEntries:
        """Return the entries that apply in a sentence; see `find_matches`.

        Args:
            sentence: with the beginnings of its tokens.
            entries: for this sentence; they take precedence over those for all.
            cut: number of tokens to which the sentence was cut, EOS excluded; None: all.
            longest: ignored; a translation that is too long is cut.

        Raises:
            UserError: as for `check`.
        """
        del longest
        words = sentence.text.split()
        self.check(entries)
        matches = find_matches(words, Phrases(entries), self._phrases)
        if not matches:
            return SentenceEntries()
        left = len(sentence.ids) if cut is None else min(cut, len(sentence.ids))
        starts = [0] * left
        tokens: list[list[int]] = []
        for match, first, last in zip(matches, *_token_spans(sentence, matches), strict=True):
            if first >= left:
                break
            tokens.append(self._tokens[match.entry.target])
            starts[first:last] = [len(tokens)] * (min(last, left) - first)
        return SentenceEntries([*starts, 0], tokens)

    def arrays(self, entries: Sequence[SentenceEntries], batch: Batch) -> dict[str, np.ndarray]:
        """Return the entries of a batch, see `batch_arrays`."""
        return batch_arrays(entries, batch)


def encode_target(entry: Entry, encoder: Encoder) -> list[int]:
    """Return the tokens of a translation, as they are within a sentence.

    Raises:
        UserError: the translation cannot be spelt with the vocabulary, or is too long.
    """
    ids = encoder.encode(entry.target)
    spelt = " ".join(encoder.decode(ids).split())
    if spelt != entry.target or UNK_ID in ids:
        raise UserError(
            f"{entry.where}: the model cannot write {shown(entry.target)}, because part of it is "
            f"not in the target vocabulary (it would be {shown(spelt)}); use other words, or leave "
            "the entry out"
        )
    if len(ids) > MOST_TOKENS:
        raise UserError(
            f"{entry.where}: the target has {len(ids)} tokens; at most {MOST_TOKENS} are possible"
        )
    return ids


def batch_arrays(entries: Sequence[SentenceEntries], batch: Batch) -> dict[str, np.ndarray]:
    """Return the fields of a batch's `search.guided.Entries` by name; {}: there are none.

    Numbers and lengths of entries are padded to powers of two, so that there are few shapes.

    Args:
        entries: of each sentence, including those outside this batch.
        batch: selects the sentences.
    """
    own = [entries[line] for line in batch.lines]
    if not any(each.tokens for each in own):
        return {}
    tokens = padded_array([each.tokens for each in own], batch.shape[0], 2)
    return {STARTS: batch.rows([each.starts for each in entries]), TOKENS: tokens}


def _token_spans(
    sentence: Sentence, matches: Sequence[Match]
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the first token of the first word of each match, and the token after its last one.

    A word may consist of several tokens. Tokens that also cover text before or after the match
    count as well.
    """
    words = sentence.text.split()
    begins = np.concatenate([[0], np.cumsum([len(word) for word in words])])
    first = np.array(first_visible(sentence.text, sentence.starts))
    # A token that is only a blank belongs to the text after it.
    after = np.maximum(np.append(first[1:], begins[-1]), first + 1)
    starts, ends = [], []
    for match in matches:
        begin = begins[match.start] + match.skipped
        end = begins[match.start + 1] - (match.left if match.end == match.start + 1 else 0)
        inside = np.flatnonzero((first < end) & (after > begin))
        starts.append(int(inside[0]))
        ends.append(int(inside[-1]) + 1)
    return starts, ends

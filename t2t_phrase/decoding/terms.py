"""Required and forbidden phrases as tokens, and those that apply in each sentence."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from t2t_phrase.config import UserError, shown
from t2t_phrase.decoding.batches import Batch
from t2t_phrase.decoding.dictionary import encode_target
from t2t_phrase.decoding.padding import padded_array
from t2t_phrase.decoding.search import forbidden
from t2t_phrase.decoding.search.required_terms import TERMS
from t2t_phrase.decoding.term_conflicts import KnownEntries
from t2t_phrase.io.unicode_text import check_unicode
from t2t_phrase.special_ids import PAD_ID
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.dictionaries.matching import Phrases, find_matches
from t2t_phrase.text.dictionaries.reader import Entry, read_dictionary
from t2t_phrase.text.encoders import SpellingEncoder
from t2t_phrase.text.token_texts import Edge, TokenTexts, spelt
from t2t_phrase.text.vocabularies import Encoder

# More targets of single sentences are forgotten, so that they do not accumulate without end.
_MOST_TARGETS = 1 << 16


@dataclasses.dataclass(frozen=True)
class SentenceTerms:
    """Phrases that the translation of a sentence must have, and those that it must not have.

    Attributes:
        names: of each occurrence of a required entry, for messages.
        tokens: the alternatives for each of the first occurrences; there is no room for the others.
        edges: the ways to spell the forbidden phrases, see `search.forbidden.EDGES`.
    """

    names: Sequence[str] = ()
    tokens: Sequence[Sequence[Sequence[int]]] = ()
    edges: Sequence[Edge] = ()

    @property
    def matched(self) -> int:
        """Number of occurrences of required entries in the source."""
        return len(self.names)

    def missing(self, met: Iterable[int]) -> tuple[str, ...]:
        """Return the names of the occurrences whose numbers, from 1, are not among `met`."""
        met = set(met)
        return tuple(name for number, name in enumerate(self.names, 1) if number not in met)


class RequiredTerms:
    """Entries that hold in all translations, with the vocabulary that spells them.

    Entries with the same source are alternatives. A target `!phrase` forbids the phrase where the
    source occurs; without a source, everywhere.

    Args:
        entries: for all sentences.
        encoder: of the target.

    Raises:
        UserError: a target cannot be spelt, is too long, or is required and forbidden; or the
            vocabulary consists of tensor2tensor's own subwords.
    """

    # The positions of the source that tokens are aligned with do not matter.
    aligns = False

    def __init__(self, entries: Iterable[Entry], encoder: Encoder) -> None:
        if not isinstance(encoder, SpellingEncoder):
            raise UserError(
                "required terms cannot be used with tensor2tensor's own subwords; train with a "
                "vocabulary made by t2t-phrase-datagen"
            )
        self._encoder = encoder
        self.texts = TokenTexts(encoder)
        # Kept here, not in the module, so that a vocabulary that is no longer used is freed.
        self._edges = functools.lru_cache(maxsize=2**12)(
            functools.partial(phrase_edges, texts=self.texts)
        )
        self._tokens: dict[str, list[int]] = {}
        self._others: dict[str, list[int]] = {}  # of targets for single sentences
        entries = list(entries)
        self._encode(entries, self._tokens)
        self._known = KnownEntries(entries)
        self._everywhere = _Entries(entries)

    def check(self, entries: Sequence[Entry]) -> Mapping[str, list[int]]:
        """Return the tokens of targets for single sentences, at least of those in `entries`.

        Raises:
            UserError: see the class.
        """
        if len(self._others) > _MOST_TARGETS:
            self._others = {}  # Another thread may still read the old one.
        found = self._others
        self._encode(entries, found)
        self._known.check(entries)
        return found

    def _encode(self, entries: Iterable[Entry], found: dict[str, list[int]]) -> None:
        for entry in entries:
            if not (entry.forbidden or entry.target in self._tokens or entry.target in found):
                found[entry.target] = encode_target(entry, self._encoder)

    def apply(
        self,
        sentence: Sentence,
        entries: Sequence[Entry] = (),
        *,
        cut: int | None = None,
        longest: int,
    ) -> SentenceTerms:
        """Return the phrases of a sentence; see `find_matches` for where entries occur.

        Occurrences are required in the order of the source, as many as there is room for.

        Args:
            sentence: the source.
            entries: for this sentence; they take precedence over those for all.
            cut: ignored; entries apply to the part that was cut off, too.
            longest: maximum number of tokens of the translation, EOS included.

        Raises:
            UserError: as for `check`, or a required target is spelt with a forbidden phrase and
                more.
        """
        del cut
        words = sentence.text.split()
        others = self.check(entries)
        own = _Entries(entries)
        names, tokens, room = [], [], longest - 1
        required: list[list[Entry]] = []
        for match in find_matches(words, own.required, self._everywhere.required):
            source = match.entry.source
            group = own if source in own.targets else self._everywhere
            targets = group.targets[source]
            alternatives = [self._tokens.get(e.target) or others[e.target] for e in targets]
            names.append(f"{shown(source)} ({match.entry.where})")
            room -= min(map(len, alternatives))
            if room >= 0:
                required.append(targets)
                tokens.append(alternatives)
        phrases = [*own.forbidden_in(words), *self._everywhere.forbidden_in(words)]
        edges = joined_edges(phrases, self._edges)
        if edges:
            for targets, alternatives in zip(required, tokens, strict=True):
                self._check_spelling(targets, alternatives, phrases)
        return SentenceTerms(names, tokens, edges)

    def _check_spelling(
        self, entries: Sequence[Entry], alternatives: Sequence[list[int]], phrases: Sequence[str]
    ) -> None:
        """Refuse alternatives that the search could not write, since it bars each of them."""
        ends_word = self.texts.tables.ends_word
        found = [
            next((p for p in phrases if spells(ids, self._edges(p), ends_word)), None)
            for ids in alternatives
        ]
        if None not in found:
            raise UserError(
                f"{entries[0].where} requires {shown(entries[0].target)}, which the model spells "
                f"with the tokens of the forbidden {shown(found[0])} and more; leave one of them "
                "out"
            )

    def arrays(self, terms: Sequence[SentenceTerms], batch: Batch) -> dict[str, np.ndarray]:
        """Return the terms of a batch as the search reads them, by name; {}: there are none.

        Args:
            terms: of each sentence, including those outside this batch.
            batch: selects the sentences.
        """
        own = [terms[line] for line in batch.lines]
        found = {}
        if any(each.tokens for each in own):
            found[TERMS] = padded_array([each.tokens for each in own], batch.shape[0], 3)
        if any(each.edges for each in own):
            found[forbidden.EDGES] = padded_array(
                [each.edges for each in own], batch.shape[0], 2, last=3
            )
        return found


class _Entries:
    """Entries by their source."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.targets: dict[str, list[Entry]] = {}
        self.bans: dict[str, list[str]] = {}
        for entry in entries:
            if entry.forbidden:
                self.bans.setdefault(entry.source, []).append(entry.forbidden)
            else:
                self.targets.setdefault(entry.source, []).append(entry)
        self.required = Phrases(own[0] for own in self.targets.values())
        self._banning = Phrases(Entry(source, "") for source in self.bans if source)

    def forbidden_in(self, words: Sequence[str]) -> list[str]:
        """Return the phrases that are forbidden in the translation of some words."""
        found = list(self.bans.get("", ()))
        if len(self._banning):
            for start in range(len(words)):
                for match in self._banning.at(words, start):
                    found += self.bans[match.entry.source]
        return found


def joined_edges(phrases: Iterable[str], edges_of: Callable[[str], Sequence[Edge]]) -> list[Edge]:
    """Return the ways to spell several phrases, see `search.forbidden.EDGES`.

    Args:
        phrases: of one or more words each.
        edges_of: `phrase_edges` of the target vocabulary.
    """
    found: list[Edge] = []
    first = forbidden.FIRST_PLACE
    for phrase in dict.fromkeys(phrases):
        own = edges_of(phrase)
        shift = first - forbidden.FIRST_PLACE
        found += [Edge(_moved(e.start, shift), _moved(e.end, shift), e.token) for e in own]
        first = max([first, *(edge.end + shift + 1 for edge in own)])
    return found


def phrase_edges(phrase: str, texts: TokenTexts) -> Sequence[Edge]:
    """Return the ways to spell a forbidden phrase, see `search.forbidden.EDGES`.

    Args:
        phrase: of one or more words.
        texts: of the target vocabulary.
    """
    text = spelt(phrase)
    found = []
    for start, end, token in texts.edges(text):
        found.append(Edge(start, end, token))
        # A token that ends in a blank may be followed by one that begins with a blank.
        if text[end - 1 : end] == b" ":
            found.append(Edge(start, end - 1, token))
    # Keep only edges that can be reached and that lead to the end.
    reached = {0, 1}
    for edge in sorted(found):
        if edge.start in reached:
            reached.add(edge.end)
    usable = {*found}
    alive = {len(text)}
    for edge in sorted(found, key=lambda edge: (edge.start, edge.end), reverse=True):
        if edge.end in alive:
            alive.add(edge.start)
    numbers = {0: forbidden.ANYWHERE, 1: forbidden.WORD_BEGINS, len(text): forbidden.END}
    kept = [
        edge
        for edge in sorted(usable)
        if edge.start in reached and edge.end in alive and edge.end > 1
    ]
    for edge in kept:
        for place in (edge.start, edge.end):
            if place not in numbers:
                numbers[place] = len(numbers) - 3 + forbidden.FIRST_PLACE
    return [Edge(numbers[e.start], numbers[e.end], e.token) for e in kept]


def spells(tokens: Iterable[int], edges: Sequence[Edge], ends_word: Any) -> bool:
    """Return whether tokens that begin with a word spell a forbidden phrase, as the search sees it.

    Args:
        tokens: of a text.
        edges: see `search.forbidden.EDGES`.
        ends_word: of `VocabularyTables`.
    """
    places = {forbidden.ANYWHERE, forbidden.WORD_BEGINS}
    for token in tokens:
        ends = {edge.end for edge in edges if edge.token == token and edge.start in places}
        if forbidden.END in ends:
            return True
        places = ends | {forbidden.ANYWHERE}
        if ends_word[token]:
            places.add(forbidden.WORD_BEGINS)
    return False


def _moved(place: int, shift: int) -> int:
    return place + shift if place >= forbidden.FIRST_PLACE else place


def terms_met(ids: Sequence[int], noted: Sequence[int], begins_word: np.ndarray) -> set[int]:
    """Return the numbers, from 1, of the terms that an output has.

    Args:
        ids: the tokens of the output, then 0.
        noted: the note of each token, see `required_terms.TERM`.
        begins_word: of `VocabularyTables`.
    """
    # After the last token, nothing can continue its word.
    following = [*ids[1:], PAD_ID]
    return {
        int(term)
        for term, token in zip(noted, following, strict=True)
        if term and (token == PAD_ID or (token < len(begins_word) and begins_word[token]))
    }


def entries_of_texts(terms: Iterable[Iterable[tuple[str, str]]], texts: int) -> list[list[Entry]]:
    """Return the entries of each text.

    Args:
        terms: the pairs of source and target of each text.
        texts: number of texts.

    Raises:
        UserError: the number of lists is not that of the texts, or a pair is malformed or not valid
            Unicode.
    """
    given = list(terms)
    if len(given) != texts:
        raise UserError(
            f"terms: {len(given)} lists for {texts} texts; give one for each, which may be empty"
        )
    found = []
    for number, own in enumerate(given, start=1):
        name = f"terms of text {number}"
        pairs = listed(own)
        if not all(map(is_pair, pairs)):
            raise UserError(f"{name}: expected a list of (source, target), got {shown(own)}")
        lines = ["\t".join(pair) for pair in pairs]
        for place, line in enumerate(lines, start=1):
            check_unicode(line, f"{name}:{place}")
        found.append(read_dictionary(lines, name, "require"))
    return found


def listed(value: Any) -> list[Any]:
    """Return the elements of an iterable; [value] for a string, or what is no iterable."""
    return [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


def is_pair(value: object) -> bool:
    """Return whether a value is a pair of strings."""
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(isinstance(part, str) for part in value)
    )

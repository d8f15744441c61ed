"""From text to the integers that a model reads of one side: token ids and features."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from t2t_phrase.config import UserError, nearest
from t2t_phrase.decoding.batches import Batch
from t2t_phrase.decoding.dictionary import SentenceEntries
from t2t_phrase.decoding.prefixes import SentencePrefix
from t2t_phrase.decoding.terms import SentenceTerms
from t2t_phrase.decoding.text_lists import check_list
from t2t_phrase.features import IDS, Feature, Side
from t2t_phrase.io.unicode_text import check_unicode
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.annotations.base import Sentence, annotation_of
from t2t_phrase.text.vocabularies import Encoder

# The text form of each feature, by its name: one string for each sentence.
FeatureTexts = Mapping[str, Sequence[str]]


def check_features(
    features: Sequence[Feature], texts: FeatureTexts, sentences: int
) -> FeatureTexts:
    """Return the texts as lists, after checking that each feature has one for each sentence.

    Args:
        features: those that the model needs here.
        texts: the texts that were given.
        sentences: number of sentences.

    Raises:
        UserError: a feature is missing, is not read by the model, or has the wrong number of texts.
    """
    names = [feature.name for feature in features]
    for name in texts:
        if name not in names:
            known = ", ".join(names) or "none"
            raise UserError(
                f"the model reads no feature {name!r} here{nearest(name, names)} "
                f"(features that it reads: {known})"
            )
    found = {}
    for feature in features:
        if feature.name not in texts:
            raise UserError(
                f"the model reads the {feature.side} feature {feature.name!r}: give its text for "
                f"every sentence (from the files that end in .{feature.stream})"
            )
        own = check_list(f"feature {feature.name!r}", texts[feature.name])
        if len(own) != sentences:
            raise UserError(
                f"feature {feature.name!r}: {len(own)} texts for {sentences} sentences; each "
                "sentence needs one"
            )
        found[feature.name] = own
    return found


@dataclasses.dataclass(frozen=True)
class EncodedSide:
    """The sentences of one side as integers.

    Attributes:
        side: source or target.
        ids: of each sentence, EOS included; [] for an empty sentence that is left out.
        lengths: of each sentence before it was cut, EOS included.
        cut: numbers, from 0, of the sentences that were cut.
        features: the integers of each feature, as long as `ids`.
        pads: the value of each feature at padding.
        entries: the dictionary entries that apply in each sentence; []: there is no dictionary.
        prefixes: the beginning of each translation; []: there are none.
        texts: the words of each sentence as the user wrote them; []: not requested.
        shortlists: for each sentence, the target tokens that its translation may consist of, in
            ascending order, see `decoding.shortlists`; []: any.
        words: for each sentence, the word that each token but EOS is in; []: not requested.
    """

    side: Side
    ids: list[list[int]]
    lengths: list[int]
    cut: list[int]
    features: dict[str, list[list[int]]]
    pads: dict[str, int]
    words: list[list[int]] = dataclasses.field(default_factory=list)
    shortlists: list[np.ndarray] = dataclasses.field(default_factory=list)
    entries: Sequence[SentenceEntries | SentenceTerms] = dataclasses.field(default_factory=list)
    prefixes: list[SentencePrefix] = dataclasses.field(default_factory=list)
    texts: list[list[str]] = dataclasses.field(default_factory=list)

    def of_batch(self, batch: Batch) -> dict[str, np.ndarray]:
        """Return the model inputs for the sentences of a batch, each (rows, length) int32."""
        features = {
            name: batch.rows(numbers, self.pads[name]) for name, numbers in self.features.items()
        }
        return {IDS[self.side]: batch.rows(self.ids), **features}


def tokenize(
    encoder: Encoder, texts: Sequence[str], *, starts: bool, name: str = "line"
) -> list[Sentence]:
    """Return the sentences with their token ids and, if requested, the beginnings of the tokens.

    Blanks at the ends of a text are left out.

    Args:
        encoder: of their vocabulary.
        texts: of the sentences.
        starts: whether to find where tokens begin.
        name: of a text, for messages.

    Raises:
        UserError: a text is not valid Unicode.
    """
    for number, text in enumerate(texts, start=1):
        check_unicode(text, f"{name} {number}")
    # Training text has no blanks around it, but some vocabularies have tokens for them.
    texts = [text.strip() for text in texts]
    if not starts:
        return [Sentence(text, encoder.encode(text), ()) for text in texts]
    found = encoder.encode_with_starts(texts)
    return [Sentence(text, *pair) for text, pair in zip(texts, found, strict=True)]


def encode_side(
    side: Side,
    sentences: Sequence[Sentence],
    features: Sequence[Feature] = (),
    feature_texts: FeatureTexts | None = None,
    *,
    others: Sequence[Sentence] | None = None,
    max_tokens: int = 0,
    keep_empty: bool = False,
) -> EncodedSide:
    """Encode sentences and their features.

    Args:
        side: source or target.
        sentences: from `tokenize`; features need to know where tokens begin.
        features: those of this side.
        feature_texts: see `check_features`, which has checked them.
        others: the sentences of the other side, if they are known; features may need them.
        max_tokens: longer sentences are cut to this many tokens, EOS included; 0: no limit.
        keep_empty: whether the ids of a sentence without words are EOS alone; otherwise [].

    Raises:
        UserError: the text of a feature does not fit its sentence.
    """
    lengths = [len(sentence.ids) + 1 for sentence in sentences]
    kept = max_tokens - 1 if max_tokens else None
    empty = [not sentence.ids and not keep_empty for sentence in sentences]
    numbers = {}
    for feature in features:
        annotation, rows = annotation_of(feature), []
        texts = (feature_texts or {})[feature.name]
        for place, (sentence, text) in enumerate(zip(sentences, texts, strict=True)):
            other = others[place].cut(kept) if others else None
            row = annotation.encode(sentence, text, other)[:kept]
            rows.append([*row, annotation.end(row, other)])
        numbers[feature.name] = [[] if skip else row for row, skip in zip(rows, empty, strict=True)]
    return EncodedSide(
        side,
        ids=[
            [] if skip else [*sentence.ids[:kept], EOS_ID]
            for sentence, skip in zip(sentences, empty, strict=True)
        ],
        lengths=lengths,
        cut=[i for i, length in enumerate(lengths) if max_tokens and length > max_tokens],
        features=numbers,
        pads={feature.name: feature.pad for feature in features},
    )

"""Explains how a model translates a sentence: its attention, probabilities and exhibits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.forced_search import forced_search
from t2t_phrase.decoding.search.source_attention import source_attention, strongest
from t2t_phrase.decoding.sides import (
    EncodedSide,
    FeatureTexts,
    check_features,
    encode_side,
    tokenize,
)
from t2t_phrase.decoding.translator import Hypothesis, Translator
from t2t_phrase.features import ALIGNMENT, IDS, RARE_TAG, Feature, Side, of_side
from t2t_phrase.insights.explanation import Candidate, Explanation, Segment
from t2t_phrase.insights.labels import START, Token, segment_spans, tokens_of
from t2t_phrase.insights.maps import attention_maps, exhibit_maps

if TYPE_CHECKING:
    from t2t_phrase.decoding.search.translate_ids import MakeExpansion
    from t2t_phrase.text.vocabularies import Vocabularies

_ROUNDED = (
    "quantize=int8 of the translation: attention and the probabilities of tokens are computed "
    "without rounding to 8 bits"
)


class Explainer:
    """Translates with one model and explains; compiled functions are kept between calls.

    Attention weights are computed eagerly, without padding, so that nothing is compiled for the
    length of a sentence.

    Args:
        model: an `EncoderDecoder`; an `AlignedPair` translates if its expansion is given.
        vocabularies: the source's and the target's.
        hparams: the options of decoding; all hypotheses of the beam are kept.
        make_expansion: see `Translator`.
        labels: names of the classes after `RARE_TAG` that the model may predict for segments;
            (): classes are shown as numbers.
        unknown_words: see `Translator`.
        xla: whether to compile the search with XLA; None: only on a GPU.
    """

    def __init__(
        self,
        model: Any,
        vocabularies: Vocabularies,
        hparams: DecodeHParams | None = None,
        *,
        make_expansion: MakeExpansion | None = None,
        labels: Sequence[str] = (),
        unknown_words: Mapping[str, str] | None = None,
        xla: bool | None = None,
    ) -> None:
        self.model = model
        self.vocabularies = vocabularies
        self.hparams = (hparams or DecodeHParams()).replace(return_beams=True)
        self._make_expansion = make_expansion
        self._labels = tuple(labels)
        self._translator = None
        if make_expansion is not None or not model.capabilities.cannot_translate:
            self._translator = Translator(
                model,
                vocabularies,
                self.hparams,
                unknown_words=unknown_words,
                make_expansion=make_expansion,
                xla=xla,
            )

    @property
    def translates(self) -> bool:
        """Whether the model can translate; otherwise targets must be given."""
        return self._translator is not None

    def needed_features(self, *, targets: bool) -> tuple[Feature, ...]:
        """Return the features whose texts are needed.

        Args:
            targets: whether target sentences are given.
        """
        features: tuple[Feature, ...] = self.model.hparams.features
        return features if targets else of_side(features, "source")

    def with_words(self, sources: Sequence[str]) -> list[int]:
        """Return the numbers, from 0, of the sentences that have tokens.

        A sentence of characters that the vocabulary drops, such as "▁", has none.

        Raises:
            UserError: a sentence is not valid Unicode.
        """
        found = tokenize(self.vocabularies.source, sources, starts=False, name="source line")
        return [i for i, sentence in enumerate(found) if sentence.text.split() and sentence.ids]

    def explain(
        self, source: str, target: str | None = None, *, texts: Mapping[str, str] | None = None
    ) -> Explanation:
        """Return the explanation of one sentence, see `explain_all`."""
        given = {name: [text] for name, text in (texts or {}).items()}
        (found,) = self.explain_all([source], None if target is None else [target], texts=given)
        return found

    def explain_all(
        self,
        sources: Sequence[str],
        targets: Sequence[str] | None = None,
        *,
        texts: FeatureTexts | None = None,
    ) -> Iterator[Explanation]:
        """Yield the explanation of each sentence.

        Args:
            sources: sentences with words.
            targets: the translations to explain; None: those of the model.
            texts: the texts of each feature that the model reads, see `needed_features`.

        Raises:
            UserError: a sentence has no words, a feature does not fit, or the model cannot
                translate and there are no targets.
        """
        if len(self.with_words(sources)) < len(sources):
            raise UserError("a sentence without words: there is nothing to explain")
        if targets is None and self._translator is None:
            raise UserError(self.model.capabilities.cannot_translate)
        needed = self.needed_features(targets=targets is not None)
        texts = check_features(needed, texts or {}, len(sources))
        if targets is not None:
            encoded = self._encode("source", sources, texts)
            known = self._encode("target", targets, texts, others=sources)
            for place, (source, target) in enumerate(zip(sources, targets, strict=True)):
                features = {**_row(encoded, place), **_row(known, place)}
                if self.model.capabilities.hypothesises_positions:
                    features[ALIGNMENT.name] = self._positions(features)
                notes = [*cut_note(encoded, place), *cut_note(known, place)]
                yield self._explained(source, target, features, notes)
            return
        assert self._translator is not None
        encoded = self._translator.encode(sources, texts)
        translated = self._translator.translate_encoded(encoded)
        for place, (source, found) in enumerate(zip(sources, translated, strict=True)):
            features = _row(encoded, place)
            features[IDS["target"]] = np.array([found[0].ids], "int32")
            if self.model.capabilities.hypothesises_positions:
                features[ALIGNMENT.name] = np.array([found[0].aligned], "int32")
            notes = [*cut_note(encoded, place), *[_ROUNDED] * bool(self.hparams.quantize)]
            yield self._explained(source, found[0].text, features, notes, found)

    def _encode(
        self,
        side: Side,
        sentences: Sequence[str],
        texts: FeatureTexts,
        *,
        others: Sequence[str] = (),
    ) -> EncodedSide:
        features = of_side(self.model.hparams.features, side)
        starts = bool(self.model.hparams.features)
        encoder, other = self.vocabularies.source, self.vocabularies.target
        if side == "target":
            encoder, other = other, encoder
        return encode_side(
            side,
            tokenize(encoder, sentences, starts=starts, name=f"{side} line"),
            features,
            texts,
            others=tokenize(other, others, starts=starts) if others else None,
            max_tokens=self.hparams.max_input_size,
            keep_empty=True,
        )

    def _positions(self, features: Mapping[str, Any]) -> np.ndarray:
        """Return the best source positions (1, T) of a known target."""
        assert self._make_expansion is not None
        found = forced_search(self.model, features, self.hparams, self._make_expansion)
        return np.asarray(found.positions)

    def _explained(
        self,
        source: str,
        target: str,
        features: Mapping[str, Any],
        notes: Sequence[str],
        hypotheses: Sequence[Hypothesis] = (),
    ) -> Explanation:
        model = self.model
        inputs, targets = (
            tokens_of(features[IDS[side]][0].tolist(), encoder)
            for side, encoder in zip(IDS, self.vocabularies, strict=True)
        )
        texts = {
            "source": inputs,
            "target": targets,
            "earlier target": [Token(START), *targets[:-1]],
        }
        weights = model.attention_weights(features)
        partitions = model.partitions(features)
        members = {name: np.asarray(found)[0] for name, found in partitions.items()}
        threshold = self.hparams.alignment_threshold
        return Explanation(
            source=source,
            target=target,
            is_own=bool(hypotheses),
            source_tokens=inputs,
            target_tokens=targets,
            log_probabilities=np.asarray(model.token_log_probabilities(features))[0],
            predicts_jumps=model.capabilities.predicts_jumps,
            candidates=[Candidate(each.text, each.score) for each in hypotheses],
            aligned=self._aligned(features, weights, partitions),
            partitions=self._segments(features, members),
            maps=[
                *attention_maps(model, features, weights, texts, members),
                *exhibit_maps(model.exhibits(features), texts, threshold=threshold),
            ],
            notes=notes,
        )

    def _aligned(
        self, features: Mapping[str, Any], weights: Any, partitions: Mapping[str, Any]
    ) -> list[int]:
        """Return the source position of each target token, see `Explanation.aligned`."""
        if ALIGNMENT.name in features:
            return [int(position) for position in features[ALIGNMENT.name][0]]
        maps = self.model.attention_maps().values()
        if ("target", "source") not in {(found.rows, found.columns) for found in maps}:
            return []
        attention = source_attention(
            self.model,
            layers=self.hparams.alignment_layers,
            heads=self.hparams.alignment_heads,
        )
        found = strongest(attention.accumulate(weights, partitions))
        return [int(position) for position in np.asarray(found)[0]]

    def _segments(
        self, features: Mapping[str, Any], members: Mapping[str, np.ndarray]
    ) -> dict[str, Sequence[Segment]]:
        """Return the segments of each partition, with the labels that the model predicts."""
        classes = self.model.partition_classes(features)
        # EOS has no label, so the class predicted for it is meaningless.
        end = features[IDS["source"]].shape[1] - 1
        found: dict[str, Sequence[Segment]] = {}
        for name, membership in members.items():
            spans = segment_spans(membership)
            numbers = [0] * len(spans)
            if name in classes:
                numbers = np.asarray(classes[name])[0].tolist()
            found[name] = [
                Segment(first, last, "" if first == end else self._label(number))
                for (first, last), number in zip(spans, numbers, strict=False)
            ]
        return found

    def _label(self, number: int) -> str:
        """Return the label that a class number stands for."""
        if number < RARE_TAG:
            return ""
        if number == RARE_TAG:
            return "a rare label"
        place = number - RARE_TAG - 1
        return self._labels[place] if place < len(self._labels) else f"label {number}"


def _row(encoded: EncodedSide, place: int) -> dict[str, np.ndarray]:
    """Return the ids and features of one sentence, without padding."""
    rows = {IDS[encoded.side]: encoded.ids, **encoded.features}
    return {name: np.array([row[place]], "int32") for name, row in rows.items()}


def cut_note(encoded: EncodedSide, place: int) -> list[str]:
    """Return a note that a sentence was cut; []: it was not."""
    if place not in encoded.cut:
        return []
    left, whole = len(encoded.ids[place]), encoded.lengths[place]
    return [f"{encoded.side} cut to {left} of {whole} tokens (max_input_size)"]

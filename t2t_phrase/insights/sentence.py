"""A model's attention in one sentence pair."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from t2t_phrase.compile import compiled
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.sides import check_features, encode_side, tokenize
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.features import IDS, of_side
from t2t_phrase.insights.explain import cut_note
from t2t_phrase.insights.labels import Token, tokens_of
from t2t_phrase.insights.pictures import Choice, Picture, draw
from t2t_phrase.io.files import write
from t2t_phrase.special_ids import EOS_ID

if TYPE_CHECKING:
    import os

    from t2t_phrase.decoding.sides import EncodedSide, FeatureTexts
    from t2t_phrase.features import Side
    from t2t_phrase.text.vocabularies import Encoder, Vocabularies


@dataclasses.dataclass(frozen=True)
class SentenceAttention:
    """The attention weights of one sentence pair.

    Attributes:
        model: the model that computed them.
        source: the tokens of the source, EOS included.
        target: the tokens of the target, likewise.
        text: the target as text; the model's own translation if none was given.
        weights: the weights of each attention by name: for each layer (1, H, queries, keys).
        windows: of the source, for attention that reads windows; see `attention_windows`.
        partitions: the tokens in each segment, by the name of the partition.
        notes: what else is to be known: that a sentence was cut.
    """

    model: Any
    source: list[Token]
    target: list[Token]
    text: str
    weights: Mapping[str, Sequence[Any]]
    windows: Any
    partitions: Mapping[str, np.ndarray]
    notes: Sequence[str] = ()

    def pictures(self, choice: Choice, *, caption: str = "") -> Iterator[Picture]:
        """Yield a heat map for each attention, layer and head chosen, see `pictures.choose`."""
        yield from draw(
            self.weights,
            self.model.attention_maps(),
            self.source,
            self.target,
            partitions=self.partitions,
            windows=self.windows,
            choice=choice,
            caption=caption,
        )

    def save_weights(self, path: str | os.PathLike[str]) -> None:
        """Write an .npz file with all weights.

        The file has an array (H, queries, keys) for each layer, such as `cross_layer1`, and the
        tokens as `source` and `target`.

        Raises:
            UserError: the file cannot be written.
        """
        arrays: dict[str, Any] = {
            f"{name}_layer{number}": np.asarray(layer)[0]
            for name, layers in self.weights.items()
            for number, layer in enumerate(layers, start=1)
        }
        for side, own in (("source", self.source), ("target", self.target)):
            arrays[side] = np.array([token.text for token in own])
        archive = io.BytesIO()
        np.savez_compressed(archive, **arrays)
        write(path, archive.getvalue())


def sentence_attention(
    model: Any,
    vocabularies: Vocabularies,
    source: str,
    target: str | None = None,
    *,
    texts: FeatureTexts | None = None,
    hparams: DecodeHParams | None = None,
    xla: bool | None = None,
) -> SentenceAttention:
    """Return the attention weights of one sentence pair.

    Args:
        model: a trained model.
        vocabularies: the source's and the target's.
        source: a sentence.
        target: its translation; None: that of the model.
        texts: the text of each feature that the model reads, by name.
        hparams: options of decoding; longer sentences are cut to `max_input_size`.
        xla: whether to compile with XLA; None: only on a GPU.

    Raises:
        UserError: a feature is missing, is not read or does not fit, a sentence is not valid
            Unicode, or the model cannot translate and there is no target.
    """
    hparams = hparams or DecodeHParams()
    needed = model.hparams.features
    needed = of_side(needed, "source") if target is None else needed
    texts = check_features(needed, texts or {}, 1)
    limit = hparams.max_input_size
    encoded = _encoded("source", model, vocabularies.source, source, texts, limit=limit)
    features, notes = _features_of(encoded), cut_note(encoded, 0)
    if target is None:
        ids, target = _translated(model, vocabularies, source, texts, hparams, xla)
        features[IDS["target"]] = np.array([ids], "int32")
    else:
        known = (vocabularies.source, source)
        encoded = _encoded(
            "target", model, vocabularies.target, target, texts, limit=limit, other=known
        )
        features.update(_features_of(encoded))
        notes += cut_note(encoded, 0)
    weights = compiled(model.attention_weights, variables=model.variables, xla=xla)(features)
    inputs, targets = (
        tokens_of(features[name][0].tolist(), encoder)
        for name, encoder in zip(("inputs", "targets"), vocabularies, strict=True)
    )
    return SentenceAttention(
        model,
        inputs,
        targets,
        target,
        weights,
        # Not compiled: few models have windows, and they are computed only once.
        model.attention_windows(features),
        {name: np.asarray(found)[0] for name, found in model.partitions(features).items()},
        notes,
    )


def _encoded(
    side: Side,
    model: Any,
    encoder: Encoder,
    sentence: str,
    texts: FeatureTexts,
    *,
    limit: int,
    other: tuple[Encoder, str] | None = None,
) -> EncodedSide:
    """Return one sentence and its features as integers.

    Args:
        side: of the sentence.
        model: the model that reads them.
        encoder: of the sentence's language.
        sentence: in natural text.
        texts: the texts of its features, by name.
        limit: a longer sentence is cut to this many tokens; 0: never.
        other: the encoder and the sentence of the other side, if known.
    """
    features = of_side(model.hparams.features, side)
    sentences = tokenize(encoder, [sentence], starts=bool(features), name=f"{side} line")
    others = tokenize(other[0], [other[1]], starts=bool(features)) if other else None
    return encode_side(
        side, sentences, features, texts, others=others, max_tokens=limit, keep_empty=True
    )


def _features_of(encoded: EncodedSide) -> dict[str, np.ndarray]:
    """Return the ids and features of one sentence, without padding."""
    arrays = {IDS[encoded.side]: encoded.ids, **encoded.features}
    return {name: np.array(rows, "int32") for name, rows in arrays.items()}


def _translated(
    model: Any,
    vocabularies: Vocabularies,
    source: str,
    texts: FeatureTexts,
    hparams: DecodeHParams,
    xla: bool | None,
) -> tuple[Sequence[int], str]:
    """Return the ids and the text of the translation that the decoder gives."""
    if model.capabilities.cannot_translate:
        raise UserError("give the target: the model has no translation of its own to draw")
    translator = Translator(model, vocabularies, hparams.replace(return_beams=False), xla=xla)
    ((found, *_),) = translator.translate([source], features=texts)
    # A source without words has an empty translation.
    return found.ids or (EOS_ID,), found.text

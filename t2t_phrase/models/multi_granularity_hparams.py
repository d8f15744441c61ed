"""The hyperparameters of multi-granularity self-attention."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from t2t_phrase.config import UserError
from t2t_phrase.features import LEVELS, MOST_LEVELS, MOST_TAG_LEVELS, TAGS, Feature
from t2t_phrase.models.phrase_transformer import PhraseHParams
from t2t_phrase.models.transformer_hparams import TransformerHParams

TOKENS = "tokens"
_NAME = re.compile(r"(?P<kind>ngram|level)_(?P<number>[1-9]\d{0,2})")


@dataclasses.dataclass(frozen=True, kw_only=True)
class MultiGranularityHParams(PhraseHParams):
    """The granularities of the encoder's self-attention, and how segments become vectors.

    All other attention (encoder layers without granularities, decoder, cross-attention) is plain by
    default, but may be any that `PhraseHParams` allows.
    """

    model: ClassVar[str] = "multi_granularity_transformer"
    cannot_pack: ClassVar[str] = ""

    encoder_attention: str = "none"
    decoder_attention: str = "none"
    cross_attention: str = "none"
    # The heads are dealt to these in equal parts: tokens; ngram_N, segments of N tokens; level_K,
    # the constituents at depth K of the sentence's tree, which is stored with the data.
    granularities: tuple[str, ...] = (TOKENS, "ngram_2", "ngram_3", "ngram_4")
    granularity_layers: tuple[int, ...] = (1,)  # encoder layers with granularities; 1 = bottom
    composition: Literal["max", "lstm", "attention"] = "attention"  # of the tokens of a segment
    interaction: Literal["none", "lstm", "on_lstm"] = "none"  # among the segments of a sentence
    on_lstm_chunk_size: int = 8  # on_lstm only: units of a head that share a master gate
    # level_K only: weight of the loss of predicting the labels of segments; 0 = not predicted.
    tag_loss_weight: float = 0.0

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that the model reads: with level_K, the beginnings of constituents."""
        return (LEVELS,) if any(map(is_level, self.granularities)) else ()

    @property
    def supervision(self) -> tuple[Feature, ...]:
        """The features that only the loss reads: with a `tag_loss_weight`, constituent labels."""
        return (TAGS,) if self.tag_loss_weight else ()

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        yield from self._check_granularities()
        layers = self.num_encoder_layers or self.num_hidden_layers
        chosen = self.granularity_layers
        if not chosen or list(chosen) != sorted(set(chosen)) or min(chosen) < 1:
            yield (
                "granularity_layers: must be strictly ascending integers, each at least 1, got "
                f"{list(chosen)}"
            )
        elif max(chosen) > layers:
            yield f"granularity_layers: the encoder has {layers} layers, got {list(chosen)}"
        elif len(chosen) == layers and self.encoder_attention != "none":
            yield (
                f"encoder_attention={self.encoder_attention}: is not used, since all layers of the "
                "encoder have granularities"
            )
        if self.max_relative_position:
            yield (
                f"max_relative_position={self.max_relative_position}: segments have no distance "
                "to tokens; use pos=timing"
            )
        yield from self._check_tags()
        yield from self._check_chunks()

    def _check_chunks(self) -> Iterable[str]:
        width, chunk = self.hidden_size // max(self.num_heads, 1), self.on_lstm_chunk_size
        if self.interaction == "on_lstm":
            if chunk < 1 or width % chunk or width == chunk:
                yield (
                    f"on_lstm_chunk_size={chunk}: must divide the head width, "
                    f"hidden_size / num_heads = {width}, into two or more chunks"
                )
        elif chunk != MultiGranularityHParams.on_lstm_chunk_size:
            yield (
                f"on_lstm_chunk_size={chunk}: is only used with interaction=on_lstm, got "
                f"interaction={self.interaction}"
            )

    def _check_granularities(self) -> Iterable[str]:
        names = self.granularities
        for name in names:
            if name == TOKENS:
                continue
            try:
                kind, number = parse_granularity(name)
            except UserError as error:
                yield f"granularities: {error}"
                continue
            if kind == "ngram" and not 2 <= number <= self.max_length:
                yield (
                    f"granularities: {name}: segments have at least 2 and at most "
                    f"max_length={self.max_length} tokens"
                )
            elif kind == "level" and number > MOST_LEVELS:
                yield f"granularities: {name}: trees are cut at {MOST_LEVELS} levels at most"
        if len(set(names)) < len(names):
            yield f"granularities: each may be given only once, got {list(names)}"
        if not set(names) - {TOKENS}:
            yield f"granularities: none of {list(names)} has segments; use model=transformer"
        if len(names) > self.num_heads:
            yield (
                f"granularities: {len(names)} of them need at least {len(names)} heads, got "
                f"num_heads={self.num_heads}"
            )

    def _check_tags(self) -> Iterable[str]:
        weight, names = self.tag_loss_weight, list(self.granularities)
        if weight < 0:
            yield f"tag_loss_weight: must not be negative, got {weight}"
        levels = [int(name.removeprefix("level_")) for name in names if is_level(name)]
        if weight and not levels:
            yield f"tag_loss_weight={weight}: granularities={names} has no level_K with labels"
        elif weight and max(levels) > MOST_TAG_LEVELS:
            yield (
                f"tag_loss_weight={weight}: the data hold the labels of {MOST_TAG_LEVELS} levels, "
                f"but granularities={names} has level_{max(levels)}"
            )


def is_level(name: str) -> bool:
    """Return whether `name` is that of a granularity from trees."""
    match = _NAME.fullmatch(name)
    return match is not None and match["kind"] == "level"


def parse_granularity(name: str) -> tuple[str, int]:
    """Return ("ngram", N) or ("level", K) for the name of a granularity with segments.

    Raises:
        UserError: the name is not that of a granularity.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise UserError(f"expected tokens, ngram_N or level_K, such as ngram_2, got {name!r}")
    return match["kind"], int(match["number"])


def heads_of(hparams: MultiGranularityHParams) -> tuple[str, ...]:
    """Return the granularity of each head; heads of tokens come first.

    Where the heads cannot be dealt equally, the first granularities have one more head.
    """
    names = hparams.granularities
    each, rest = divmod(hparams.num_heads, len(names))
    dealt = [name for i, name in enumerate(names) for _ in range(each + (i < rest))]
    return tuple(sorted(dealt, key=TOKENS.__ne__))


def with_granularities(base: TransformerHParams, **changes: Any) -> MultiGranularityHParams:
    """Return `base` with multi-granularity self-attention.

    Args:
        base: the sizes and the recipe.
        **changes: other fields of `MultiGranularityHParams`.
    """
    return MultiGranularityHParams(**{**vars(base), **changes})

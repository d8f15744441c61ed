"""The Transformer with attention to n-grams (Nguyen and Joty, 2018)."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import keras

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.layers.ngrams import attentions  # noqa: F401 - registers the paper's
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.models.transformer_layers import Position

POSITIONS: tuple[Position, ...] = ("encoder", "decoder", "cross")


@dataclasses.dataclass(frozen=True, kw_only=True)
class PhraseHParams(TransformerHParams):
    """A Transformer's fields, and the attention of each of its three positions.

    An attention is a name in `registry.attentions`; "none" is plain multi-head attention. The
    lists of a position, if not empty, replace those for all positions.
    """

    model: ClassVar[str] = "phrase_transformer"
    cannot_pack: ClassVar[str] = ""

    encoder_attention: str = "heterogeneous_convkv"
    decoder_attention: str = "heterogeneous_convkv"
    cross_attention: str = "heterogeneous_convkv"
    phrase_orders: tuple[int, ...] = (1, 2)  # lengths of the n-grams, ascending
    encoder_orders: tuple[int, ...] = ()
    decoder_orders: tuple[int, ...] = ()
    cross_orders: tuple[int, ...] = ()
    phrase_head_counts: tuple[int, ...] = ()  # homogeneous only: heads for each of the orders
    encoder_head_counts: tuple[int, ...] = ()
    decoder_head_counts: tuple[int, ...] = ()
    cross_head_counts: tuple[int, ...] = ()
    share_key_projection: bool = True  # queryk only: one key matrix for all orders

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        read: set[str] = set()
        homogeneous = []
        for position in POSITIONS:
            choice = attention_choice(self, position)
            try:
                options = choice.options
            except UserError as error:
                yield f"{position}_attention: {error}"
                continue
            read.update(options)
            for name in ("orders", "head_counts"):
                if choice.attention == "none" and getattr(self, f"{position}_{name}"):
                    yield f"{position}_{name}: is not used with {position}_attention=none"
            if choice.attention == "none":
                continue
            yield from self._check_orders(position, choice)
            if self.packed_length and not choice.packs:
                yield (
                    f"packed_length={self.packed_length}: {position}_attention={choice.attention} "
                    "takes no query_positions, which it needs to keep the pairs of a row separate; "
                    "use packed_length=0"
                )
            if "head_counts" in options:
                homogeneous.append(position)
                yield from self._check_head_counts(position, choice)
            elif getattr(self, f"{position}_head_counts"):
                yield (
                    f"{position}_head_counts: only homogeneous attention assigns heads to orders, "
                    f"got {position}_attention={choice.attention}"
                )
        attending = [
            position
            for position in POSITIONS
            if attention_choice(self, position).attention != "none"
        ]
        if self.phrase_orders != type(self).phrase_orders and all(
            getattr(self, f"{position}_orders") for position in attending
        ):
            yield (
                f"phrase_orders={list(self.phrase_orders)}: is not used, since encoder_attention, "
                "decoder_attention and cross_attention are none or have their own orders"
            )
        if self.phrase_head_counts and not homogeneous:
            yield "phrase_head_counts: only homogeneous attention assigns heads to orders"
        elif self.phrase_head_counts and all(
            getattr(self, f"{position}_head_counts") for position in homogeneous
        ):
            yield (
                f"phrase_head_counts={list(self.phrase_head_counts)}: is not used, since each "
                "homogeneous attention has its own"
            )
        if not self.share_key_projection and "share_key_projection" not in read:
            yield (
                "share_key_projection=False: only heterogeneous_queryk and interleaved_queryk can "
                "have a key matrix for each order"
            )

    def _check_orders(self, position: Position, choice: AttentionChoice) -> Iterable[str]:
        orders = choice.orders
        name = f"{position}_orders" if getattr(self, f"{position}_orders") else "phrase_orders"
        if not orders or min(orders) < 1 or list(orders) != sorted(set(orders)):
            yield (
                f"{name}: must be strictly ascending integers, each at least 1, got {list(orders)}"
            )
        elif max(orders) > self.max_length:
            yield (
                f"{name}: no sentence of max_length={self.max_length} tokens holds a phrase of "
                f"{max(orders)}"
            )

    def _check_head_counts(self, position: Position, choice: AttentionChoice) -> Iterable[str]:
        counts = choice.head_counts
        own = getattr(self, f"{position}_head_counts")
        name = f"{position}_head_counts" if own else "phrase_head_counts"
        if len(counts) != len(choice.orders) or min(counts, default=0) < 1:
            yield (
                f"{name}: {position}_attention={choice.attention} needs at least one head for each "
                f"of the orders {list(choice.orders)}, got {list(counts)}"
            )
        elif sum(counts) != self.num_heads:
            yield f"{name}: {list(counts)} must add up to num_heads={self.num_heads}"


class AttentionChoice(NamedTuple):
    """The attention of one position."""

    attention: str
    orders: tuple[int, ...]
    head_counts: tuple[int, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """The options that the attention reads.

        Raises:
            UserError: the attention is unknown.
        """
        return () if self.attention == "none" else registry.attentions[self.attention].options

    @property
    def packs(self) -> bool:
        """Whether the attention is told where sentences begin in rows that hold several."""
        taken = inspect.signature(registry.attentions[self.attention].call).parameters
        return "query_positions" in taken


def attention_choice(hparams: PhraseHParams, position: Position) -> AttentionChoice:
    """Return the choice that the fields describe for one position."""
    attention, orders, head_counts = {
        "encoder": (
            hparams.encoder_attention,
            hparams.encoder_orders,
            hparams.encoder_head_counts,
        ),
        "decoder": (
            hparams.decoder_attention,
            hparams.decoder_orders,
            hparams.decoder_head_counts,
        ),
        "cross": (hparams.cross_attention, hparams.cross_orders, hparams.cross_head_counts),
    }[position]
    return AttentionChoice(
        attention, orders or hparams.phrase_orders, head_counts or hparams.phrase_head_counts
    )


def with_phrase_attention(
    base: TransformerHParams, attention: str, **changes: Any
) -> PhraseHParams:
    """Return `base` with one kind of n-gram attention in all three positions.

    Args:
        base: the sizes and the recipe.
        attention: the kind.
        **changes: other fields of `PhraseHParams`.
    """
    return PhraseHParams(
        **{
            **vars(base),
            **{f"{position}_attention": attention for position in POSITIONS},
            **changes,
        }
    )


@registry.models.register
class PhraseTransformer(Transformer):
    """The Transformer with any kind of n-gram attention in each of its three positions.

    Nguyen and Joty (2018); everything but the attention is as in `Transformer`. Distances of
    relative positions, `max_relative_position`, are those between the ends of n-grams.

    Args:
        hparams: sizes, dropouts and attentions.
        vocab_size: V.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.phrase_transformer import PhraseTransformer

        registry.discover()
        hparams = registry.hparams["phrase_interleaved_convkv_1_2_demo"]()
        model = PhraseTransformer.from_hparams(hparams, vocab_size=4000)
        features = {"inputs": np.array([[5, 6, 7, 1]]), "targets": np.array([[8, 9, 1]])}
        logits = model(features)  # (1, 3, 4000)
        # Queries and memories have tokens first, then bigrams.
        of_first_layer = model.attention_weights(features)["cross"][0]  # (1, 4, 6, 8)
        ```
    """

    hparams_class = PhraseHParams
    hparams: PhraseHParams

    def make_attention(self, position: Position, name: str) -> keras.layers.Layer:
        """Return a new attention layer."""
        hparams = self.hparams
        choice = attention_choice(hparams, position)
        if choice.attention == "none":
            return super().make_attention(position, name)
        available = {
            "head_counts": choice.head_counts,
            "share_key_projection": hparams.share_key_projection,
            "look_ahead": position == "encoder",
        }
        layer: keras.layers.Layer = registry.attentions[choice.attention](
            num_heads=hparams.num_heads,
            hidden_size=hparams.hidden_size,
            orders=choice.orders,
            dropout=hparams.attention_dropout,
            initializer_gain=hparams.attention_initializer_gain,
            max_relative_position=0 if position == "cross" else hparams.max_relative_position,
            dtype=self.dtype_policy,
            name=name,
            **{option: available[option] for option in choice.options},
        )
        return layer

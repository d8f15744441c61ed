"""Keras' implicit masks, as `Embedding(mask_zero=True)` makes them, for layers with explicit ones.

Keras attaches a mask (B, S) to a tensor, and each layer passes it on. The layers here take masks as
arguments with the shapes that attention needs; this mixin translates.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, ClassVar, NamedTuple

import keras
from keras import ops


class MaskArgument(NamedTuple):
    """The argument of a layer that masks the padding of one of its inputs.

    Attributes:
        name: name of the argument.
        axes: number of axes of the mask; the first axis is that of the sentences, the last that of
            the positions.
    """

    name: str
    axes: int


ATTENTION = MaskArgument("attention_mask", 4)
Masks = tuple[tuple[str, MaskArgument], ...]


class ImplicitMasks:
    """Mixin for layers: a mask that Keras has attached to an input counts like an explicit one.

    Where both are given, a position must be True in both. The first output has the mask of the
    first input.

    Attributes:
        implicit_masks: the name of each input with the argument that masks its padding.
    """

    implicit_masks: ClassVar[Masks] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the layer, passing implicit masks as explicit arguments.

        Raises:
            ValueError: an attention mask has three axes, the first one not of size 1.
        """
        try:
            given = inspect.signature(self.call).bind_partial(*args, **kwargs).arguments  # type: ignore[attr-defined]
        except TypeError:
            # Keras explains wrong arguments better.
            return super().__call__(*args, **kwargs)  # type: ignore[misc]
        for name, argument in self.implicit_masks:
            _check_axes(argument, given.get(argument.name))
            mask = _mask_of(given.get(name))
            if mask is None:
                continue
            explicit = given.get(argument.name)
            if explicit is not None and isinstance(given[name], keras.KerasTensor):
                # A loaded model gives its layers the masks of its graph. Joining them with the new
                # masks of its embeddings would change the graph, in which names would then occur
                # twice. Calls with arrays join both.
                continue
            # A given mask may have fewer axes, and is then broadcast.
            # Not by a reshape, which symbols of unknown length do not allow.
            for _ in range(argument.axes - 2):
                mask = ops.expand_dims(mask, 1)
            combined = mask if explicit is None else ops.logical_and(explicit, mask)
            kwargs[argument.name] = combined
            # The explicit mask may have been passed by position.
            place = list(inspect.signature(self.call).parameters).index(argument.name)  # type: ignore[attr-defined]
            if place < len(args):
                del kwargs[argument.name]
                args = (*args[:place], combined, *args[place + 1 :])
        return super().__call__(*args, **kwargs)  # type: ignore[misc]


def _check_axes(argument: MaskArgument, given: Any) -> None:
    shape: Any = getattr(given, "shape", ())
    # Keras' own attention reads the first axis as that of sentences, broadcasting as that of heads.
    if (
        argument.axes == ATTENTION.axes
        and argument.name.endswith("_mask")
        and len(shape) == 3
        and shape[0] != 1
    ):
        raise ValueError(
            f"{argument.name} of shape {tuple(shape)} is ambiguous: add an axis for the heads, "
            "mask[:, None], or for the sentences, mask[None]."
        )


class _MaskReader(keras.layers.Layer):
    """Returns the mask that Keras has attached to a tensor, or None."""

    def call(self, x: Any, mask: Any | None = None) -> Any:
        """Return the mask, which Keras passes."""
        del x
        return mask

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None: the output is a mask, and has none."""
        del inputs, mask


@functools.cache
def _mask_reader() -> _MaskReader:
    return _MaskReader(autocast=False)


def _mask_of(x: Any) -> Any | None:
    """Return the implicit mask of an argument of a layer, or None."""
    mask = getattr(x, "_keras_mask", None)
    if mask is None and ops.is_tensor(x) and not hasattr(x, "__dict__"):
        # Keras keeps the masks of tensors without attributes, as in `jax.jit`, in a table that it
        # shows to layers only.
        return _mask_reader()(x)
    return mask

"""Shapes of JSON values in files that the library writes, which may be damaged or hand-edited."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Object:
    """A JSON object.

    Args:
        required: shapes of the members that must exist.
        optional: shapes of the members that may exist.
        others: shape of all other members; None: there must not be any.
    """

    required: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    optional: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    others: Any = None


@dataclasses.dataclass(frozen=True)
class Nullable:
    """A value of the shape, or null."""

    shape: Any


def parse(text: bytes) -> Any:
    """Parse a JSON value.

    Raises:
        ValueError: the text is not JSON.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("too many brackets") from error


def require(value: Any, shape: Any) -> None:
    """Check the shape of a JSON value.

    Args:
        value: the value.
        shape: `str`, `bool`, `int` (not negative), `object` (anything), an `Object`, a `Nullable`,
            or a list with one shape, which all elements must have.

    Raises:
        ValueError: the value has another shape; the message names the first place.
    """
    for fault in _faults(value, shape, ""):
        raise ValueError(fault)


def _faults(value: Any, shape: Any, place: str) -> Iterator[str]:
    if isinstance(shape, Nullable):
        if value is not None:
            yield from _faults(value, shape.shape, place)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{place} is not a list"
            return
        for number, element in enumerate(value):
            yield from _faults(element, shape[0], f"{place}[{number}]")
    elif isinstance(shape, Object):
        yield from _object_faults(value, shape, place)
    elif shape is not object and (type(value) is not shape or (shape is int and value < 0)):
        expected = {str: "a string", bool: "true or false", int: "a whole number"}[shape]
        yield f"{place} is not {expected}"


def _object_faults(value: Any, shape: Object, place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place or 'the content'} is not an object"
        return
    for name in shape.required:
        if name not in value:
            yield f"{place}.{name} is missing".removeprefix(".")
    known = {**shape.required, **shape.optional}
    for name, member in value.items():
        inner = f"{place}.{name}".removeprefix(".")
        if name in known:
            yield from _faults(member, known[name], inner)
        elif shape.others is None:
            yield f"{inner} is unknown"
        else:
            yield from _faults(member, shape.others, inner)

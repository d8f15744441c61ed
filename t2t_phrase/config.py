"""Immutable typed hyperparameters, checked on construction and overridden in T2T's syntax."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import json
import math
import numbers
import re
import reprlib
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar

T = TypeVar("T", bound="HParams")
# The largest value of an int32 tensor; no option needs more.
LARGEST_INT = 2**31 - 1
# The most faults that a message lists.
_LISTED = 20


class UserError(ValueError):
    """A user's mistake, reported in a sentence without a traceback.

    Attributes:
        exit_code: exit status of the command: 2 for wrong usage or bad data, 3 where the machine
            failed (disk, memory, network) and the same command may succeed later.
    """

    exit_code = 2


class HParamsError(UserError):
    """One or more invalid hyperparameters."""


def nearest(
    name: str, names: Iterable[str], count: int = 3, prefix: str = "", instead: str | None = None
) -> str:
    """Return "; did you mean a or b?", or the empty string if nothing is near.

    Args:
        name: the given name.
        names: the existing names.
        count: the largest number of suggestions.
        prefix: written before each suggestion, such as "--".
        instead: what to use for this name, if that is known: the result is then "; use ...".
    """
    if instead:
        return f"; use {instead}"
    # The time of a comparison grows with the length, and a client may send megabytes.
    found = difflib.get_close_matches(name[:200], list(names), n=count, cutoff=0.6)
    return f"; did you mean {' or '.join(prefix + near for near in found)}?" if found else ""


def clipped(text: str, most: int = 80) -> str:
    """Return a text for a message, without the end of a long text."""
    return text if len(text) <= most else f"{text[:most]}..."


def shown(value: object) -> str:
    """Return the `repr` of a value for a message, shortened where it is long or deeply nested."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 80
    short.maxlevel = 2
    return short.repr(value)


def parse_assignments(text: str) -> dict[str, str]:
    """Split T2T's `a=1,b=[1,2],c=true` into names and raw values.

    Raises:
        HParamsError: a part has no `=` or no name, a name occurs twice, or `text` is no string.
    """
    if not isinstance(text, str):
        raise HParamsError(f"expected a string such as 'a=1,b=[1,2]', got {shown(text)}")
    parsed: dict[str, str] = {}
    faults = []
    for part in split_at_commas(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name or equals):
            continue
        if not (name and equals):
            faults.append(f"{shown(part.strip())}: expected name=value")
        elif name in parsed:
            faults.append(f"{_quoted(name)}: given twice")
        else:
            parsed[name] = value
    if faults:
        brackets = ([text.count(char) for char in pair] for pair in ("[]", "()"))
        if any(opening != closing for opening, closing in brackets):
            faults.append("the brackets do not match")
        raise HParamsError(_joined(faults))
    return parsed


def split_at_commas(text: str) -> list[str]:
    """Split at the commas outside of brackets, as in `a=[1,b_[01]],c=2`.

    A bracket that is never closed is a character like any other, so that only its own part of the
    text is faulty.
    """
    parts = []
    end, depth = len(text), 0
    for at in range(len(text) - 1, -1, -1):
        char = text[at]
        if char in "])":
            depth += 1
        elif char in "[(":
            depth = max(0, depth - 1)
        elif char == "," and not depth:
            parts.append(text[at + 1 : end])
            end = at
    return [text[:end], *reversed(parts)]


def _quoted(name: str) -> str:
    """Return a name for a message, quoted if it is not an identifier."""
    return clipped(name) if name.isidentifier() else shown(name)


def _joined(faults: list[str]) -> str:
    """Return the first faults as one sentence."""
    more = f"; and {len(faults) - _LISTED} more" if len(faults) > _LISTED else ""
    return "; ".join(faults[:_LISTED]) + more


@dataclasses.dataclass(frozen=True, kw_only=True)
class HParams:
    """Base of every set of options: a frozen dataclass of typed fields.

    A subclass checks how its fields fit together in `check`, which returns the faults found.

    Example:
        ```python
        from t2t_phrase import registry

        registry.discover()
        hparams = registry.hparams["transformer_base"]()
        hparams = hparams.override("num_hidden_layers=4,norm=post")
        layers = hparams.num_hidden_layers  # 4
        size = hparams.replace(hidden_size=256).hidden_size  # 256
        ```
    """

    # What to use instead of names that users may know from elsewhere, for messages.
    instead: ClassVar[Mapping[str, str]] = types.MappingProxyType({})

    def __post_init__(self) -> None:
        faults = []
        for name, expected in _field_types(type(self)).items():
            value = getattr(self, name)
            converted, fault = _convert(value, expected)
            if fault:
                faults.append(f"{name}: {fault}")
            elif converted is not value:
                object.__setattr__(self, name, converted)
        # Cross-field checks presuppose well-typed fields.
        faults = faults or list(self.check())
        if faults:
            raise HParamsError(f"{type(self).__name__}: {_joined(faults)}")

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        return ()

    def replace(self: T, /, **changes: Any) -> T:
        """Return a copy with some fields changed.

        Raises:
            HParamsError: names are unknown or values are wrong; the message lists all of them.
        """
        types_by_name = _field_types(type(self))
        faults, values = [], {}
        for name, value in changes.items():
            if name not in types_by_name:
                hint = nearest(name, types_by_name, instead=self.instead.get(name))
                faults.append(f"{_quoted(name)}: unknown{hint}")
                continue
            values[name], fault = _convert(value, types_by_name[name])
            if fault:
                faults.append(f"{name}: {fault}")
        if faults:
            raise HParamsError(f"{type(self).__name__}: {_joined(faults)}")
        return dataclasses.replace(self, **values)

    def override(self: T, text: str) -> T:
        """Return a copy with overrides in T2T's syntax, `a=1,b=[1,2],c=true`."""
        return self.replace(**parse_assignments(text))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-ready values."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in vars(self).items()}

    def to_json(self) -> str:
        """Return the fields as indented JSON, in the order of their declaration."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_dict(cls: type[T], values: Mapping[str, Any]) -> T:
        """Build from the result of `to_dict`; absent fields keep their defaults."""
        return cls().replace(**values)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return "name: old -> new" for every entry that differs."""
    return [
        f"{name}: {old.get(name, '(absent)')} -> {new.get(name, '(absent)')}"
        for name in sorted({*old, *new})
        if (name in old, old.get(name)) != (name in new, new.get(name))
    ]


def _field_types(cls: Any) -> Mapping[str, Any]:
    # `Any`, because mypy would reject a class whose instances have no hash.
    return _cached_field_types(cls)


@functools.cache
def _cached_field_types(cls: Any) -> Mapping[str, Any]:
    hints = typing.get_type_hints(cls)
    types_by_name = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
    return types.MappingProxyType(types_by_name)


class _Misfit(Exception):
    """A value has not the expected type; the text is a hint, or empty."""


def convert_fields(options: Any, fields: Mapping[str, Any]) -> None:
    """Convert fields of a frozen dataclass to their types, such as 3.0 to 3.

    Args:
        options: the dataclass.
        fields: the type by name of a field, which is also the name of a flag.

    Raises:
        UserError: a value cannot be converted.
    """
    for name, expected in fields.items():
        value, fault = _convert(getattr(options, name), expected)
        if fault:
            raise UserError(f"--{name}: {fault}")
        object.__setattr__(options, name, value)


def _convert(value: Any, expected: Any) -> tuple[Any, str | None]:
    """Return (value as `expected`, None), or (value, its fault)."""
    try:
        return _converted(value, expected), None
    except _Misfit as hint:
        return value, f"expected {_describe(expected)}, got {shown(value)}{hint}"


def _converted(value: Any, expected: Any) -> Any:
    origin, args = typing.get_origin(expected), typing.get_args(expected)
    if origin is typing.Literal:
        if value in args:
            return value
        raise _Misfit(nearest(str(value), map(str, args)))
    if origin in (types.UnionType, typing.Union):
        for option in args:
            with contextlib.suppress(_Misfit):
                return _converted(value, option)
        raise _Misfit
    if expected is type(None):
        if value is None or (isinstance(value, str) and value.lower() == "none"):
            return None
        raise _Misfit
    if origin is tuple:
        return _converted_tuple(value, args[0])
    if expected is str:
        if isinstance(value, str):
            return value
        raise _Misfit
    if expected is bool:
        return _converted_bool(value)
    return _converted_number(value, expected)


def _converted_tuple(value: Any, element: Any) -> tuple[Any, ...]:
    if isinstance(value, str):
        match = re.fullmatch(r"[\[(](.*)[\])]", value.strip())
        if not match:
            raise _Misfit
        value = [part.strip() for part in match[1].split(",") if part.strip()]
    if not isinstance(value, (list, tuple)):
        raise _Misfit
    try:
        converted = tuple(_converted(item, element) for item in value)
    except _Misfit:
        raise _Misfit from None
    if isinstance(value, tuple) and all(a is b for a, b in zip(value, converted, strict=True)):
        return value
    return converted


def _converted_bool(value: Any) -> bool:
    named = {"true": True, "false": False, "1": True, "0": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in named:
        return named[value.lower()]
    raise _Misfit


def _converted_number(value: Any, expected: Any) -> int | float:
    # NumPy's integers are no int.
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, str)):
        raise _Misfit
    # Python also accepts digits of other scripts and "1_000".
    if isinstance(value, str) and not re.fullmatch(r"[-+.0-9A-Za-z]+", value):
        raise _Misfit
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise _Misfit from None
    if not math.isfinite(number):
        raise _Misfit
    if expected is float:
        return value if isinstance(value, float) else number
    if abs(number) > LARGEST_INT:
        raise _Misfit(f"; the largest possible value is {LARGEST_INT}")
    if number != int(number):
        raise _Misfit
    return value if isinstance(value, int) else int(number)


def _describe(expected: Any) -> str:
    if typing.get_origin(expected) is typing.Literal:
        return "one of " + ", ".join(map(str, typing.get_args(expected)))
    if typing.get_origin(expected) in (types.UnionType, typing.Union):
        return " or ".join(_describe(option) for option in typing.get_args(expected))
    if typing.get_origin(expected) is tuple:
        return f"a list of {_describe(typing.get_args(expected)[0])}"
    return "none" if expected is type(None) else expected.__name__

"""TensorFlow Serving's JSON for predictions: converts requests to rows, results to answers."""

from __future__ import annotations

import base64
import binascii
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from t2t_phrase.config import UserError, shown
from t2t_phrase.io.strict_json import parse_json
from t2t_phrase.serving.errors import RequestError

DEFAULT = "serving_default"
# Outputs whose names end like this are bytes and not text.
_BYTES = "_bytes"

Row = tuple[bytes, ...]


class PredictRequest(NamedTuple):
    """A prediction that a client asks for.

    Attributes:
        signature: the name of the signature.
        rows: the inputs of each sentence, in the order of the signature's inputs.
        by_row: whether the answer is one object for each sentence ("instances"), not one list for
            each output ("inputs").
    """

    signature: str
    rows: list[Row]
    by_row: bool


def parse_predict(body: bytes, inputs_of: Callable[[str], Sequence[str]]) -> PredictRequest:
    """Return the request that a body describes.

    Args:
        body: JSON, `{"signature_name": ..., "instances": [...]}` or `"inputs"` instead.
        inputs_of: maps the name of a signature to the names of its inputs.

    Raises:
        RequestError: 400, the body is wrong; the message says where.
    """
    request = _object_of(body)
    name = request.get("signature_name")
    if name is not None and not isinstance(name, str):
        raise _wrong(f"signature_name must be a string, got {shown(name)}")
    name = name or DEFAULT
    inputs = inputs_of(name)
    given = [key for key in ("instances", "inputs") if key in request]
    if len(given) != 1:
        problem = "give only one of them" if given else "one of them is missing"
        raise _wrong(f'expected the key "instances" or the key "inputs": {problem}')
    values = request[given[0]]
    if given == ["instances"]:
        return PredictRequest(name, _rows_of_instances(values, inputs), True)
    return PredictRequest(name, _rows_of_columns(values, inputs), False)


def format_predict(request: PredictRequest, outputs: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the answer to a request.

    The name of an output is left out where there is only one.

    Args:
        request: the request.
        outputs: the values of each output, one for each row.
    """
    written = {
        name: [_written(value, as_bytes=name.endswith(_BYTES)) for value in values]
        for name, values in outputs.items()
    }
    if not request.by_row:
        return {"outputs": written if len(written) > 1 else next(iter(written.values()))}
    if len(written) == 1:
        return {"predictions": next(iter(written.values()))}
    rows = zip(*written.values(), strict=True)
    return {"predictions": [dict(zip(written, row, strict=True)) for row in rows]}


def _object_of(body: bytes) -> dict[str, Any]:
    if not body.strip():
        raise _wrong('the body is empty; expected JSON such as {"instances": [{"text": "A ."}]}')
    try:
        request = parse_json(body.decode("utf-8-sig"), "the body")
    except UnicodeDecodeError as error:
        raise _wrong(
            f"the body is not valid UTF-8, at byte {error.start}; send bytes that are not text as "
            '{"b64": ...}'
        ) from None
    except UserError as error:
        raise _wrong(str(error)) from None
    if not isinstance(request, dict):
        raise _wrong(f"the body must be a JSON object, got {shown(request)}")
    return request


def _rows_of_instances(instances: Any, inputs: Sequence[str]) -> list[Row]:
    if not isinstance(instances, list) or not instances:
        raise _wrong(f"instances must be a list with at least one entry, got {shown(instances)}")
    rows = []
    for number, instance in enumerate(instances):
        place = f"instances[{number}]"
        if isinstance(instance, dict) and not _is_b64(instance):
            _check_names(instance, inputs, place)
            rows.append(tuple(_bytes_of(instance[name], f"{place}.{name}") for name in inputs))
        elif len(inputs) == 1:
            rows.append((_bytes_of(instance, place),))
        else:
            raise _wrong(f"{place} must be an object with {_named(inputs)}, got {shown(instance)}")
    return rows


def _rows_of_columns(columns: Any, inputs: Sequence[str]) -> list[Row]:
    if not isinstance(columns, dict):
        if len(inputs) > 1:
            raise _wrong(f"inputs must be an object with {_named(inputs)}, got {shown(columns)}")
        columns = {inputs[0]: columns}
    _check_names(columns, inputs, "inputs")
    values = []
    for name in inputs:
        column = columns[name]
        if not isinstance(column, list):
            raise _wrong(f"inputs.{name} must be a list of strings, got {shown(column)}")
        values.append([_bytes_of(v, f"inputs.{name}[{i}]") for i, v in enumerate(column)])
    if len({len(column) for column in values}) > 1:
        sizes = ", ".join(f"{n}: {len(c)}" for n, c in zip(inputs, values, strict=True))
        raise _wrong(f"inputs must be lists of the same length, got {sizes}")
    return list(zip(*values, strict=True))


def _check_names(given: Mapping[str, Any], inputs: Sequence[str], place: str) -> None:
    if given.keys() != set(inputs):
        missing = [name for name in inputs if name not in given]
        unknown = list(itertools.islice((name for name in given if name not in inputs), 5))
        problems = [f"{', '.join(missing)} missing"] * bool(missing)
        problems += [f"{', '.join(map(shown, unknown))} unknown"] * bool(unknown)
        raise _wrong(f"{place} must have {_named(inputs)}: {'; '.join(problems)}")


def _named(inputs: Sequence[str]) -> str:
    return f"the input{'s' * (len(inputs) > 1)} {', '.join(inputs)}"


def _is_b64(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"b64"}


def _bytes_of(value: Any, place: str) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if _is_b64(value) and isinstance(value["b64"], str):
        try:
            return base64.b64decode(value["b64"], validate=True)
        except (binascii.Error, ValueError) as error:
            raise _wrong(f"{place}.b64 is not valid base64: {error}") from None
    raise _wrong(f'{place} must be a string or {{"b64": "..."}}, got {shown(value)}')


def _written(value: Any, *, as_bytes: bool) -> Any:
    if isinstance(value, list):
        return [_written(inner, as_bytes=as_bytes) for inner in value]
    if not isinstance(value, bytes):
        return value
    if as_bytes:
        return {"b64": base64.b64encode(value).decode()}
    return value.decode(errors="replace")


def _wrong(message: str) -> RequestError:
    return RequestError(400, message)

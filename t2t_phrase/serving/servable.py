"""A model that is served: signatures from strings to values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from t2t_phrase.config import nearest
from t2t_phrase.serving.errors import RequestError

# Maps the values of each input (B) to those of each output (B, ...). It raises a RequestError where
# an input is wrong.
Run = Callable[[Sequence[Sequence[bytes]]], Mapping[str, list[Any]]]


@dataclasses.dataclass(frozen=True)
class Output:
    """A result of a signature.

    Attributes:
        dtype: TensorFlow's name for its type, such as "DT_STRING".
        shape: the first dimension is that of the sentences; -1 is unknown.
    """

    dtype: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Signature:
    """A function of sentences that a model offers.

    Attributes:
        name: the name by which clients choose it.
        inputs: the names of the inputs, each (B,) string.
        outputs: the outputs by name.
        run: the function.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: Mapping[str, Output]
    run: Run


@dataclasses.dataclass(frozen=True, eq=False)
class Servable:
    """One version of a model.

    Attributes:
        version: the number of the version.
        signatures: the signatures by name.
        count_tokens: counts the tokens of translations; None: they cannot be counted.
    """

    version: int
    signatures: Mapping[str, Signature]
    count_tokens: Callable[[Sequence[bytes]], int] | None = None

    def signature(self, name: str) -> Signature:
        """Return a signature.

        Raises:
            RequestError: 400, no signature has that name.
        """
        if name not in self.signatures:
            hint = nearest(name, self.signatures) or f"; known: {', '.join(self.signatures)}"
            raise RequestError(
                400, f'Serving signature name: "{name[:80]}" not found in signature def{hint}'
            )
        return self.signatures[name]

    def metadata(self) -> dict[str, Any]:
        """Return the signatures as TensorFlow Serving describes them."""
        return {name: _described(signature) for name, signature in self.signatures.items()}


def _described(signature: Signature) -> dict[str, Any]:
    text = Output("DT_STRING", (-1,))
    return {
        "inputs": {name: _tensor(text, f"{signature.name}_{name}:0") for name in signature.inputs},
        "outputs": {
            name: _tensor(output, f"{signature.name}_{name}:0")
            for name, output in signature.outputs.items()
        },
        "method_name": "tensorflow/serving/predict",
    }


def _tensor(output: Output, name: str) -> dict[str, Any]:
    dims = [{"size": str(size), "name": ""} for size in output.shape]
    return {
        "dtype": output.dtype,
        "tensor_shape": {"dim": dims, "unknown_rank": False},
        "name": name,
    }

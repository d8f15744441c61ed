"""Names of adapters (`lora_rank`) in checkpoints."""

from __future__ import annotations

from collections.abc import Iterable

# Keras' names of the two factors.
_A, _B = "lora_kernel_a", "lora_kernel_b"


def adapters(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the names of both factors A and B of each kernel with an adapter, by kernel.

    Args:
        names: of the weights of a checkpoint.
    """
    split = sorted(name.rpartition("/") for name in names)
    places = [place for place, _, weight in split if weight == _A]
    return {f"{place}/kernel": (f"{place}/{_A}", f"{place}/{_B}") for place in places}

"""The leaves of nested structures, by their names in ONNX graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keras import tree


def named_leaves(structure: Any, prefix: str) -> dict[str, Any]:
    """Return each leaf by its place in a nested structure, such as "memory/layers/0/key".

    Args:
        structure: dictionaries, lists and tuples of leaves.
        prefix: the first part of each name.
    """
    leaves = tree.flatten_with_path(structure)
    return {"/".join(map(str, (prefix, *path))): leaf for path, leaf in leaves}


def with_leaves(structure: Any, prefix: str, leaves: Mapping[str, Any]) -> Any:
    """Return a structure with other leaves, found by the names that `named_leaves` gives.

    Args:
        structure: dictionaries, lists and tuples of leaves.
        prefix: the first part of each name.
        leaves: the new leaves by name; names that are not in the structure are ignored.
    """
    names = named_leaves(structure, prefix)
    return tree.pack_sequence_as(structure, [leaves[name] for name in names])

"""The leaves of nested structures by name, as graphs of ONNX call them."""

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
    """Return a structure with other leaves, which are found by the names of `named_leaves`.

    Args:
        structure: dictionaries, lists and tuples of leaves.
        prefix: the first part of each name.
        leaves: by name; others are left out.
    """
    names = named_leaves(structure, prefix)
    return tree.pack_sequence_as(structure, [leaves[name] for name in names])

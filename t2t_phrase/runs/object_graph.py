"""The graph of objects in a checkpoint, by which `tf.train.Checkpoint` finds its variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from t2t_phrase.runs.protobuf import field

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
# The suffix that TensorFlow appends to the name of a variable.
SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
_HAS_VALUES = field(5, field(1, 1))


def key_of(name: str, group: str = "") -> str:
    """Return the key of a variable of a group; the format escapes "/" in names.

    Args:
        name: name of the variable.
        group: its group in the graph; empty: it has none.
    """
    escaped = name.replace(".", "..").replace("/", ".S")
    return f"{group}/{escaped}{SUFFIX}" if group else f"{escaped}{SUFFIX}"


def object_graph(single: Sequence[str], groups: Mapping[str, Sequence[str]]) -> bytes:
    """Return the graph of single variables and of dictionaries of variables.

    Args:
        single: names of variables of the root.
        groups: names of the variables of each dictionary, by its name.
    """
    # The root, its children, and the variables of the dictionaries, in this order.
    children = [*groups, *single]
    nodes = [_node(children, first=1)]
    leaves: list[bytes] = []
    for group, names in groups.items():
        nodes.append(_node(names, first=1 + len(children) + len(leaves)))
        leaves += [_variable(key_of(name, group)) for name in names]
    nodes += [_variable(key_of(name)) for name in single]
    return b"".join(field(1, node) for node in (*nodes, *leaves))


def _node(names: Sequence[str], *, first: int) -> bytes:
    children = [
        field(1, field(1, number) + field(2, name.encode()))
        for number, name in enumerate(names, start=first)
    ]
    return b"".join(children) + _HAS_VALUES


def _variable(key: str) -> bytes:
    attribute = field(1, b"VARIABLE_VALUE") + field(2, b"Variable") + field(3, key.encode())
    return field(2, attribute) + _HAS_VALUES

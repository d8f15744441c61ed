"""Names that tell apart the attention of models that are part of another model."""

from __future__ import annotations

import dataclasses
from typing import Any

from t2t_phrase.layers.attention.layout import AttentionMap, Layout, Units
from t2t_phrase.models.exhibit import Exhibit


def layout_of_member(member: str, layout: Layout) -> Layout:
    """Return the layout with the partition "x" called "MEMBER/x"."""

    def renamed(blocks: tuple[Units, ...]) -> tuple[Units, ...]:
        return tuple(
            dataclasses.replace(units, partition=units.partition and f"{member}/{units.partition}")
            for units in blocks
        )

    return dataclasses.replace(
        layout,
        rows=renamed(layout.rows),
        columns=renamed(layout.columns),
        columns_by_head=renamed(layout.columns_by_head),
    )


def of_member(member: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with "x" called "MEMBER/x"."""
    return {f"{member}/{name}": value for name, value in values.items()}


def maps_of_member(member: str, maps: dict[str, AttentionMap]) -> dict[str, AttentionMap]:
    """Return attention maps with "x" called "MEMBER/x" and titles that begin with "MEMBER: "."""
    return of_member(
        member,
        {
            name: dataclasses.replace(
                found,
                title=f"{member}: {found.title}",
                layouts=tuple(layout_of_member(member, layout) for layout in found.layouts),
            )
            for name, found in maps.items()
        },
    )


def exhibits_of_member(member: str, exhibits: dict[str, Exhibit]) -> dict[str, Exhibit]:
    """Return exhibits with "x" called "MEMBER/x" and titles that begin with "MEMBER: "."""
    return of_member(
        member,
        {
            name: found._replace(title=f"{member}: {found.title}")
            for name, found in exhibits.items()
        },
    )

"""One set of links from the alignments of both directions (Koehn et al., 2003)."""

from __future__ import annotations

from collections.abc import Callable, Collection

Link = tuple[int, int]

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def grow_diag_final_and(forward: Collection[Link], backward: Collection[Link]) -> set[Link]:
    """Return the intersection, grown by links of the union.

    Differs from the paper: links are tried in the order of source words, not of target words.

    First, links that neighbour an accepted link, also diagonally, and whose source or target word
    has no link yet are added until there are no more; then links whose words both have none, those
    of `forward` first.
    """
    found, union = set(forward) & set(backward), {*forward, *backward}
    sources, targets = {i for i, _ in found}, {j for _, j in found}
    rows, grown = sorted(union), True
    while grown:
        grown = False
        # An added link counts at once, as in implementations that walk through a matrix.
        for i, j in rows:
            if (i, j) not in found:
                continue
            for a, b in _NEIGHBOURS:
                near = (i + a, j + b)
                if near in union and (near[0] not in sources or near[1] not in targets):
                    found.add(near)
                    sources.add(near[0])
                    targets.add(near[1])
                    grown = True
    for links in (forward, backward):
        for i, j in sorted(links):
            if i not in sources and j not in targets:
                found.add((i, j))
                sources.add(i)
                targets.add(j)
    return found


SYMMETRIZATIONS: dict[str, Callable[[Collection[Link], Collection[Link]], set[Link]]] = {
    "grow-diag-final-and": grow_diag_final_and,
    "intersection": lambda forward, backward: {*forward} & {*backward},
    "union": lambda forward, backward: {*forward, *backward},
    "forward": lambda forward, backward: {*forward},
    "backward": lambda forward, backward: {*backward},
}

"""The table of `alignment_quality.py`: a row for each system and seed."""

from __future__ import annotations

import dataclasses

from t2t_phrase.comparison.table import grid


@dataclasses.dataclass(frozen=True)
class Row:
    """The measurements of a system.

    Attributes:
        parameters: number of weights, those of the alignment model included.
        perplexity: of the development set, per token.
        jump_perplexity: of the alignment model on the same set; None: no alignment model.
        positions: source positions evaluated for each target token; None: no alignment model.
    """

    system: str
    seed: int
    parameters: int
    bleu: float
    ter: float
    p_value: float | None
    perplexity: float
    jump_perplexity: float | None
    positions: float | None


def markdown(rows: list[Row]) -> str:
    """Return the rows as a table."""
    lines = [
        ["system", "seed", "parameters", "BLEU", "TER", "p", "perplexity", "of jumps", "positions"]
    ]
    for row in rows:
        lines.append(
            [
                f"`{row.system}`",
                str(row.seed),
                f"{row.parameters / 1e6:.2f}M",
                f"{row.bleu:.2f}",
                f"{row.ter:.2f}",
                "" if row.p_value is None else f"{row.p_value:.3f}",
                f"{row.perplexity:.3f}",
                "" if row.jump_perplexity is None else f"{row.jump_perplexity:.3f}",
                "" if row.positions is None else f"{row.positions:.2f}",
            ]
        )
    return grid(lines)

"""The inputs of a comparison: translations of several systems, and optional further data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from t2t_phrase import grammar
from t2t_phrase.config import UserError, clipped, shown
from t2t_phrase.evaluation.approximate_randomisation import EXCHANGES
from t2t_phrase.evaluation.significance import RESAMPLES
from t2t_phrase.io.strict_json import parse_json
from t2t_phrase.io.text_files import read_text

# The numbers of right decisions and of all decisions, by the kind of error.
Contrasts = Mapping[str, tuple[int, int]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonInputs:
    """Several systems on one test set; the first is the baseline.

    Attributes:
        systems: the translations of each system, by its name; at least two systems.
        references: one list or several.
        sources: the sentences; None if they are not given.
        boundaries: of source lengths in words.
        orders: n-grams up to this order; 0: none.
        facts: phenomena of each sentence, see `read_facts`; None if they are not given.
        contrasts: by system, see `read_contrasts`; {} if they are not given.
        word_counts: of the training text; None if it is not given.
        metrics: names, see `METRICS`.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.
        resamples: of the paired bootstrap.
        exchanges: of approximate randomisation.

    Raises:
        UserError: there are fewer than two systems, the numbers of sentences differ, or the
            training text has no words.
    """

    systems: Mapping[str, Sequence[str]]
    references: Sequence[Sequence[str]]
    sources: Sequence[str] | None = None
    boundaries: Sequence[int] = ()
    orders: int = 0
    facts: Sequence[Sequence[grammar.Rendering]] | None = None
    contrasts: Mapping[str, Contrasts] = dataclasses.field(default_factory=dict)
    word_counts: Mapping[str, int] | None = None
    metrics: Sequence[str] = ("bleu",)
    tokenize: str = "13a"
    lowercase: bool = False
    resamples: int = RESAMPLES
    exchanges: int = EXCHANGES

    def __post_init__(self) -> None:
        if len(self.systems) < 2:
            raise UserError("--systems: give at least two; --translation scores one")
        counts = {name: len(lines) for name, lines in self.systems.items()}
        for number, column in enumerate(self.references, start=1):
            counts[f"reference {number}"] = len(column)
        for name, lines in (("source", self.sources), ("facts", self.facts)):
            if lines is not None:
                counts[name] = len(lines)
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{clipped(name)} {count}" for name, count in counts.items())
            raise UserError(f"the files must have the same number of lines, but have: {listed}")
        if self.word_counts is not None and not self.word_counts:
            raise UserError(
                "--training_text has no words; name the training corpus, or leave it out"
            )
        if unknown := [name for name in self.contrasts if name not in self.systems]:
            known = ", ".join(map(clipped, self.systems))
            raise UserError(
                f"--contrasts: {shown(unknown[0])} is not a system; --systems has {known}"
            )

    @property
    def baseline(self) -> str:
        """The name of the first system."""
        return next(iter(self.systems))

    @property
    def options(self) -> dict[str, Any]:
        """The options for scoring."""
        return {"tokenize": self.tokenize, "lowercase": self.lowercase}


def read_contrasts(path: str) -> Contrasts:
    """Read the counts that t2t-phrase-contrast writes to --json_to_file.

    Returns:
        (right, total) by the kind of error, and for all kinds together as "all".

    Raises:
        UserError: the file cannot be read, or holds no such counts.
    """
    content = parse_json("\n".join(read_text(path)), path)
    try:
        shares = {**content["kinds"], "all": content["overall"]}
        found = {str(kind): (share["right"], share["total"]) for kind, share in shares.items()}
    except (KeyError, TypeError, AttributeError):
        found = {}
    if not found or not all(
        type(right) is int and type(total) is int and 0 <= right <= total and total
        for right, total in found.values()
    ):
        raise UserError(
            f"{path}: expected the counts that t2t-phrase-contrast writes to --json_to_file"
        )
    return found

"""The tables of a comparison; their numbers are computed by `evaluation`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from t2t_phrase import grammar
from t2t_phrase.config import UserError
from t2t_phrase.evaluation.by_frequency import FrequencyGroup, f1_by_frequency
from t2t_phrase.evaluation.by_length import LengthGroup, bleu_by_length
from t2t_phrase.evaluation.ngram_precision import NgramPrecisions, ngram_precisions
from t2t_phrase.evaluation.p_text import p_text
from t2t_phrase.evaluation.phenomena import accuracies, compare, judge
from t2t_phrase.evaluation.systems import SystemScores, compare_systems
from t2t_phrase.io.reporting import progress
from t2t_phrase.reports.comparison.inputs import ComparisonInputs

# The names of all tables; a figure has the name of its table.
NAMES = ("scores", "lengths", "ngrams", "frequencies", "phenomena", "contrasts")


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes:
        name: of its file, without extension.
        title: its heading.
        header: the names of the columns.
        rows: a text for each column.
        notes: lines that belong to the table, such as signatures.

    Raises:
        UserError: a system has the name of another column.
    """

    name: str
    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str]

    def __post_init__(self) -> None:
        for at, column in enumerate(self.header):
            if column in self.header[:at]:
                raise UserError(
                    f"the table {self.title!r} has another column named {column!r}; give the "
                    "system another name"
                )


@dataclasses.dataclass(frozen=True)
class Measured:
    """Everything that is computed for a comparison.

    Attributes:
        scores: of the whole test set.
        lengths: BLEU by source length of each system; {} without source.
        ngrams: n-gram precision of each system, compared with that of the first; {} if not
            wanted.
        frequencies: F1 by word frequency of each system; {} without training text.
        tables: of all these, of phenomena and of contrastive pairs, where they are given.
    """

    scores: SystemScores
    lengths: dict[str, list[LengthGroup]]
    ngrams: dict[str, NgramPrecisions]
    frequencies: dict[str, list[FrequencyGroup]]
    tables: list[Table]


def measure(given: ComparisonInputs, *, log: Callable[[str], None]) -> Measured:
    """Compute everything whose inputs are given.

    Args:
        given: the inputs.
        log: called with a line before each part of the work.

    Raises:
        UserError: a metric, the tokenizer or a boundary is wrong.
    """
    metrics = ", ".join(given.metrics)
    progress(log, f"comparing {len(given.systems)} systems with {given.baseline} by {metrics}")
    scores = compare_systems(
        given.systems,
        given.references,
        metrics=given.metrics,
        resamples=given.resamples,
        exchanges=given.exchanges,
        **given.options,
    )
    header, rows = scores.table()
    tables = [Table("scores", "Scores", header, rows, scores.notes())]
    lengths: dict[str, list[LengthGroup]] = {}
    if given.sources is not None:
        progress(log, "BLEU by source length")
        for name, lines in given.systems.items():
            lengths[name] = bleu_by_length(
                lines,
                given.references,
                given.sources,
                boundaries=given.boundaries,
                **given.options,
            )
        tables.append(_by_length(lengths))
    ngrams: dict[str, NgramPrecisions] = {}
    if given.orders:
        progress(log, "precision of n-grams")
        baseline = given.systems[given.baseline]
        for name, lines in given.systems.items():
            ngrams[name] = ngram_precisions(
                lines,
                given.references,
                orders=given.orders,
                baseline=None if name == given.baseline else baseline,
                resamples=given.resamples,
                **given.options,
            )
        tables.append(_by_order(ngrams))
    frequencies: dict[str, list[FrequencyGroup]] = {}
    if given.word_counts is not None:
        progress(log, "F1 by word frequency")
        for name, lines in given.systems.items():
            frequencies[name] = f1_by_frequency(
                lines, given.references[0], given.word_counts, **given.options
            )
        tables.append(_by_frequency(frequencies, len(given.references)))
    if given.facts is not None:
        tables.append(_by_phenomenon(given, given.facts))
    if given.contrasts:
        tables.append(_by_contrast(given))
    return Measured(scores, lengths, ngrams, frequencies, tables)


def _by_length(found: dict[str, list[LengthGroup]]) -> Table:
    first = next(iter(found.values()))
    rows = [
        [
            group.name,
            str(group.sentences),
            *(_text(_bleu(own[at]), ".2f") for own in found.values()),
        ]
        for at, group in enumerate(first)
    ]
    notes = list(dict.fromkeys(f"BLEU: {g.score.signature}" for g in first if g.score))
    return Table("lengths", "BLEU by source length", ["source", "sentences", *found], rows, notes)


def _by_order(found: dict[str, NgramPrecisions]) -> Table:
    base, *others = found
    header = ["order", base]
    for name in others:
        header += [name, f"{name} - {base}", f"p ({name})"]
    rows = []
    for at, first in enumerate(found[base].orders):
        row = [str(first.order), _text(first.precision, ".2f")]
        for name in others:
            own = found[name].orders[at]
            row += [_text(own.precision, ".2f"), _text(own.difference, "+.2f")]
            row.append(_text(own.p_value, ".4f"))
        rows.append(row)
    notes = list(dict.fromkeys(f"n-gram precision: {own.signature}" for own in found.values()))
    return Table("ngrams", "Precision of n-grams by order", header, rows, notes)


def _by_frequency(found: dict[str, list[FrequencyGroup]], references: int) -> Table:
    first = next(iter(found.values()))
    rows = [
        [group.name, str(group.references), *(_text(own[at].f1, ".2f") for own in found.values())]
        for at, group in enumerate(first)
    ]
    notes = ["F1 of the words of translations and reference, by occurrences in the training text"]
    if references > 1:
        notes.append("against the first reference")
    header = ["occurrences", "words of the reference", *found]
    return Table("frequencies", "F1 by word frequency", header, rows, notes)


def _by_phenomenon(given: ComparisonInputs, facts: Sequence[Sequence[grammar.Rendering]]) -> Table:
    judged = {name: judge(lines, facts) for name, lines in given.systems.items()}
    counted = {name: accuracies(own) for name, own in judged.items()}
    compared = {
        name: compare(own, judged[given.baseline])
        for name, own in judged.items()
        if name != given.baseline
    }
    header = ["kind", "items", given.baseline]
    for name in compared:
        header += [name, f"p ({name})"]
    rows = []
    for at, first in enumerate(counted[given.baseline]):
        row = [first.kind, str(first.total), f"{first.percent:.2f}%"]
        for name, comparisons in compared.items():
            row += [f"{counted[name][at].percent:.2f}%", p_text(comparisons[at].p_value)]
        rows.append(row)
    notes = ["translated with all words of the reference; p by McNemar's exact test"]
    return Table("phenomena", "Accuracy by phenomenon", header, rows, notes)


def _by_contrast(given: ComparisonInputs) -> Table:
    names = [name for name in given.systems if name in given.contrasts]
    kinds = list(dict.fromkeys(kind for name in names for kind in given.contrasts[name]))
    rows = []
    # "all" is the last row, whatever the order in which the systems have their kinds.
    for kind in [*(kind for kind in kinds if kind != "all"), "all"]:
        row = [kind]
        for name in names:
            right, total = given.contrasts[name].get(kind, (0, 0))
            row += [f"{100 * right / total:.2f}%" if total else "-", str(total)]
        rows.append(row)
    header = ["kind"]
    for name in names:
        header += [name, f"pairs ({name})"]
    notes = ["pairs whose reference is more probable than its corrupted copy"]
    return Table("contrasts", "Contrastive accuracy", header, rows, notes)


def _bleu(group: LengthGroup) -> float | None:
    return None if group.score is None else group.score.value


def _text(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)

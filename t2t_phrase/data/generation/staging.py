"""From raw pairs to clean text files: faults are dropped, counted and named."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from typing import TextIO

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.progress import Progress
from t2t_phrase.data.sources.corpus import Pair
from t2t_phrase.files import explain_os_error
from t2t_phrase.text.trees.subword_phrases import cut_by_tree
from t2t_phrase.text.trees.trees import TreeError
from t2t_phrase.text.whitespace import normalize_whitespace

# Faults listed by place; the others are only counted.
LISTED = 10


@dataclasses.dataclass
class Faults:
    """Counts of faulty lines by kind, and the places of the first few of each kind."""

    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    places: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    def add(self, kind: str, place: str) -> None:
        """Note one fault."""
        self.counts[kind] += 1
        listed = self.places.setdefault(kind, [])
        if len(listed) < LISTED:
            listed.append(place)

    def describe(self, consequence: str) -> list[str]:
        """Return one line for each kind of fault."""
        lines = []
        for kind, count in self.counts.items():
            listed = ", ".join(self.places[kind])
            rest = f" and {count - LISTED} more" if count > LISTED else ""
            lines.append(f"{count} x {kind} ({consequence}): {listed}{rest}")
        return lines


def find_faults(pair: Pair, *, max_characters: int) -> Iterator[tuple[str, str]]:
    """Yield (kind, "file:line") for everything that is wrong with a pair."""
    for text, name in zip(pair.texts, pair.names, strict=True):
        place = f"{name}:{pair.line}"
        if text is None:
            yield "invalid UTF-8", place
        elif not text or text.isspace():
            yield "empty side", place
        elif len(text) > max_characters:
            yield f"side over {max_characters} characters", place


def deal(index: int, shards: int) -> int:
    """Return the shard of the pair at `index`.

    Every round of pairs starts one shard further on: corpora have periods (Multi30k's even lines
    are shorter than its odd ones) that plain turns would turn into shards of different kinds.
    """
    return (index + index // shards) % shards


def dealt_index(shard: int, line: int, shards: int) -> int:
    """Return the index of the pair that stands in a shard at `line`, from 0."""
    return line * shards + (shard - line) % shards


@dataclasses.dataclass(frozen=True, kw_only=True)
class Staged:
    """Result of `stage`: pairs written, faults of each kind, sentences to print."""

    pairs: int
    faults: dict[str, int]
    messages: list[str]


def stage(
    pairs: Iterator[Pair],
    *,
    dealt: Sequence[Sequence[pathlib.Path]],
    whole: Sequence[pathlib.Path],
    drop_faulty: bool,
    max_characters: int,
    progress: Progress,
    trees: int | None = None,
) -> Staged:
    """Write the pairs, blanks normalised, to parallel text files.

    Args:
        pairs: raw pairs.
        dealt: (source, target) paths of shards, or (source, target, trees), which get the pairs as
            `deal` says.
        whole: one path for each text of a pair and then one for each side stream, which get all
            pairs; or none.
        drop_faulty: leave out faulty pairs (training). Otherwise empty and over-long sides are
            kept, so that line numbers and scores stay what they are, and invalid UTF-8 is refused.
        max_characters: longest side that is no fault.
        progress: told of every pair.
        trees: which of the side streams holds the trees of the sources, which are checked.

    Raises:
        UserError: invalid UTF-8 where it is refused, a tree that does not fit its sentence, no
            pairs at all, or a full disk.
    """
    faults = Faults()
    misfits = []
    written = 0
    with contextlib.ExitStack() as stack:
        groups = [[_open(stack, path) for path in group] for group in dealt]
        files = [_open(stack, path) for path in whole]
        for pair in pairs:
            progress.advance()
            found = list(find_faults(pair, max_characters=max_characters))
            for kind, place in found:
                faults.add(kind, place)
            if found and (drop_faulty or None in pair.texts):
                continue
            texts = [normalize_whitespace(text or "") for text in pair.texts]
            if trees is not None and (misfit := _misfit(pair, texts[0], trees)):
                misfits.append(misfit)
                if len(misfits) == LISTED:
                    break
            if groups:
                row = texts[:2] if trees is None else [*texts[:2], pair.side[trees]]
                for file, text in zip(groups[deal(written, len(groups))], row, strict=True):
                    _write(file, text)
            columns = [*texts, *pair.side]
            if files and len(columns) != len(files):
                raise UserError(
                    f"{pair.names[-1]}:{pair.line}: {len(texts) - 1} references, but "
                    f"{len(files) - len(pair.side) - 1} at the start of the set"
                )
            for file, text in zip(files, columns, strict=False):
                _write(file, text)
            written += 1
        _close(stack, (*whole, *(path for group in dealt for path in group))[0])
    if misfits:
        raise UserError("trees that do not fit their sentences: " + "; ".join(misfits))
    if not drop_faulty and faults.counts["invalid UTF-8"]:
        raise UserError("; ".join(faults.describe("refused in a dev or test set")))
    if not written:
        detail = "; ".join(faults.describe("dropped"))
        raise UserError(f"not one usable sentence pair{': ' if detail else ''}{detail}")
    consequence = "dropped" if drop_faulty else "kept, so that scores stay comparable"
    return Staged(
        pairs=written,
        faults={kind: count for kind, count in faults.counts.items() if count},
        messages=faults.describe(consequence),
    )


def _misfit(pair: Pair, source: str, trees: int) -> str | None:
    """Return where the tree of a pair stands and what is wrong with it, if anything is."""
    try:
        cut_by_tree(source, pair.side[trees])
    except TreeError as error:
        return f"{pair.side_names[trees]}:{pair.line}: {error}"
    return None


def _open(stack: contextlib.ExitStack, path: pathlib.Path) -> TextIO:
    try:
        return stack.enter_context(open(path, "w", encoding="utf-8", newline="\n"))
    except OSError as error:
        raise explain_os_error(error, path) from error


def _write(file: TextIO, text: str) -> None:
    try:
        file.write(text + "\n")
    except OSError as error:
        raise explain_os_error(error, pathlib.Path(file.name)) from error


def _close(stack: contextlib.ExitStack, path: pathlib.Path) -> None:
    # Closing writes what is buffered, so this too is where a full disk shows.
    try:
        stack.close()
    except OSError as error:
        raise explain_os_error(error, path) from error

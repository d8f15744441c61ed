"""Work on the lines of a text, from a file or standard input to a file or standard output."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.io.files import explain_os_error, is_special, open_special, refuse_inputs
from t2t_phrase.io.journal import Journal, UnusableJournal, name_beside
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.line_windows import windows
from t2t_phrase.io.reporting import Ticker, note
from t2t_phrase.io.resumable import Stream, Work, run
from t2t_phrase.io.text_files import check_writable, count_lines, stream_text


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The results of a job.

    Attributes:
        lines: number of lines of the text.
        kept: number of lines done by an earlier run.
        amount: sum of the results' amounts in this run.
        total: the same, earlier runs included.
        counts: sums of the results' counts, earlier runs included.
    """

    lines: int
    kept: int
    amount: float
    total: float
    counts: Mapping[str, int]


def check_paths(target: str | None, inputs: Iterable[str | None]) -> None:
    """Refuse an output that is an input, or that cannot be written; see `files.refuse_inputs`.

    Raises:
        UserError: the output is an input, cannot be written, or has the name of a compressed file.
    """
    refuse_inputs(target, inputs)
    if target is not None:
        if target.endswith(".gz") and not is_special(target):
            # Every command would take it for a damaged file.
            raise UserError(f"{target}: output is not compressed; give a name without .gz")
        check_writable(target)


def check_beside(target: str | None, ending: str, inputs: Iterable[str | None]) -> None:
    """Refuse alignments in `TARGET.ENDING` that cannot be written; see `check_paths`.

    Args:
        target: the output; None: standard output.
        ending: ending of the further output.
        inputs: inputs of the command.

    Raises:
        UserError: the output is not a regular file, or the further output is an input or cannot be
            written.
    """
    if target is None or is_special(target):
        raise UserError(
            f"write_alignments=true: OUTPUT.{ending} is written next to the output, and "
            f"{target or 'standard output'} is not a regular file; give --decode_to_file=FILE"
        )
    check_paths(name_beside(target, ending), inputs)


def check_counts(source: str | None, total: int | None, beside: Iterable[str]) -> None:
    """Refuse files with more or fewer lines than the text beside them, if they can be read twice.

    Args:
        source: the text; None: standard input.
        total: its number of lines; None: unknown.
        beside: the other files.

    Raises:
        UserError: a file has another number of lines, or a line that is not valid UTF-8.
    """
    for path in beside:
        count = count_lines(path)
        if total is not None and count is not None and count != total:
            sentences = counted(total, "sentence")
            raise UserError(f"{path} has {counted(count, 'line')}, but {source} has {sentences}")


def do(
    work: Work,
    *,
    source: str | None,
    target: str | None,
    beside: Iterable[str] = (),
    settings: Mapping[str, Any],
    ticker: Ticker,
    endings: Sequence[str] = (),
) -> Outcome:
    """Do the work on every line of a text, and write one line for each, in the same order.

    A file is written when everything is done; until then, results are kept in `TARGET.part`, from
    which the same call resumes. Standard output, pipes and the like are written to as the work
    proceeds.

    Args:
        work: see `resumable.Work`; `Window.beside` has the lines of `beside` by path.
        source: a file; None: standard input.
        target: a file; None: standard output.
        beside: files with a line for each line of the text.
        settings: the settings that the results depend on.
        ticker: called with the number of lines done.
        endings: endings of further files, `TARGET.ENDING`, see `Journal`; not for standard output
            and the like.

    Raises:
        UserError: something cannot be read or written, or `TARGET.part` belongs to other work.
    """
    with contextlib.ExitStack() as stack:
        sink: Journal | Stream
        if target is not None and not is_special(target):
            sink = stack.enter_context(Journal(target, settings, endings))
            if sink.lines:
                rest = "; the rest is damaged and will be redone" if sink.damaged else ""
                note(f"{sink.path}: kept {counted(sink.lines, 'line')} of an earlier run{rest}")
        else:
            sink = _stream(target, stack)
        kept, before = sink.lines, sink.amount
        ticker.start(kept)
        parts = windows(
            stream_text(source, note=note),
            {path: stream_text(path) for path in dict.fromkeys(beside)},
        )
        try:
            run(parts, work, sink, progress=ticker)
        except BaseException as error:
            unusable = isinstance(error, UnusableJournal)
            if isinstance(sink, Journal) and sink.lines and not unusable:
                how = "give the same command again to continue"
                reason = "" if isinstance(error, UserError) else "stopped: "
                note(f"{reason}kept {counted(sink.lines, 'line')} in {sink.path}; {how}")
            raise
        return Outcome(sink.lines, kept, sink.amount - before, sink.amount, sink.counts)


def _stream(target: str | None, stack: contextlib.ExitStack) -> Stream:
    """Return a sink that writes to standard output, or to a pipe or device."""
    if target is None:
        if sys.stdout is None:
            raise UserError("standard output is closed; name a file to write")
        sys.stdout.flush()
        # Without a buffer, nothing is left that Python would try to write again when it exits.
        buffer: Any = sys.stdout.buffer
        return Stream(getattr(buffer, "raw", buffer), None)
    try:
        return Stream(stack.enter_context(open_special(target)), target)
    except OSError as error:
        raise explain_os_error(error, target) from error

"""A journal of long work on a file, which keeps results so that the same work can resume."""

from __future__ import annotations

import dataclasses
import json
import os
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, BinaryIO

from t2t_phrase.config import UserError, differences
from t2t_phrase.io.files import StrPath, atomic, explain_os_error, real_path
from t2t_phrase.io.line_windows import Window
from t2t_phrase.io.locks import WRITING, open_locked
from t2t_phrase.io.resumable import Result

# The beginning of every journal.
MAGIC = b"t2t-phrase journal 1 "
# Seconds after which written records are on disk, even if the machine stops.
SYNC_EVERY = 5.0


@dataclasses.dataclass
class _Kept:
    """The state of a window.

    Attributes:
        digest: checksum of the window.
        lines: number of its lines.
        done: places of the lines that are done; None: all, so that millions of numbers need not be
            kept for a long file.
    """

    digest: str
    lines: int
    done: set[int] | None = dataclasses.field(default_factory=set)

    def add(self, rows: Iterable[int]) -> None:
        """Note that some lines are done."""
        if self.done is not None:
            self.done.update(rows)
            if len(self.done) == self.lines:
                self.done = None

    @property
    def untouched(self) -> bool:
        """Whether no line is done."""
        return self.done is not None and not self.done


class UnusableJournal(UserError):
    """A journal that the same command cannot continue."""


class Journal:
    """Collects results in `OUTPUT.part`, and writes the output once all are complete.

    The first line of the file holds the settings. Each further line holds one record, a window or
    a result, with its checksum. A record cut short by a kill is dropped, as is everything after a
    damaged one. A file without results is replaced, whatever its settings.

    Args:
        output: the file to write in the end.
        settings: JSON-ready settings; work with other settings must not be continued.
        endings: endings of further files, OUTPUT.ENDING, which are written before the output; each
            result has lines for each of them.

    Attributes:
        path: path of the journal.
        results: number of results in it.
        lines: number of lines of the results.
        amount: sum of the results' amounts.
        counts: sums of the results' counts.
        damaged: whether anything other than an incomplete last record was dropped.

    Raises:
        UserError: the journal has other settings, is not a journal, or is in use.
        WriteError: the journal cannot be written.
    """

    def __init__(
        self, output: StrPath, settings: Mapping[str, Any], endings: Sequence[str] = ()
    ) -> None:
        self._output, self._settings, self._endings = output, dict(settings), tuple(endings)
        self.results = self.lines = 0
        self.amount = 0.0
        self.counts: Counter[str] = Counter()
        self.damaged = False
        self._windows: list[_Kept] = []
        self._current = -1
        self._synced = time.monotonic()
        try:
            real = real_path(output)
            self.path = real.with_name(f"{real.name}.part")
            self._number = open_locked(
                self.path,
                append=True,
                busy=WRITING.format(output),
            )
            try:
                with open(self.path, "rb") as file:
                    self._read(file)
            except BaseException:
                os.close(self._number)
                raise
        except OSError as error:
            raise _explained(error, f"{output}.part") from error

    def start(self, window: Window) -> set[int]:
        """Begin the next window; return the places of the lines in it that are done.

        Raises:
            UserError: the journal belongs to another input.
        """
        self._current += 1
        if self._current < len(self._windows):
            kept = self._windows[self._current]
            if (kept.digest, kept.lines) != (window.digest, len(window.lines)):
                lines = f"{window.first + 1} to {window.first + len(window.lines)}"
                raise self._refusal(f"different input (it differs in lines {lines})")
        else:
            kept = _Kept(window.digest, len(window.lines))
            self._windows.append(kept)
        return set(range(kept.lines)) if kept.done is None else set(kept.done)

    def add(self, result: Result) -> None:
        """Keep a result of the window that was started last.

        Raises:
            WriteError: the disk is full.
        """
        records: list[dict[str, Any]] = []
        window = self._windows[self._current]
        if window.untouched:
            # Not earlier: a window without results may change, for example by corrected trees.
            records.append({"window": window.digest, "lines": window.lines})
        record = {"rows": list(result.rows), "texts": list(result.texts), "amount": result.amount}
        if result.beside:
            record["beside"] = {name: list(texts) for name, texts in result.beside.items()}
        if result.counts:
            record["counts"] = dict(result.counts)
        records.append(record)
        self._append(records)
        self._count(result)

    def end(self, window: Window) -> None:
        """Do nothing: results are put in order at the end."""

    def finish(self) -> None:
        """Write the output, and delete the journal.

        Raises:
            UserError: the journal belongs to a longer input.
            WriteError: the output cannot be written.
        """
        if self._current + 1 < len(self._windows):
            raise self._refusal("different input, which has more lines")
        # The output comes last: if it exists, everything does.
        for ending in (*self._endings, None):
            name = self._output if ending is None else name_beside(self._output, ending)
            with atomic(name) as temporary, open(temporary, "wb") as file:
                for texts in self._ordered(ending):
                    file.writelines(text.encode() + b"\n" for text in texts)
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is not None and not self.results:
                self.path.unlink(missing_ok=True)
            elif kind is not None:
                os.fsync(self._number)
        except OSError:
            pass  # the error that ended the work is the one to report
        finally:
            os.close(self._number)

    def _read(self, file: BinaryIO) -> None:
        """Take over the content of the file, if it belongs to the same work."""
        header = file.readline(2**20)
        if not header.endswith(b"\n"):
            if not (header.startswith(MAGIC) or MAGIC.startswith(header)):
                raise self._foreign()
            self._restart()
            return
        if not header.startswith(MAGIC):
            raise self._foreign()
        found = _parsed(header[len(MAGIC) :])
        if found is None:
            raise UserError(
                f"{self.path}, from an earlier, unfinished run, is damaged; delete it to start "
                "again"
            )
        # Bytes up to the end of the last result, and bytes after it.
        end, size = len(header), 0
        for line in file:
            record = _parsed(line)
            if record is None:
                self.damaged = line.endswith(b"\n")
                break
            size += len(line)
            if "window" in record:
                self._windows.append(_Kept(record["window"], record["lines"]))
            else:
                end, size = end + size, 0
                self._current = len(self._windows) - 1
                self._count(_result(record))
        if self._windows and self._windows[-1].untouched:
            self._windows.pop()
        self._current = -1
        if not self.results:
            self._restart()
            return
        # Settings as JSON returns them, with lists for tuples.
        changed = differences(found["settings"], json.loads(json.dumps(self._settings)))
        if changed:
            raise self._refusal(f"different settings ({'; '.join(changed)})")
        os.ftruncate(self._number, end)

    def _restart(self) -> None:
        os.ftruncate(self._number, 0)
        self._windows.clear()

    def _count(self, result: Result) -> None:
        self.results += 1
        self.lines += len(result.rows)
        self.amount += result.amount
        self.counts.update(result.counts)
        self._windows[self._current].add(result.rows)

    def _append(self, records: Iterable[dict[str, Any]]) -> None:
        content = b"".join(map(_written, records))
        try:
            if not os.fstat(self._number).st_size:
                content = MAGIC + _written({"settings": self._settings}) + content
            while content:
                content = content[os.write(self._number, content) :]
            if time.monotonic() - self._synced > SYNC_EVERY:
                os.fsync(self._number)
                self._synced = time.monotonic()
        except OSError as error:
            raise _explained(error, self.path) from error

    def _ordered(self, ending: str | None) -> Iterator[list[str]]:
        """Yield the lines of each window in order, for OUTPUT.ENDING or, if None, the output."""
        texts: list[str] = []
        with open(self.path, "rb") as file:
            file.readline()
            for line in file:
                record = _parsed(line)
                if record is None:
                    raise UnusableJournal(
                        f"{self.path} was changed by another process; start again"
                    )
                if "window" in record:
                    yield texts
                    texts = [""] * record["lines"]
                else:
                    result = _result(record)
                    found = result.texts if ending is None else result.beside[ending]
                    for row, text in zip(result.rows, found, strict=True):
                        texts[row] = text
        yield texts

    def _refusal(self, what: str) -> UnusableJournal:
        return UnusableJournal(
            f"{self.path} is from an earlier, unfinished run with {what}; give the same again to "
            "continue that run, delete the file to start again, or name another output"
        )

    def _foreign(self) -> UserError:
        return UserError(
            f"{self.path} is needed for unfinished work, but is an unrelated file; move it away, "
            "or name another output"
        )


def name_beside(output: StrPath, ending: str) -> str:
    """Return the name of the file OUTPUT.ENDING."""
    return f"{os.fspath(output)}.{ending}"


def _result(record: Mapping[str, Any]) -> Result:
    names = ("rows", "texts", "amount", "beside", "counts")
    return Result(**{name: record[name] for name in names if name in record})


def _written(record: Mapping[str, Any]) -> bytes:
    content = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(content), content)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return a record; None if it is cut short or damaged."""
    content = line[9:-1]
    if not line.endswith(b"\n") or line[:9] != b"%08x " % zlib.crc32(content):
        return None
    record: dict[str, Any] = json.loads(content)
    return record


def _explained(error: OSError, path: StrPath) -> UserError:
    return error if isinstance(error, UserError) else explain_os_error(error, path)

import io

import pytest

from t2t_phrase.io.files import WriteError
from t2t_phrase.io.line_windows import windows
from t2t_phrase.io.resumable import Result, Stream, run


class Slow(io.RawIOBase):
    """Takes three bytes at a time."""

    def __init__(self):
        self.content = b""

    def write(self, data):
        self.content += bytes(data[:3])
        return min(3, len(data))


def backwards(window, done, number):
    for row in reversed(range(len(window.lines))):
        yield Result([row], [f"{number} {window.lines[row]}"], 1)
        number += 1


def test_a_stream_gets_the_lines_in_order_window_by_window():
    file, told = Slow(), []
    sink = Stream(file, "x")

    def progress(done):
        told.append((done, file.content.count(b"\n")))

    run(windows(["ä", "b", "c"], size=2), backwards, sink, progress=progress)
    assert file.content.decode() == "1 ä\n0 b\n2 c\n"
    assert told == [(1, 0), (2, 0), (3, 2)]
    assert (sink.results, sink.lines, sink.amount) == (3, 3, 3.0)


def test_what_cannot_be_written_is_told_but_a_closed_pipe_is_passed_on():
    class Broken(io.RawIOBase):
        def __init__(self, error):
            self.error = error

        def write(self, data):
            raise self.error

    # Nothing is kept from which the same command could continue.
    for name, known in (("/dev/full", "/dev/full"), (None, "standard output")):
        match = f"no space left while writing {known}, which is incomplete; .* start again$"
        with pytest.raises(WriteError, match=match):
            run(windows(["a"]), backwards, Stream(Broken(OSError(28, "full")), name))
    with pytest.raises(BrokenPipeError):
        run(windows(["a"]), backwards, Stream(Broken(BrokenPipeError()), "x"))

import json
import pathlib
import subprocess
import sys

import decoding_memory
import pytest

BENCHMARKS = pathlib.Path(decoding_memory.__file__).parent
# What uses little itself: the peak of a command is at least that of the process that starts it.
PEAK = """
import sys
from decoding_memory import peak_of
print(peak_of([sys.executable, "-c", sys.argv[1]]))
"""


def run(source, *arguments):
    command = [sys.executable, "-c", source, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=BENCHMARKS)


def test_the_peak_is_what_a_command_used_at_once():
    done = run(PEAK, "b = b'x' * 2**28; del b; b = b'x' * 2**27")
    assert 2**28 < int(done.stdout) < 2**28 + 2**26, done


def test_a_command_that_fails_is_told_with_its_last_lines():
    done = run(PEAK, "import sys; print(*range(9), sep='\\n', flush=True); sys.exit('error: no')")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.splitlines()[1:] == ["5", "6", "7", "8", "error: no"]


def test_lines_are_as_long_as_said():
    assert len(decoding_memory.long_line(1024).split()) == 1023
    lines = list(decoding_memory.short_lines(500))
    assert len(lines) == 500 and lines == list(decoding_memory.short_lines(500))
    assert {len(line.split()) for line in lines} == set(range(1, 13))


@pytest.mark.slow
def test_a_file_ten_times_as_long_needs_no_more_memory(tmp_path):
    command = [sys.executable, BENCHMARKS / "decoding_memory.py", f"--work_dir={tmp_path}"]
    command += ["--lines=20000", "--long=16,24", "--hparams_sets=transformer_tiny"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    few, many, *long = (json.loads(line) for line in done.stdout.splitlines())
    assert (few["lines"], many["lines"]) == (2000, 20000)
    # A window of 10,000 lines is full in the longer file only.
    assert many["peak_mib"] < few["peak_mib"] + 150
    assert [row["tokens"] for row in long] == [16, 24]
    (line,) = (tmp_path / "transformer_tiny-32000-translation").read_text().splitlines()
    assert line

import fcntl
import os
import tracemalloc

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.io.files import WriteError
from t2t_phrase.io.journal import MAGIC, Journal
from t2t_phrase.io.line_windows import windows
from t2t_phrase.io.resumable import Result, run

LINES = [f"line {i} é\u2028" for i in range(11)]
SETTINGS = {"beam_size": 4, "orders": (1, 2)}


class Killed(BaseException):
    pass


def work(stop_after=None, asked=None):
    """Upper-case two lines at a time, the last ones first."""

    def do(window, done, number):
        left = [row for row in reversed(range(len(window.lines))) if row not in done]
        for at in range(0, len(left), 2):
            if stop_after is not None and number >= stop_after:
                raise Killed
            rows = left[at : at + 2]
            if asked is not None:
                asked.append((number, [window.first + row for row in rows]))
            yield Result(rows, [f"{number} {window.lines[row].upper()}" for row in rows], len(rows))
            number += 1

    return do


def do(path, *, lines=LINES, settings=SETTINGS, **options):
    with Journal(path, settings) as journal:
        kept = journal.lines
        run(windows(lines, size=4), work(**options), journal)
        assert journal.amount == journal.lines == len(lines)
        return kept


@pytest.fixture
def undisturbed(tmp_path):
    do(tmp_path / "undisturbed")
    return (tmp_path / "undisturbed").read_bytes()


def test_the_output_is_in_order_and_the_journal_gone(tmp_path, undisturbed):
    lines = undisturbed.decode().split("\n")
    assert [line.partition(" ")[2] for line in lines[:-1]] == [line.upper() for line in LINES]
    assert os.listdir(tmp_path) == ["undisturbed"]
    do(tmp_path / "empty", lines=[])
    assert (tmp_path / "empty").read_bytes() == b""


@pytest.mark.parametrize("stop_after", range(1, 6))
def test_work_that_was_stopped_goes_on_to_the_same_bytes(tmp_path, undisturbed, stop_after):
    (tmp_path / "out").write_text("from before\n")
    first, second, all_asked = [], [], []
    with pytest.raises(Killed):
        do(tmp_path / "out", stop_after=stop_after, asked=first)
    assert (tmp_path / "out").read_text() == "from before\n"
    assert do(tmp_path / "out", asked=second) == sum(len(rows) for _, rows in first)
    assert (tmp_path / "out").read_bytes() == undisturbed
    do(tmp_path / "other", asked=all_asked)
    assert first + second == all_asked


def test_a_journal_cut_anywhere_ends_in_the_same_bytes(tmp_path, undisturbed):
    with pytest.raises(Killed):
        do(tmp_path / "out", stop_after=4)
    whole = (tmp_path / "out.part").read_bytes()
    for length in range(0, len(whole), 7):
        (tmp_path / "out.part").write_bytes(whole[:length])
        do(tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == undisturbed, length


def test_no_flipped_byte_reaches_the_output(tmp_path, undisturbed):
    with pytest.raises(Killed):
        do(tmp_path / "out", stop_after=4)
    whole = (tmp_path / "out.part").read_bytes()
    refused = 0
    for place in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[place] ^= 0x41
        (tmp_path / "out.part").write_bytes(damaged)
        try:
            do(tmp_path / "out")
        except UserError as error:
            assert place <= whole.index(b"\n") and "out.part" in str(error)
            refused += 1
        else:
            assert (tmp_path / "out").read_bytes() == undisturbed, place
    assert refused > 3


def test_damage_in_the_middle_is_told(tmp_path):
    with pytest.raises(Killed):
        do(tmp_path / "out", stop_after=4)
    whole = (tmp_path / "out.part").read_bytes()
    (tmp_path / "out.part").write_bytes(whole[: whole.rindex(b'"texts"')])
    with Journal(tmp_path / "out", SETTINGS) as journal:
        assert not journal.damaged and journal.results == 3
    (tmp_path / "out.part").write_bytes(whole.replace(b"3 LINE", b"3 LIME"))
    with Journal(tmp_path / "out", SETTINGS) as journal:
        assert journal.damaged and journal.results == 3


def test_other_settings_and_other_input_are_refused(tmp_path):
    with pytest.raises(Killed):
        do(tmp_path / "out", stop_after=3)
    before = (tmp_path / "out.part").read_bytes()
    with pytest.raises(
        UserError, match=r"out.part is .* different settings \(beam_size: 4 -> 5\); give"
    ):
        do(tmp_path / "out", settings={**SETTINGS, "beam_size": 5})
    with pytest.raises(UserError, match=r"with different input \(it differs in lines 1 to 4\)"):
        do(tmp_path / "out", lines=["x", *LINES[1:]])
    with pytest.raises(UserError, match="different input, which has more lines"):
        do(tmp_path / "out", lines=LINES[:4])
    assert (tmp_path / "out.part").read_bytes() == before


def test_without_results_nothing_is_claimed(tmp_path):
    with pytest.raises(Killed):
        do(tmp_path / "out", stop_after=0)
    assert os.listdir(tmp_path) == []
    # A kill leaves the file, whose settings do not count.
    (tmp_path / "out.part").write_bytes(MAGIC + b"torn")
    do(tmp_path / "out", settings={})
    assert os.listdir(tmp_path) == ["out"]


def test_a_window_without_results_may_change(tmp_path):
    with pytest.raises(Killed):
        do(tmp_path / "out", stop_after=2)
    whole = (tmp_path / "out.part").read_bytes()
    with pytest.raises(Killed):
        do(tmp_path / "out", stop_after=3)
    # Killed between the record of the second window and that of its result.
    more = (tmp_path / "out.part").read_bytes()
    assert more.startswith(whole)
    (tmp_path / "out.part").write_bytes(more[: more.index(b"\n", len(whole)) + 5])
    assert do(tmp_path / "out", lines=[*LINES[:4], "other", *LINES[5:]]) == 4
    assert "OTHER" in (tmp_path / "out").read_text()


def test_a_foreign_file_is_left_alone(tmp_path):
    for content in (b"my notes\n", b"my notes", b"\0" * 100):
        (tmp_path / "out.part").write_bytes(content)
        with pytest.raises(UserError, match="is an unrelated file; move it away"):
            do(tmp_path / "out")
        assert (tmp_path / "out.part").read_bytes() == content


def test_two_at_a_time_are_refused(tmp_path):
    with open(tmp_path / "out.part", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"another process is writing .*out; wait"):
            do(tmp_path / "out")
    do(tmp_path / "out")


def test_a_full_disk_keeps_what_is_done(tmp_path, undisturbed, monkeypatch):
    written, real = [], os.write

    def write(number, content):
        written.append(len(content))
        if len(written) == 4:
            return real(number, content[:9])
        if len(written) > 4:
            raise OSError(28, "No space left on device")
        return real(number, content)

    with monkeypatch.context() as patched, pytest.raises(WriteError, match="no space left while"):
        patched.setattr(os, "write", write)
        do(tmp_path / "out")
    assert do(tmp_path / "out") == 6
    assert (tmp_path / "out").read_bytes() == undisturbed


def test_a_link_stays_a_link_and_has_one_journal(tmp_path, undisturbed):
    (tmp_path / "there").mkdir()
    (tmp_path / "out").symlink_to("there/real")
    with pytest.raises(Killed):
        do(tmp_path / "out", stop_after=2)
    assert do(tmp_path / "there" / "real") == 4
    do(tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "there" / "real").read_bytes() == undisturbed
    with pytest.raises(WriteError, match="File name too long"):
        do(tmp_path / ("x" * 252))


def test_what_is_kept_of_windows_that_are_done_is_small(tmp_path):
    def size_of_kept(count):
        def work(window, done, number):
            assert not done
            yield Result(range(len(window.lines)), window.lines)

        with Journal(tmp_path / f"out{count}", {}) as journal:
            tracemalloc.start()
            run(windows((str(i) for i in range(count)), size=1000), work, journal)
            used = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
        return used

    # Their places in sets would be more than 100 bytes for each line.
    assert size_of_kept(20_000) - size_of_kept(5_000) < 20_000


def test_further_files_and_counts_survive_a_kill(tmp_path):
    def more(stop_after=None):
        results = work(stop_after=stop_after)

        def do(window, done, number):
            for result in results(window, done, number):
                beside = [f"<{text}>" for text in result.texts]
                yield result._replace(beside={"more": beside}, counts={"lines": len(beside)})

        return do

    def go_on(path, **options):
        with Journal(path, SETTINGS, ["more"]) as journal:
            run(windows(LINES, size=4), more(**options), journal)
            assert journal.counts == {"lines": len(LINES)}

    go_on(tmp_path / "whole")
    with pytest.raises(Killed):
        go_on(tmp_path / "out", stop_after=3)
    assert not (tmp_path / "out.more").exists()
    go_on(tmp_path / "out")
    for ending in ("", ".more"):
        whole = (tmp_path / f"whole{ending}").read_text()
        assert (tmp_path / f"out{ending}").read_text() == whole
    lines = whole.split("\n")
    texts = (tmp_path / "out").read_text().split("\n")
    assert lines == [f"<{text}>" if text else "" for text in texts]

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.io import text_job
from t2t_phrase.io.reporting import Ticker
from t2t_phrase.io.resumable import Result


def test_advice_does_not_contradict_the_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("t2t_phrase.io.line_windows.LINES", 1)

    def do(lines, broken=False):
        def work(window, done, number):
            if broken and window.first:
                raise UserError("the server is gone")
            yield Result([0], window.lines)

        (tmp_path / "in").write_text(lines)
        ticker = Ticker("read", None)
        return text_job.do(work, source="in", target="out", settings={}, ticker=ticker)

    part = tmp_path / "out.part"
    with pytest.raises(UserError, match="the server is gone"):
        do("a\nb\n", broken=True)
    advice = f"kept 1 line in {part}; give the same command again to continue\n"
    assert capsys.readouterr().err == advice
    with pytest.raises(UserError, match=r"different input .* delete the file to start again"):
        do("x\nb\n")
    assert capsys.readouterr().err == f"{part}: kept 1 line of an earlier run\n"
    assert do("a\nb\n").kept == 1


def test_files_beside_the_text_keep_their_order(tmp_path):
    # The checksum of a window, by which a run is continued, depends on it.
    beside = [str(tmp_path / name) for name in "hgfedcba"]
    for path in (source := str(tmp_path / "in"), *beside):
        (tmp_path / path).write_text("a\n")

    def work(window, done, number):
        assert [*window.beside] == beside
        yield Result([0], window.lines)

    text_job.do(
        work,
        source=source,
        target=str(tmp_path / "out"),
        beside=[*beside, beside[0]],
        settings={},
        ticker=Ticker("read", None),
    )

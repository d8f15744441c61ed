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

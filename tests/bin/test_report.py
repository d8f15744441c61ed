import pytest
from absl import app
from recorded_runs import save_run
from toy_run import call

from t2t_phrase.bin import report
from t2t_phrase.config import UserError


@pytest.mark.parametrize("missing", ["output_dir", "data_dir", "report"])
def test_flags_that_are_missing(missing, tmp_path):
    given = {"output_dir": tmp_path, "data_dir": tmp_path, "report": tmp_path / "page.html"}
    flags = [f"--{name}={value}" for name, value in given.items() if name != missing]
    with pytest.raises(app.UsageError, match=f"--{missing} is required"):
        call(report, *flags)


def test_a_page_without_data_says_so(tmp_path, capsys):
    save_run(tmp_path / "run", "transformer_tiny")
    places = [f"--output_dir={tmp_path}/run", f"--data_dir={tmp_path}/none"]
    call(report, *places, f"--report={tmp_path}/page.html")
    assert "left out: there are no data of translate_ende_grammar in " in capsys.readouterr().err
    assert "no translations of the development set" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("name", ["run/hparams.json", "run/best/checkpoint", "data/manifest"])
def test_a_page_never_replaces_a_file_of_the_run_or_its_data(tmp_path, name):
    save_run(tmp_path / "run", "transformer_tiny")
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    before = path.read_bytes()
    places = [f"--output_dir={tmp_path}/run", f"--data_dir={tmp_path}/data"]
    with pytest.raises(UserError, match=f"{name} would overwrite the input"):
        call(report, *places, f"--report={path}")
    assert path.read_bytes() == before


def test_a_page_replaces_an_earlier_one(tmp_path):
    save_run(tmp_path / "run", "transformer_tiny")
    places = [f"--output_dir={tmp_path}/run", f"--data_dir={tmp_path}/none"]
    for _ in range(2):
        call(report, *places, f"--report={tmp_path}/run/report.html")


def test_places_that_cannot_be_read_or_written(tmp_path):
    places = [f"--output_dir={tmp_path}", f"--data_dir={tmp_path}"]
    with pytest.raises(UserError, match=r"cannot write .*no/page\.html"):
        call(report, *places, f"--report={tmp_path}/no/page.html")
    with pytest.raises(UserError, match="is not the --output_dir of a training run"):
        call(report, *places, f"--report={tmp_path}/page.html")
    assert not (tmp_path / "page.html").exists()

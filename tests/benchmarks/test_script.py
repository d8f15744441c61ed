"""How scripts end."""

import pathlib

import pytest
from script import run_script

from t2t_phrase import registry


def ended(main):
    """Return the exit code, or the message, with which a script ends."""
    with pytest.raises(SystemExit) as end:
        run_script(main)
    return end.value.code


def test_mistakes_end_scripts_with_a_sentence(capsys, tmp_path):
    assert ended(lambda: registry.hparams["nope"]) == 2
    assert capsys.readouterr().err.startswith("error: hparams set 'nope' is unknown")
    assert ended(lambda: (tmp_path / "none").read_text()) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and str(tmp_path / "none") in said and said.count("\n") == 1
    assert ended(lambda: __import__("nopackage")) == "error: the package nopackage is not installed"


def test_other_errors_are_raised():
    with pytest.raises(ZeroDivisionError):
        run_script(lambda: 1 / 0)
    with pytest.raises(ModuleNotFoundError):
        run_script(lambda: __import__("t2t_phrase.nothing"))


def test_the_result_is_the_exit_code():
    assert ended(lambda: None) is None and ended(lambda: 1) == 1


def test_all_scripts_start_in_this_way():
    for path in (pathlib.Path(__file__).parents[2] / "benchmarks").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        # Those of other toolkits run where the library is not installed.
        if '"__main__":' in text and not path.name.startswith("toolkit_"):
            assert text.endswith("    run_script(main)\n"), path

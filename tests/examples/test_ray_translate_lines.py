"""The lines of a file that a worker of `ray_translate.py` translates; this needs no Ray."""

import importlib.util
import pathlib
import sys
import types

import pytest

EXAMPLE = pathlib.Path(__file__).parents[2] / "docs/examples/ray_translate.py"


@pytest.mark.parametrize("content", ["a\nb\rc\nd", "a\nb\rc\nd\n"])
def test_every_line_is_translated(tmp_path, monkeypatch, content):
    monkeypatch.setitem(sys.modules, "ray", types.ModuleType("ray"))
    spec = importlib.util.spec_from_file_location("ray_translate", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "part").write_bytes(content.encode())
    model = types.SimpleNamespace(translate=lambda lines: [line.upper() for line in lines])
    row = {"source": str(tmp_path / "part"), "target": str(tmp_path / "translated")}
    assert module.TranslateFile(model, {})(row)["lines"] == 3
    assert (tmp_path / "translated").read_bytes() == b"A\nB\rC\nD\n"

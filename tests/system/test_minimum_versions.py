"""The constraints of the lowest versions are the bounds of setup.py."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE_ONLY = {"mkdocs", "mkdocs-material", "latex2mathml", "ziamath"}
EXPORTS = {"ctranslate2", "onnx", "onnxruntime", "tf2onnx"}
DEVELOPMENT_ONLY = {"ruff", "mypy", "pre-commit"} | EXPORTS | SITE_ONLY


def test_the_lowest_versions_are_those_of_setup():
    bounds = dict(re.findall(r'"([\w-]+)>=([\d.]+)"', (ROOT / "setup.py").read_text()))
    pinned = dict(re.findall(r"(?m)^([\w-]+)==([\d.]+)$", (ROOT / ".ci/minimum.txt").read_text()))
    assert set(pinned) == (set(bounds) - DEVELOPMENT_ONLY) | {"jaxlib"}
    for name, bound in bounds.items():
        if name in pinned:
            assert f"{pinned[name]}.".startswith(f"{bound}."), name

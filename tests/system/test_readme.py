"""What the README shows is there: commands, flags, files, Python."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = {"import": "import_t2t"}


def blocks(language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.M | re.S)


def shown_commands() -> dict[str, set[str]]:
    """Return the flags that the README gives to each command."""
    shown: dict[str, set[str]] = {}
    for block in blocks():
        for line in block.replace("\\\n", " ").splitlines():
            match = re.match(r"t2t-phrase-(\w+)\s*(.*)", line.split("#")[0])
            if match:
                flags = re.findall(r"--(\w+)", match[2])
                shown.setdefault(match[1], set()).update(flags)
    return shown


def test_readme_shows_commands():
    assert {"demo", "datagen", "trainer", "avg", "decoder", "eval", "exporter"} <= set(
        shown_commands()
    )


@pytest.mark.parametrize("name", sorted(shown_commands()))
def test_commands_know_the_flags_shown(name):
    module = f"t2t_phrase.bin.{MODULES.get(name, name)}"
    run = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=False
    )
    known = set(re.findall(r"--(?:\[no\])?(\w+)", run.stdout))
    assert shown_commands()[name] <= known, run.stdout + run.stderr


def test_links_lead_to_files():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_python_runs():
    (code,) = blocks("python")
    setup = "import numpy as np\nsource_ids = target_ids = np.array([[5, 6, 1]])\n"
    smaller = code.replace("num_hidden_layers=3", "num_hidden_layers=1,hidden_size=8,num_heads=2")
    assert smaller != code
    scope: dict = {}
    exec(setup + smaller, scope)
    assert scope["logits"].shape == (1, 3, 32000)

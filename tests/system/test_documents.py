"""The documents are right: commands, flags, links and Python code work as shown."""

import itertools
import pathlib
import re
import subprocess
import sys

import pytest

from t2t_phrase import registry

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for folder in (ROOT, ROOT / "docs", ROOT / "docs" / "results")
    for path in sorted(folder.glob("*.md"))
}
README = DOCUMENTS["README.md"]
MODULES = {"import": "import_t2t"}


def blocks(text: str, language: str = "") -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S)
    return [block for name, block in found if name == language]


def shown_commands() -> dict[str, set[str]]:
    """Return the flags that the documents give to each command."""
    shown: dict[str, set[str]] = {}
    for block in (block for text in DOCUMENTS.values() for block in blocks(text)):
        for line in re.split(r"\n| && ", block.replace("\\\n", " ")):
            match = re.match(r"(?:\$ )?t2t-phrase-(\w+)\s*(.*)", line.split("#")[0].strip())
            if match:
                flags = re.findall(r"--(\w+)", match[2])
                shown.setdefault(match[1], set()).update(flags)
    return shown


def test_documents_show_commands():
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


def test_benchmarks_know_the_flags_shown():
    folder = ROOT / "benchmarks"
    for name, text in DOCUMENTS.items():
        for command in re.findall(r"python benchmarks/((?:[^\n`\\]|\\\n)+)", text):
            # What some of them start, and what has shared options.
            scripts = [*re.findall(r"\w+\.py", command), "measure.py", "toolkit_options.py"]
            scripts.append("experiment.py")
            known = "".join((folder / script).read_text(encoding="utf-8") for script in scripts)
            for flag in re.findall(r"(?<!\S)\[?(--\w+)", command.split(" #")[0]):
                assert f'"{flag}"' in known or flag == "--help", (name, command)


def test_readme_begins_with_two_commands_in_an_environment_of_their_own():
    install, tests = blocks(README)[:2]
    for command in (install, tests):
        assert command.startswith(
            "python3 -m venv .venv && . .venv/bin/activate && pip install -e "
        )
        assert command.count("\n") == 1
    assert install.endswith(" && t2t-phrase-demo\n")
    assert tests.endswith(" && pytest\n")


def test_the_index_leads_to_every_chapter():
    index = DOCUMENTS["docs/README.md"]
    linked = set(re.findall(r"\]\(([^)#]+)", index))
    chapters = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    notebooks = {f"notebooks/{path.name}" for path in (ROOT / "docs/notebooks").glob("*.ipynb")}
    pages = {f"../{path.name}" for path in ROOT.glob("*.md")}
    assert linked == chapters | notebooks | pages


def test_pre_commit_and_ci_run_the_same_checks():
    script = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    config = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    checks = re.findall(r"^ +entry: (.+)$", config, flags=re.M)
    assert checks == [line for line in script if re.match("ruff|mypy", line)]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert re.findall(r"- run: (.+)", workflow)[0] == ".ci/run"


def equations() -> list[tuple[str, str, str]]:
    rows = re.findall(
        r"^\| (.+) \((\d{4})\) \| (.+) \| `(.+)` \|$", DOCUMENTS["ARCHITECTURE.md"], re.M
    )
    return [(f"{authors} {year}", place, file) for authors, year, place, file in rows]


def test_every_paper_has_equations():
    assert {"Nguyen", "Xu", "Hao", "Alkhouli", "Luong"} <= {p.split()[0] for p, _, _ in equations()}


@pytest.mark.parametrize(("paper", "place", "file"), equations())
def test_files_cite_the_equations_that_lead_to_them(paper, place, file):
    text = " ".join((ROOT / "t2t_phrase" / file).read_text(encoding="utf-8").split())
    authors, year = paper.rsplit(" ", 1)
    assert f"{authors} ({year})" in text and place in text


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files(name):
    prose = re.sub(r"^```.*?^```", "", DOCUMENTS[name], flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        assert ((ROOT / name).parent / link).exists(), link


@pytest.mark.slow
def test_the_readmes_python_runs(tmp_path, monkeypatch):
    (code,) = blocks(README, "python")
    (tmp_path / "raw").mkdir()
    for split in ("train", "dev"):
        for side, line in (("src", "A house ."), ("tgt", "Ein Haus .")):
            (tmp_path / "raw" / f"{split}.{side}").write_text(f"{line}\n" * 20)
    smaller = {
        "learning_rate_decay_steps=900": (
            "num_hidden_layers=1,hidden_size=32,filter_size=32,num_heads=2,"
            "learning_rate_warmup_steps=2,learning_rate_decay_steps=18"
        ),
        "train_steps=1000, local_eval_frequency=200": "train_steps=20, local_eval_frequency=10",
    }
    for old, new in smaller.items():
        assert old in code
        code = code.replace(old, new)
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    exec(code, scope)
    assert scope["layer"].orders == (1, 2) and (tmp_path / "mine.keras").exists()


def test_the_phrase_layers_python_runs():
    (code,) = blocks(DOCUMENTS["docs/phrase_attention.md"], "python")
    scope: dict = {}
    exec("import numpy as np\nx, mask = np.ones((2, 5, 512), 'float32'), None\n" + code, scope)
    assert scope["output"].shape == (2, 5, 512)
    assert scope["weights"].shape == (2, 8, 10, 10)


REGISTRIES = (
    registry.models,
    registry.hparams,
    registry.problems,
    registry.attentions,
    registry.searches,
    registry.annotation_types,
    registry.optimizers,
    registry.schedule_factors,
)


def test_the_extensions_work(monkeypatch):
    import keras
    import numpy as np

    from t2t_phrase.data.problem import get_problem
    from t2t_phrase.text.annotations.base import Sentence, annotation_of
    from t2t_phrase.training.optimizers import make_optimizer
    from t2t_phrase.training.schedules import make_schedule

    registry.discover()
    for names in REGISTRIES:
        monkeypatch.setattr(names, "_entries", dict(names._entries))
    code = "\n".join(blocks(DOCUMENTS["docs/extending.md"], "python"))
    smaller = code.replace("vocab_size=32000", "vocab_size=20").replace("=128", "=8")
    source_ids = np.array([[5, 6, 7, 1], [8, 9, 1, 0]])
    scope: dict = {"__name__": __name__, "source_ids": source_ids}
    exec(smaller, scope)
    assert type(scope["sharp"].encoder_layers[0].self_attention).__name__ == "HeterogeneousSharp"
    signed = scope["signed"]
    rate = make_schedule(signed, train_steps=10)
    optimizer = make_optimizer(signed, rate)
    assert (type(optimizer).__name__, optimizer.scale) == ("SignSgd", 0.5)
    weight = keras.Variable([1.0, -1.0])
    optimizer.apply([np.array([3.0, -4.0], "float32")], [weight])
    np.testing.assert_allclose(weight, [1 - 0.5e-3, -1 + 0.5e-3], rtol=1e-6)
    best = np.asarray(scope["best"])
    assert best.shape == (2, 14)
    for row in best.tolist():
        words = row[: [*row, 0].index(0)]
        assert words and all(a != b for a, b in itertools.pairwise(words))

    sentence = Sentence("a b", [5, 6], [0, 2])
    assert annotation_of(scope["DOMAIN"]).encode(sentence, "3") == [3, 3]
    cased = scope["CasedTransformer"].from_hparams(
        scope["CasedHParams"](hidden_size=8, num_heads=2, num_hidden_layers=1), vocab_size=20
    )
    features = {"inputs": source_ids, "targets": source_ids}
    one, other = (
        np.asarray(cased({**features, "cases": np.full((2, 4), case)})) for case in (1, 2)
    )
    assert np.abs(one - other).max() > 1e-4
    assert get_problem("translate_envi_words_rev").source_language == "vi"


def test_the_source_phrases_python_runs():
    (code,) = blocks(DOCUMENTS["docs/source_phrases.md"], "python")
    scope: dict = {}
    exec(
        "import numpy as np\nids = np.array([[5, 6, 7, 1, 0], [5, 6, 7, 8, 1]])\n"
        "tokens = np.ones((2, 5, 512), 'float32')\n" + code,
        scope,
    )
    assert scope["phrases"].shape == (2, 2, 512)
    assert scope["weights"].shape == (2, 2, 5)

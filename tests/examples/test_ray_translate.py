"""A corpus is translated by two workers, one of which is killed."""

import re

import pytest
from cluster import ROOT, run_driver
from toy_run import make_toy_run

import t2t_phrase
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.export.saved_model import export

pytest.importorskip("ray")

OPTIONS = "beam_size=2,extra_length=3,max_length=12"
DRIVER = """
import os, pathlib, signal, sys
import t2t_phrase
from ray_translate import TranslateFile, translate

run, data, user, exported, sources, targets, options = sys.argv[1:]
killed = pathlib.Path(targets, "killed")


class Dying(TranslateFile):
    def __call__(self, row):
        if row["source"].endswith("3") and not killed.exists():
            killed.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(row)


pathlib.Path(targets).mkdir()
model = t2t_phrase.load(run, data_dir=data, t2t_usr_dir=user)
given = {"options": options}
say(translate(model, sources, f"{targets}/run", workers=2, options=given, function=Dying))
# What is there is left alone.
say(translate(model, sources, f"{targets}/run", workers=2, options=given))
say(translate(t2t_phrase.ExportedTranslator(exported), sources, f"{targets}/export", workers=2))
"""
EXPORTED = "t2t_phrase.ExportedTranslator(exported)"
# The chapter's batch function.
CHAPTER = """
import os, sys
import pandas as pd

folder, exported = sys.argv[1:]
os.chdir(folder)
os.makedirs("corpus")
for number in range(3):
    texts = open(f"parts/0{number}").read().split("\\n")[:-1]
    pd.DataFrame({"text": texts, "file": number}).to_parquet(f"corpus/{number}.parquet")
CODE
found = pd.read_parquet("translated")
for number in range(3):
    for text in found[found.file == number].translation:
        say(text)
"""


def chapter() -> str:
    """Return the program of docs/many_machines.md, for an export and two workers."""
    (code,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/many_machines.md").read_text("utf-8"), re.S
    )
    for old, new in (('t2t_phrase.load("runs/ende")', "model"), ("size=8", "size=2")):
        assert old in code
        code = code.replace(old, new)
    code = code.replace("import t2t_phrase\n", f"import t2t_phrase\nmodel = {EXPORTED}\n", 1)
    return CHAPTER.replace("CODE", code)


@pytest.mark.slow
def test_a_corpus_is_translated_although_a_worker_dies(tmp_path):
    toy = make_toy_run(tmp_path / "toy")
    options = DecodeHParams().override(OPTIONS)
    export(toy.model, toy.vocabularies, options, tmp_path / "exported")
    sources, targets = tmp_path / "parts", tmp_path / "targets"
    sources.mkdir()
    files = {f"{number:02}": [*toy.lines[number::6][:20], "", "the\thouse"] for number in range(6)}
    for name, lines in files.items():
        (sources / name).write_text("".join(f"{line}\n" for line in lines))
    places = (toy.output_dir, toy.data_dir, toy.user_dir, tmp_path / "exported", sources, targets)
    said = run_driver(DRIVER, *map(str, places), OPTIONS)
    total = sum(map(len, files.values()))
    assert said == [str(total), "0", str(total)]
    assert (targets / "killed").exists()
    model = t2t_phrase.load(
        toy.output_dir, data_dir=str(toy.data_dir), t2t_usr_dir=str(toy.user_dir)
    )
    for name, lines in files.items():
        expected = model.translate(lines, OPTIONS)
        assert len(set(expected)) > 5
        for folder in ("run", "export"):
            written = (targets / folder / name).read_text(encoding="utf-8")
            assert written == "".join(f"{line}\n" for line in expected), (folder, name)
    assert {path.name for path in (targets / "run").iterdir()} == set(files)
    said = run_driver(chapter(), str(tmp_path), str(tmp_path / "exported"))
    expected = [
        line for name in ("00", "01", "02") for line in model.translate(files[name], OPTIONS)
    ]
    assert said == expected

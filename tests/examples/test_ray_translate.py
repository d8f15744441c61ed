"""A corpus is translated by two workers, one of which is killed."""

import dataclasses
import pathlib
import re

import pytest
from cluster import ROOT, run_driver
from toy_run import ToyRun, make_toy_run

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
# Around the batch function of docs/many_machines.md.
CHAPTER = """
import os, sys
import pandas as pd

folder, exported = sys.argv[1:]
os.makedirs(f"{folder}/corpus")
for number in range(3):
    with open(f"{folder}/parts/0{number}", encoding="utf-8") as file:
        texts = file.read().split("\\n")[:-1]
    pd.DataFrame({"text": texts, "file": number}).to_parquet(f"{folder}/corpus/{number}.parquet")
CODE
found = pd.read_parquet(f"{folder}/translated")
for number in range(3):
    for text in found[found.file == number].translation:
        say(text)
"""


@dataclasses.dataclass
class Corpus:
    """A trained model, its export, and files to translate."""

    toy: ToyRun
    folder: pathlib.Path
    files: dict[str, list[str]]
    expected: dict[str, list[str]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    toy = make_toy_run(folder / "toy")
    options = DecodeHParams().override(OPTIONS)
    export(toy.model, toy.vocabularies, options, folder / "exported")
    files = {f"{number:02}": [*toy.lines[number::6][:20], "", "the\thouse"] for number in range(6)}
    (folder / "parts").mkdir()
    for name, lines in files.items():
        (folder / "parts" / name).write_text("".join(f"{line}\n" for line in lines))
    model = t2t_phrase.load(
        toy.output_dir, data_dir=str(toy.data_dir), t2t_usr_dir=str(toy.user_dir)
    )
    expected = {name: model.translate(lines, OPTIONS) for name, lines in files.items()}
    return Corpus(toy, folder, files, expected)


@pytest.mark.slow
def test_a_corpus_is_translated_although_a_worker_dies(corpus, tmp_path):
    toy, targets = corpus.toy, tmp_path / "targets"
    places = (toy.output_dir, toy.data_dir, toy.user_dir, corpus.folder / "exported")
    said = run_driver(DRIVER, *map(str, (*places, corpus.folder / "parts", targets)), OPTIONS)
    total = sum(map(len, corpus.files.values()))
    assert said == [str(total), "0", str(total)]
    assert (targets / "killed").exists()
    for name, expected in corpus.expected.items():
        assert len(set(expected)) > 5
        for folder in ("run", "export"):
            written = (targets / folder / name).read_text(encoding="utf-8")
            assert written == "".join(f"{line}\n" for line in expected), (folder, name)
    assert {path.name for path in (targets / "run").iterdir()} == set(corpus.files)


@pytest.mark.slow
def test_the_batch_function_of_the_chapter(corpus):
    (code,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/many_machines.md").read_text("utf-8"), re.S
    )
    for old, new in (
        ('t2t_phrase.load("/shared/runs/ende")', "t2t_phrase.ExportedTranslator(exported)"),
        ("size=8", "size=2"),
        ("/shared", str(corpus.folder)),
    ):
        assert old in code
        code = code.replace(old, new)
    program = CHAPTER.replace("CODE", code)
    said = run_driver(program, str(corpus.folder), str(corpus.folder / "exported"))
    assert said == [line for name in ("00", "01", "02") for line in corpus.expected[name]]

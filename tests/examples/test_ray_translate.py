"""A corpus is translated by two workers, one of which is killed."""

import pytest
from cluster import run_driver
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
print(translate(model, sources, f"{targets}/run", workers=2, options=given, function=Dying))
# What is there is left alone.
print(translate(model, sources, f"{targets}/run", workers=2, options=given))
print(translate(t2t_phrase.ExportedTranslator(exported), sources, f"{targets}/export", workers=2))
"""


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
    assert said.split()[-3:] == [str(total), "0", str(total)]
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

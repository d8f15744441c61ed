"""The examples of the Python API run, in a folder with a small corpus."""

import shutil

import pytest

import t2t_phrase
from tests.support.docstring_examples import example, run

TINY = "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2"
SMALLER = {
    '"phrase_interleaved_convkv_1_2_10k"': '"transformer_demo"',
    '"r_drop=3.0"': f'"{TINY}"',
    "train_steps=6000, local_eval_frequency=300": "train_steps=2, local_eval_frequency=1",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with data and two runs, made by the examples of `generate_data` and `train`."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "corpus").mkdir()
    for split in ("train", "dev"):
        for side, line in (("src", "A house ."), ("tgt", "Ein Haus .")):
            (folder / "corpus" / f"{split}.{side}").write_text(f"{line}\n" * 20)
    (folder / "test.src").write_text("A house .\n" * 3)
    (folder / "pairs.tsv").write_text("A house .\tEin Haus .\n" * 2)
    training = example(t2t_phrase.train)
    for old, new in SMALLER.items():
        assert training.count(old) == 1
        training = training.replace(old, new)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run(example(t2t_phrase.generate_data), __name__="__main__")
        run(training)
    shutil.copytree(folder / "runs/mine", folder / "runs/other")
    return folder


def test_data_and_runs_are_made(folder):
    assert list((folder / "data").glob("translate_text-train-*"))
    assert (folder / "runs/mine/best").is_dir()


@pytest.mark.parametrize(
    ("documented", "written"),
    [
        (t2t_phrase.load, {}),
        (t2t_phrase.TrainedTranslator, {"weights.npz", "test.out", "pairs.scores"}),
        (t2t_phrase.DecodeHParams, {}),
        (t2t_phrase.LoopOptions, {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_examples_run(folder, monkeypatch, documented, written):
    monkeypatch.chdir(folder)
    before = {path.name for path in folder.iterdir()}
    run(example(documented))
    assert {path.name for path in folder.iterdir()} - before == set(written)


def test_the_example_of_registration_runs(monkeypatch):
    names = t2t_phrase.registry.hparams
    monkeypatch.setattr(names, "_entries", dict(names._entries))
    assert run(example(type(names).register)) == 1

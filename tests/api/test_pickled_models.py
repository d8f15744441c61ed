"""Models are given to other processes as the place that they are from."""

import pickle

import pytest
from toy_run import make_toy_run

import t2t_phrase
from t2t_phrase.api import loading
from t2t_phrase.config import UserError
from t2t_phrase.runs.load_model import TrainedModel


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


OPTIONS = "beam_size=2,extra_length=4"
LINES = ["the house is old", "", "a cat sleeps in it while dogs run far away"]


def test_a_copy_loads_the_same_model_when_it_is_used(toy, monkeypatch, tmp_path):
    monkeypatch.chdir(toy.output_dir.parent)
    model = t2t_phrase.load("run", data_dir="data", t2t_usr_dir="toy_user")
    expected = model.translate(LINES, OPTIONS)
    assert len(set(expected)) == 3
    pickled = pickle.dumps(model)
    assert len(pickled) < 2000
    # The worker is in another folder, and the training has gone on.
    monkeypatch.chdir(tmp_path)
    later = toy.output_dir / "model.ckpt-40"
    for ending in (".index", ".data-00000-of-00001"):
        source = toy.output_dir / "best" / f"model.ckpt-20{ending}"
        later.with_name(later.name + ending).write_bytes(source.read_bytes())
    loads = []
    load_models = loading.load_models
    monkeypatch.setattr(
        loading, "load_models", lambda *a, **k: loads.append(a) or load_models(*a, **k)
    )
    copy = pickle.loads(pickle.dumps(pickle.loads(pickled)))
    assert not loads
    assert copy.translate(LINES, OPTIONS) == expected
    assert copy.hparams == model.hparams and len(loads) == 1
    assert copy.trained.step == 30
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        copy.nothing  # noqa: B018
    assert pickle.dumps(copy) == pickled


def test_paths_below_the_home_folder(toy, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(toy.output_dir.parent))
    model = t2t_phrase.load("~/run", data_dir="~/data", t2t_usr_dir="~/toy_user")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert pickle.loads(pickle.dumps(model)).translate(LINES, OPTIONS)


@pytest.mark.slow
def test_a_copy_scores(toy):
    folders = {"data_dir": str(toy.data_dir), "t2t_usr_dir": str(toy.user_dir)}
    model = t2t_phrase.load(toy.output_dir, **folders)
    pairs = [("the house", "a cat")]
    assert pickle.loads(pickle.dumps(model)).score(pairs) == model.score(pairs)


def test_a_model_of_no_run_cannot_be_pickled(toy):
    trained = TrainedModel(toy.model, None, "", 0)
    model = loading.TrainedTranslator(trained, toy.vocabularies)
    with pytest.raises(UserError, match="cannot be pickled; load it with"):
        pickle.dumps(model)

"""Services that receive the scalars of a training."""

import sys
import types

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.training.summaries import Summaries
from t2t_phrase.training.trackers import check_trackers, make_trackers


class Recorder(types.ModuleType):
    """Stands for wandb and mlflow, and remembers the calls."""

    def __init__(self):
        super().__init__("recorder")
        self.calls = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args, **kwargs):
            self.calls.append((name, args, kwargs))
            return self

        return call


@pytest.fixture(params=["wandb", "mlflow"])
def service(request, monkeypatch):
    recorder = Recorder()
    monkeypatch.setitem(sys.modules, request.param, recorder)
    return request.param, recorder


def test_scalars_and_settings_arrive(service, tmp_path):
    name, recorder = service
    trackers = make_trackers([name], tmp_path / "run", {"batch_size": 1024})
    said = []
    summaries = Summaries(tmp_path / "run", writes=True, log=said.append, trackers=trackers)
    summaries.write("train", 10, {"loss": 2.5})
    summaries.write("eval", 10, {"bleu": 30.0})
    summaries.close()
    names = [call for call, _, _ in recorder.calls]
    log = "log" if name == "wandb" else "log_metrics"
    sent = [(args[0], kwargs) for call, args, kwargs in recorder.calls if call == log]
    assert sent == [({"train/loss": 2.5}, {"step": 10}), ({"eval/bleu": 30.0}, {"step": 10})]
    assert names[-1] == ("finish" if name == "wandb" else "end_run")
    assert "1024" in str(recorder.calls) and not said


def test_a_service_that_fails_does_not_end_the_training(tmp_path):
    class Broken:
        def write(self, step, values):
            raise ConnectionError("no network")

        def close(self):
            raise AssertionError

    class Unfinished:
        def write(self, step, values):
            pass

        def close(self):
            raise ConnectionError("still no network")

    said = []
    trackers = [Broken(), Unfinished()]
    summaries = Summaries(tmp_path, writes=True, log=said.append, trackers=trackers)
    for step in (1, 2):
        summaries.write("train", step, {"loss": 1.0})
    summaries.close()
    assert said == [
        "WARNING: Broken receives no more scalars: no network",
        "WARNING: Unfinished receives no more scalars: still no network",
    ]


def test_a_service_that_refuses_the_run(monkeypatch, tmp_path):
    def init(**settings):
        raise ConnectionError("not logged in")

    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(init=init))
    with pytest.raises(UserError, match="--trackers=wandb: no run could be begun: not logged in"):
        make_trackers(["wandb"], tmp_path, {})


def test_mistakes(monkeypatch):
    with pytest.raises(UserError, match="'wandbb' is unknown; did you mean wandb"):
        check_trackers(["wandbb"])
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UserError, match=r"pip install 't2t_phrase\[wandb\]'"):
        check_trackers(["wandb"])


def test_a_folder_is_one_run_of_wandb(monkeypatch, tmp_path):
    begun = []
    module = types.SimpleNamespace(init=lambda **settings: begun.append(settings))
    monkeypatch.setitem(sys.modules, "wandb", module)
    for name in ("one", "one", "two"):
        make_trackers(["wandb"], tmp_path / name, {})
    first, resumed, other = (settings["id"] for settings in begun)
    assert first == resumed != other
    assert all(settings["resume"] == "allow" for settings in begun)

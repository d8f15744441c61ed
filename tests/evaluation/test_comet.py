"""COMET through its package's interface, by a stand-in for the package."""

import importlib.metadata
import sys
import types

import pytest
from toy_run import call

from t2t_phrase.bin import eval as eval_command
from t2t_phrase.config import UserError
from t2t_phrase.evaluation.comet import comet_score


@pytest.fixture
def checkpoint(tmp_path, monkeypatch):
    """A checkpoint whose model scores 0.9 where translation and reference are equal."""
    path = tmp_path / "wmt22-comet-da" / "checkpoints" / "model.ckpt"
    path.parent.mkdir(parents=True)
    path.write_text("weights")

    class Model:
        def predict(self, rows, batch_size, gpus, progress_bar):
            assert (batch_size, gpus, progress_bar) == (16, 0, False)
            assert all(row["src"].startswith("s") for row in rows)
            scores = [0.9 if row["mt"] == row["ref"] else 0.1 for row in rows]
            return types.SimpleNamespace(scores=scores, system_score=sum(scores) / len(scores))

    def load(given):
        assert given == str(path)
        return Model()

    monkeypatch.setitem(sys.modules, "comet", types.SimpleNamespace(load_from_checkpoint=load))
    version = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda n: "2.2.7" if n == "unbabel-comet" else version(n)
    )
    return str(path)


def test_the_score_has_a_signature(checkpoint):
    found = comet_score(["s1", "s2"], ["a", "b"], ["a", "c"], model=checkpoint)
    assert found.value == pytest.approx(50)
    assert found.signature == "nrefs:1|model:wmt22-comet-da|batch:16|version:2.2.7"
    with pytest.raises(UserError, match="correspond one to one"):
        comet_score(["s1"], ["a", "b"], ["a", "c"], model=checkpoint)


def test_the_command_scores_with_it(checkpoint, tmp_path, capsys):
    for name, lines in (("s", "s1\ns2\n"), ("t", "a\nb\n"), ("r", "a\nc\n")):
        (tmp_path / name).write_text(lines)
    files = [f"--translation={tmp_path}/t", f"--reference={tmp_path}/r"]
    source = f"--source={tmp_path}/s"
    call(eval_command, *files, source, "--metrics=comet", f"--comet_model={checkpoint}")
    assert "COMET = 50.00  nrefs:1|model:wmt22-comet-da" in capsys.readouterr().out
    with pytest.raises(UserError, match="comet: give --source"):
        call(eval_command, *files, "--metrics=comet", f"--comet_model={checkpoint}")
    with pytest.raises(UserError, match=r"no checkpoint .* downloads nothing"):
        call(eval_command, *files, source, "--metrics=comet", "--comet_model=nowhere")
    with pytest.raises(UserError, match=r"comet.* cannot be resampled"):
        call(
            eval_command,
            *(*files, source, "--metrics=comet", f"--comet_model={checkpoint}"),
            f"--baseline={tmp_path}/t",
        )


def test_without_the_package_the_error_says_so(checkpoint, monkeypatch):
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(UserError, match=r"pip install 't2t_phrase\[comet\]'"):
        comet_score(["s"], ["a"], ["a"], model=checkpoint)

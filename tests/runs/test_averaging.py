import dataclasses
import os
import pathlib
import shutil

import numpy as np
import pytest
from toy_run import call, make_toy_run

from t2t_phrase.bin import avg
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.averaging import average_checkpoints, last_checkpoints
from t2t_phrase.runs.commands import add_command, read_commands
from t2t_phrase.runs.load_model import load_model
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.writing import writing


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def both(toy):
    return [str(toy.output_dir / "best" / "model.ckpt-20"), str(toy.output_dir / "model.ckpt-30")]


def test_the_mean_is_a_checkpoint_like_any_other(toy, both, tmp_path):
    path, steps = average_checkpoints(both, tmp_path / "averaged")
    assert path == str(tmp_path / "averaged" / "model.ckpt-30") and steps == [20, 30]
    one, other = (checkpoints.read_tensors(each) for each in both)
    loaded = load_model(tmp_path / "averaged")
    assert loaded.step == 30 and loaded.record.problem == "translate_toy"
    for name, variable in checkpoints.model_variables(loaded.model).items():
        np.testing.assert_allclose(variable, (one[name] + other[name]) / 2, atol=1e-6)


def test_optimizer_slots_are_left_out(toy, tmp_path):
    for step in (1, 2, 10):
        checkpoints.write(
            tmp_path / f"model.ckpt-{step}",
            model={"a": np.full(2, float(step), np.float32)},
            optimizer={"a/momentum": np.ones(2, np.float32)},
            step=step,
        )
    (tmp_path / "hparams.json").write_bytes((toy.output_dir / "hparams.json").read_bytes())
    last = last_checkpoints(tmp_path, 2)
    path, steps = average_checkpoints(last[::-1], tmp_path / "mean")
    # The last ones, in any order; the average has the step of the latest.
    assert steps == [10, 2] and path.endswith("/model.ckpt-10")
    assert checkpoints.read_tensors(path)["a"].tolist() == [6.0, 6.0]
    assert checkpoints.read_tensors(path, "optimizer") == {}


def test_adapters_are_averaged_as_what_they_add(toy, tmp_path):
    rng = np.random.default_rng(0)
    shapes = {"kernel": (3, 4), "lora_kernel_a": (3, 2), "lora_kernel_b": (2, 4), "bias": (4,)}
    stored = [
        {f"dense/{name}": rng.normal(size=shape) for name, shape in shapes.items()}
        for _ in range(3)
    ]
    for step, weights in enumerate(stored):
        checkpoints.write(tmp_path / f"model.ckpt-{step}", model=weights, step=step)
    (tmp_path / "hparams.json").write_bytes((toy.output_dir / "hparams.json").read_bytes())
    path, _ = average_checkpoints(last_checkpoints(tmp_path, 3), tmp_path / "mean")

    def kernel(weights):
        a, b = weights["dense/lora_kernel_a"], weights["dense/lora_kernel_b"]
        return weights["dense/kernel"] + a @ b

    mean = checkpoints.read_tensors(path)
    assert {name: value.shape for name, value in mean.items()} == {
        f"dense/{name}": shape for name, shape in shapes.items()
    }
    np.testing.assert_allclose(kernel(mean), sum(map(kernel, stored)) / 3, rtol=1e-12)
    biases = [weights["dense/bias"] for weights in stored]
    np.testing.assert_allclose(mean["dense/bias"], sum(biases) / 3, rtol=1e-12)


def test_the_commands_of_the_run_are_kept(toy, both, tmp_path):
    run = tmp_path / "run"
    copy(both[1], run)
    add_command(run, ["--decode_hparams=alpha=1.4"], log=print)
    average_checkpoints([str(run)], tmp_path / "averaged")
    assert read_commands(tmp_path / "averaged") == read_commands(run) != []
    (run / "commands.json").write_text("damaged")
    average_checkpoints([str(run)], tmp_path / "other")
    assert read_commands(tmp_path / "other") == []


def test_another_run_is_not_replaced(both, tmp_path):
    run, damaged = tmp_path / "run", tmp_path / "damaged"
    slots = {"a/momentum": np.ones(2, np.float32)}
    for folder in (run, damaged):
        checkpoints.write(folder / "model.ckpt-7", model={"a": np.ones(2)}, optimizer=slots, step=7)
    before = sorted((path.name, path.read_bytes()) for path in run.iterdir())
    with pytest.raises(UserError, match=r"run holds a training run, .*-7 .*; give another folder"):
        average_checkpoints(both, run)
    assert sorted((path.name, path.read_bytes()) for path in run.iterdir()) == before
    # An average may be written again, also over a damaged one.
    (damaged / "model.ckpt-7.index").write_bytes(b"no index")
    for _ in range(2):
        average_checkpoints(both, damaged)


def test_duplicates_are_refused(both, tmp_path):
    with pytest.raises(UserError, match=r"model.ckpt-30 is given twice"):
        average_checkpoints([both[1], both[0], f"{both[1]}.index"], tmp_path / "averaged")


def test_fewer_than_asked_for(toy, tmp_path):
    with pytest.raises(UserError, match=r"nowhere holds no checkpoint; give the --output_dir"):
        last_checkpoints(tmp_path / "nowhere", 2)
    with pytest.raises(UserError, match=r"--num_last_checkpoints=2: .* holds 1 checkpoint;"):
        last_checkpoints(toy.output_dir, 2)


def test_different_models_are_refused(toy, both, tmp_path):
    tensors = checkpoints.read_tensors(both[1])
    tensors["surplus"] = np.zeros(1, np.float32)
    tensors["embedding/embeddings"] = np.zeros((2, 2), np.float32)
    checkpoints.write(tmp_path / "model.ckpt-5", model=tensors, step=5)
    with pytest.raises(UserError) as caught:
        average_checkpoints([both[1], str(tmp_path / "model.ckpt-5")], tmp_path / "averaged")
    assert "surplus is in " in str(caught.value) and "embedding/embeddings is (" in str(
        caught.value
    )


def test_the_run_itself_is_not_overwritten(toy, both):
    with pytest.raises(UserError, match="is the folder of checkpoint"):
        average_checkpoints(both, toy.output_dir)


def test_command(toy, both, tmp_path, capsys):
    target = tmp_path / "named"
    call(avg, f"--checkpoints={','.join(both)}", f"--output_path={target}")
    assert capsys.readouterr().out == (
        f"averaged 2 checkpoints, steps 20, 30: {target}/model.ckpt-30\n"
    )
    call(avg, f"--output_dir={toy.output_dir}", "--num_last_checkpoints=1")
    assert load_model(toy.output_dir / "averaged").step == 30


def copy(source, folder, step=None):
    """Copy a checkpoint and its record, perhaps under the name of another step."""
    source = pathlib.Path(source)
    folder.mkdir()
    shutil.copy(source.parent / "hparams.json", folder)
    name = f"model.ckpt-{step}" if step else source.name
    for file in checkpoints.files_of(source):
        shutil.copy(file, folder / file.name.replace(source.name, name))
    return str(folder / name)


def test_hard_links_and_copies_are_the_same_checkpoint(toy, both, tmp_path):
    linked = tmp_path / "linked"
    linked.mkdir()
    for file in checkpoints.files_of(both[1]):
        os.link(file, linked / file.name)
    copied = copy(both[1], tmp_path / "copied")
    renamed = copy(both[1], tmp_path / "renamed", step=40)
    for other in (str(linked / "model.ckpt-30"), copied, renamed):
        with pytest.raises(UserError, match=r"-30 and .* are the same checkpoint; each may count"):
            average_checkpoints([both[1], both[0], other], tmp_path / "averaged")
    assert not (tmp_path / "averaged").exists()


def test_runs_with_other_settings_are_refused(both, tmp_path):
    other = copy(both[1], tmp_path / "other")
    record = RunRecord.load(tmp_path / "other")
    dataclasses.replace(record, random_seed=2, vocabulary="ab").save(tmp_path / "other")
    with pytest.raises(UserError) as caught:
        average_checkpoints([both[0], other], tmp_path / "averaged")
    assert f"{both[0]} and {other} are from runs with different settings" in str(caught.value)
    assert "random_seed: 1 -> 2; vocabulary: " in str(caught.value)


def test_what_a_killed_average_left_is_removed(both, tmp_path):
    (tmp_path / ".model.ckpt-30.tmp").mkdir()
    (tmp_path / "model.ckpt-30.data-00000-of-00001").write_bytes(b"half")
    average_checkpoints(both, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "checkpoint",
        "hparams.json",
        "model.ckpt-30.data-00000-of-00001",
        "model.ckpt-30.index",
    ]


def test_two_averages_at_once(both, tmp_path):
    with writing(tmp_path), pytest.raises(UserError, match=r"--output_path=.* another process"):
        average_checkpoints(both, tmp_path)

"""t2t-phrase-trainer on JAX, in a process without TensorFlow: its runs are TensorFlow's."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from backend_process import needs_jax
from trainer_toy import write_toy

from t2t_phrase.reports.run.scalars import read_scalars
from t2t_phrase.runs import checkpoints

pytestmark = [needs_jax, pytest.mark.slow]
HPARAMS = (
    "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,batch_size=64,max_length=16,"
    "length_bucket_step=2"
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the folder of a tiny problem's data, which runs are put into."""
    folder = write_toy(tmp_path_factory.mktemp("jax"))
    (folder / "without").mkdir()
    blocked = 'import sys\nsys.modules["tensorflow"] = None\n'
    (folder / "without" / "sitecustomize.py").write_text(blocked)
    return folder


def run(
    toy: pathlib.Path, command: str, *flags: str, jax: bool = True, xla_flags: str = ""
) -> subprocess.CompletedProcess[str]:
    paths = [str(toy / "without")] * jax + sys.path
    return subprocess.run(
        [sys.executable, "-m", f"t2t_phrase.bin.{command}", *flags],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "KERAS_BACKEND": "jax" if jax else "tensorflow",
            "JAX_PLATFORMS": "cpu",
            "PYTHONPATH": os.pathsep.join(paths),
            "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {xla_flags}".strip(),
        },
    )


def train(
    toy: pathlib.Path, name: str, steps: int, *more: str, hparams: str = "", **options: Any
) -> str:
    ended = run(toy, "trainer", *flags_of(toy, name, steps, hparams), *more, **options)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not ended.stderr
    return ended.stdout


def flags_of(toy: pathlib.Path, name: str, steps: int, hparams: str = "") -> list[str]:
    return [
        "--problem=translate_trainer_toy",
        "--hparams_set=transformer_tiny",
        f"--hparams={HPARAMS}{hparams}",
        f"--data_dir={toy}",
        f"--output_dir={toy / name}",
        f"--t2t_usr_dir={toy / 'user'}",
        "--decode_hparams=beam_size=1,extra_length=2,max_input_size=4",
        "--local_eval_frequency=2",
        "--log_step_count_steps=1",
        f"--train_steps={steps}",
    ]


def losses(printed: str) -> list[float]:
    return [float(found) for found in re.findall(r"^step \d+.*?  loss (\S+)", printed, re.M)]


def tensors(path: pathlib.Path) -> dict[str, np.ndarray]:
    both = [checkpoints.read_tensors(path, group) for group in ("model", "optimizer")]
    return {f"{place}/{name}": value for place, g in enumerate(both) for name, value in g.items()}


def assert_close(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name].dtype == value.dtype, name
        np.testing.assert_allclose(found[name], value, rtol=1e-3, atol=2e-5, err_msg=name)


@pytest.fixture(scope="module")
def trained(toy: pathlib.Path) -> str:
    printed = train(toy, "run", 4)
    assert (toy / "run" / "report.html").exists()
    return printed


def scores(folder: pathlib.Path) -> dict[str, dict[str, float]]:
    return json.loads((folder / "evaluations.json").read_text())


def test_a_run_is_that_of_tensorflow(toy: pathlib.Path, trained: str) -> None:
    twin = train(toy, "twin", 4, jax=False)
    assert len(losses(trained)) == 4
    assert losses(trained) == pytest.approx(losses(twin), abs=2e-4)
    for step in (2, 4):
        name = f"model.ckpt-{step}"
        assert_close(tensors(toy / "run" / name), tensors(toy / "twin" / name))
        states = [checkpoints.read_state(toy / run / name) for run in ("run", "twin")]
        assert states[0] == states[1]
    assert scores(toy / "run").keys() == scores(toy / "twin").keys() == {"2", "4"}
    for step, each in scores(toy / "twin").items():
        assert scores(toy / "run")[step] == pytest.approx(each, rel=1e-4)
    named = [read_scalars(toy / run).keys() for run in ("run", "twin")]
    assert named[0] == named[1] >= {"loss", "learning_rate"}


def test_a_resumed_run_is_the_same_bit_for_bit(toy: pathlib.Path, trained: str) -> None:
    halves = [train(toy, "halves", steps) for steps in (2, 4)]
    assert [*losses(halves[0]), *losses(halves[1])] == losses(trained)
    assert "resuming from" in halves[1]
    found, expected = (tensors(toy / run / "model.ckpt-4") for run in ("halves", "run"))
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("first", [True, False])
def test_engines_resume_the_runs_of_each_other(
    toy: pathlib.Path, trained: str, *, first: bool
) -> None:
    name = f"changed{int(first)}"
    printed = [train(toy, name, 2, jax=first), train(toy, name, 4, jax=not first)]
    assert [*losses(printed[0]), *losses(printed[1])] == pytest.approx(losses(trained), abs=2e-4)
    assert_close(tensors(toy / name / "model.ckpt-4"), tensors(toy / "run" / "model.ckpt-4"))


def test_tensorflow_translates_and_exports_what_jax_trained(
    toy: pathlib.Path, trained: str
) -> None:
    (toy / "in.txt").write_text("the house is old\na cat\n")
    common = [f"--output_dir={toy / 'run'}", f"--data_dir={toy}", f"--t2t_usr_dir={toy / 'user'}"]
    for jax in (True, False):
        output = f"--decode_to_file={toy / f'out{jax}'}"
        ended = run(
            toy, "decoder", *common, f"--decode_from_file={toy / 'in.txt'}", output, jax=jax
        )
        assert ended.returncode == 0, ended.stderr
    assert (toy / "outTrue").read_text() == (toy / "outFalse").read_text()
    ended = run(toy, "exporter", *common, f"--export_dir={toy / 'export'}", jax=False)
    assert ended.returncode == 0, ended.stderr
    found = tf.train.Checkpoint(step=tf.Variable(0, dtype=tf.int64))
    found.read(str(toy / "run" / "model.ckpt-4")).assert_existing_objects_matched()
    assert int(found.step) == 4


def test_two_devices_are_one_with_two_parts(toy: pathlib.Path) -> None:
    effective = ",effective_batch_size=128"
    parts = train(toy, "parts", 4, hparams=effective)
    assert "2 parts of batch_size=64" in parts
    devices = train(
        toy,
        "devices",
        4,
        hparams=effective,
        xla_flags="--xla_force_host_platform_device_count=2",
    )
    assert losses(devices) == pytest.approx(losses(parts), abs=2e-4)
    assert_close(tensors(toy / "devices" / "model.ckpt-4"), tensors(toy / "parts" / "model.ckpt-4"))


def test_moving_averages_are_evaluated_and_saved(toy: pathlib.Path) -> None:
    averaged = ",optimizer_options=[use_ema=true,ema_momentum=0.5]"
    for name, jax in (("averaged", True), ("averaged_twin", False)):
        train(toy, name, 4, hparams=averaged, jax=jax)
    for step, each in scores(toy / "averaged_twin").items():
        assert scores(toy / "averaged")[step] == pytest.approx(each, rel=1e-4)
    found, expected = (tensors(toy / f"averaged{end}" / "model.ckpt-4") for end in ("", "_twin"))
    assert_close(found, expected)


def test_a_run_is_evaluated_and_tried(toy: pathlib.Path, trained: str) -> None:
    evaluated = train(toy, "run", 4, "--schedule=evaluate")
    last = next(line for line in reversed(trained.splitlines()) if "dev loss" in line)
    assert last.partition("(")[0] in evaluated
    tried = train(toy, "tried", 4, "--dry_run")
    assert "again" in tried and "GiB of main memory" in tried
    assert not (toy / "tried").exists()

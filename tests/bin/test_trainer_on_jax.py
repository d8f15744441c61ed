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
from jax_process import needs_jax
from trainer_toy import write_toy

from t2t_phrase.runs import checkpoints

pytestmark = needs_jax
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
    ended = run(
        toy,
        "trainer",
        "--problem=translate_trainer_toy",
        "--hparams_set=transformer_tiny",
        f"--hparams={HPARAMS}{hparams}",
        f"--data_dir={toy}",
        f"--output_dir={toy / name}",
        f"--t2t_usr_dir={toy / 'user'}",
        "--decode_hparams=beam_size=1,extra_length=2,max_input_size=4",
        "--local_eval_frequency=2",
        "--log_step_count_steps=1",
        "--report=",
        f"--train_steps={steps}",
        *more,
        **options,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not ended.stderr
    return ended.stdout


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
    return train(toy, "run", 4)


def test_a_run_is_that_of_tensorflow(toy: pathlib.Path, trained: str) -> None:
    twin = train(toy, "twin", 4, jax=False)
    assert len(losses(trained)) == 4 + 2
    assert losses(trained) == pytest.approx(losses(twin), abs=2e-4)
    for step in (2, 4):
        name = f"model.ckpt-{step}"
        assert_close(tensors(toy / "run" / name), tensors(toy / "twin" / name))
        states = [checkpoints.read_state(toy / run / name) for run in ("run", "twin")]
        assert states[0] == states[1]
    scores = [json.loads((toy / run / "evaluations.json").read_text()) for run in ("run", "twin")]
    assert scores[0].keys() == scores[1].keys()

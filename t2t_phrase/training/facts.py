"""Facts that must be the same on all workers of a training."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
from typing import Any

import keras

import t2t_phrase
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.training.loop_options import LoopOptions


def facts_of_process(devices: int) -> dict[str, Any]:
    """Return the facts that must be the same before the workers can connect, by name.

    Args:
        devices: number of devices of this worker.
    """
    import tensorflow as tf

    return {
        "the version of t2t_phrase": f"{t2t_phrase.__version__} (code {code_digest()})",
        "the version of TensorFlow": tf.__version__,
        "the version of Keras": keras.__version__,
        "the number of devices": devices,
    }


def facts_of_run(record: RunRecord, loop: LoopOptions, *, evaluate: bool, eval_steps: int) -> Any:
    """Return the facts that decide which updates are made, and when all workers act together.

    Args:
        record: the settings of the run, and its data.
        loop: when to report, save, evaluate and stop.
        evaluate: whether there are evaluations.
        eval_steps: number of batches in each evaluation.
    """
    return {
        **record.settings(),
        "the digest of the data": record.data,
        **{f"--{name}": value for name, value in dataclasses.asdict(loop).items()},
        "evaluation": evaluate,
        "--eval_steps": eval_steps,
    }


def code_digest() -> str:
    """Return a digest of all Python files of the library."""
    root = pathlib.Path(t2t_phrase.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(f"{file.relative_to(root)} {file.stat().st_size} ".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]

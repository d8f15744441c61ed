"""TensorBoard."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf


class Summaries:
    """TensorBoard scalars; a disk that is full must not stop the training.

    Args:
        folder: `--output_dir`; evaluation goes to `eval/` in it, as in tensor2tensor.
        writes: whether this process writes files.
        log: is told when scalars cannot be written.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, writes: bool, log: Callable[[str], None]
    ) -> None:
        self._folders = {"train": str(folder), "eval": str(pathlib.Path(folder) / "eval")}
        self._writers: dict[str, Any] = {}
        self._writes, self._log = writes, log

    def write(self, kind: str, step: int, values: dict[str, float]) -> None:
        """Write scalars of "train" or "eval"."""
        if not self._writes:
            return
        try:
            if kind not in self._writers:
                self._writers[kind] = tf.summary.create_file_writer(self._folders[kind])
            with self._writers[kind].as_default():
                for name, value in values.items():
                    tf.summary.scalar(name, value, step=step)
            self._writers[kind].flush()
        except (OSError, tf.errors.OpError) as error:
            self._writes = False
            self._log(f"WARNING: TensorBoard scalars end here: {error}")

    def close(self) -> None:
        """Write what is left."""
        for writer in self._writers.values():
            if self._writes:
                writer.close()

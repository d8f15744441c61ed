"""Scalars for TensorBoard."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from t2t_phrase.io.files import reason_of


class Summaries:
    """Writes scalars for TensorBoard; a full disk ends this, but not the training.

    Args:
        folder: `--output_dir`; those of evaluations go to its subfolder `eval`, as in
            tensor2tensor.
        writes: whether this process writes files.
        log: called with a warning if scalars cannot be written.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, writes: bool, log: Callable[[str], None]
    ) -> None:
        self._folders = {"train": str(folder), "eval": str(pathlib.Path(folder) / "eval")}
        self._writers: dict[str, Any] = {}
        self._writes, self._log = writes, log

    def write(self, kind: str, step: int, values: dict[str, float]) -> None:
        """Write scalars.

        Args:
            kind: "train" or "eval".
            step: number of updates made.
            values: the scalars by name.
        """
        if not self._writes:
            return
        try:
            if kind not in self._writers:
                self._writers[kind] = tf.summary.create_file_writer(self._folders[kind])
            with self._writers[kind].as_default():
                # TensorFlow keeps every Python number that it has made a tensor of, for ever.
                at = np.asarray(step, np.int64)
                for name, value in values.items():
                    tf.summary.scalar(name, np.asarray(value, np.float32), step=at)
            self._writers[kind].flush()
        except (OSError, tf.errors.OpError) as error:
            self._writes = False
            self._log(f"WARNING: no more TensorBoard scalars are written: {reason_of(error)}")

    def close(self) -> None:
        """Close the files."""
        for writer in self._writers.values():
            if self._writes:
                writer.close()

"""Reads the files of one checkpoint; errors name the damaged file and a way to recover."""

from __future__ import annotations

import os
import pathlib
import re
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.runs.checkpoint_files import damage, open_files, shortage
from t2t_phrase.runs.object_graph import KEY as GRAPH
from t2t_phrase.runs.object_graph import SUFFIX as SUFFIX

# TensorFlow takes paths as patterns, in which these have a meaning.
_PATTERN = re.compile(r"[\[\]*?\\]")


class DamagedCheckpointError(UserError):
    """A checkpoint is not as it was saved."""


class CheckpointReader:
    """Reads the tensors of a checkpoint, each checked against its checksum.

    Args:
        path: the path without the endings `.index` and `.data-*`.
        way_on: returns advice to the user, for the path of a damaged checkpoint.

    Raises:
        UserError: the files cannot be opened.
        DamagedCheckpointError: the index is damaged.
    """

    def __init__(self, path: str | os.PathLike[str], way_on: Callable[[str], str]) -> None:
        self.path, self._way_on = str(path), way_on
        self._data = data_files(path)
        index = f"{self.path}.index"
        if os.path.exists(index) and not self._data:
            raise DamagedCheckpointError(
                f"checkpoint {path} cannot be read: there is no {path}.data-00000-of-00001; "
                + way_on(self.path)
            )
        for file in (index, *map(str, self._data)):
            _check_readable(file)
        try:
            self._reader = open_files(self._plain_path())
            self.shapes: dict[str, tuple[int, ...]] = {
                key: tuple(shape) for key, shape in self._reader.get_variable_to_shape_map().items()
            }
        except damage() as error:
            raise self._damaged(index) from error
        if GRAPH in self.shapes:
            # Nothing else reads the graph, and any damage to a file must be found.
            self.get(GRAPH)

    def get(self, key: str) -> Any:
        """Return a tensor.

        Raises:
            DamagedCheckpointError: its checksum differs.
        """
        try:
            return self._reader.get_tensor(key)
        except shortage():
            raise
        except damage() as error:
            names = " or ".join(map(str, self._data))
            raise self._damaged(names) from error

    def verify(self) -> None:
        """Read all tensors.

        Raises:
            DamagedCheckpointError: a checksum differs.
        """
        for key in self.shapes:
            self.get(key)

    def group(self, name: str) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Return (key, shape) of the variables of "model" or "optimizer" by name.

        The format escapes "/" in names.
        """
        start = f"{name}/"
        return {
            key[len(start) : -len(SUFFIX)].replace(".S", "/").replace("..", "."): (key, shape)
            for key, shape in self.shapes.items()
            if key.startswith(start) and key.endswith(SUFFIX)
        }

    def tensors(self, name: str) -> dict[str, np.ndarray]:
        """Return the arrays of "model" or "optimizer" by name."""
        return {variable: self.get(key) for variable, (key, _) in self.group(name).items()}

    def _plain_path(self) -> str:
        if not _PATTERN.search(os.path.abspath(self.path)):
            return self.path
        # Deleted with this object; files are opened as they are needed.
        self._links = tempfile.TemporaryDirectory(prefix="t2t_phrase-")
        plain = pathlib.Path(self._links.name)
        for file in (pathlib.Path(f"{self.path}.index"), *self._data):
            ending = file.name[len(os.path.basename(self.path)) :]
            (plain / f"checkpoint{ending}").symlink_to(file.absolute())
        return str(plain / "checkpoint")

    def _damaged(self, file: str) -> DamagedCheckpointError:
        return DamagedCheckpointError(
            f"checkpoint {self.path} cannot be read: {file} is damaged; " + self._way_on(self.path)
        )


def data_files(path: str | os.PathLike[str]) -> list[pathlib.Path]:
    """Return the existing `.data-*` files of a checkpoint."""
    prefix = pathlib.Path(path)
    name = re.compile(rf"{re.escape(prefix.name)}\.data-\d+-of-\d+")
    try:
        return sorted(file for file in prefix.parent.iterdir() if name.fullmatch(file.name))
    except OSError:
        return []


def _check_readable(file: str) -> None:
    try:
        with open(file, "rb") as opened:
            opened.read(1)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from error

"""Files with constituency trees beside the source files of a corpus."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.data.lines import read_lines

# Name of the side stream, and what ends the files' names.
TREES = "trees"


def find_trees(
    files: Mapping[str, Sequence[Sequence[pathlib.Path]]],
) -> dict[pathlib.Path, pathlib.Path]:
    """Find the file of trees of every source file.

    Trees of `train.en`, and of `train.en.gz`, are in `train.en.trees` or `train.en.trees.gz`.

    Args:
        files: for each split its parts, each of a source file and reference files.

    Returns:
        The path of the trees by that of the source file; empty if there are none at all.

    Raises:
        UserError: some source files have trees and others have not.
    """
    sources = [part[0] for parts in files.values() for part in parts]
    found = {source: path for source in sources for path in _candidates(source) if path.is_file()}
    lacking = [source for source in sources if source not in found]
    if found and lacking:
        raise UserError(
            f"{next(_candidates(lacking[0]))} is missing, though {next(iter(found.values()))} is "
            "there: either every source file has its trees or none has (t2t-phrase-parse makes "
            "them)"
        )
    return found


def names_trees(name: str) -> bool:
    """Return whether a corpus' input of that name (see `Corpus.inputs`) is a file of trees."""
    return re.search(rf"\.{TREES}(\.gz)?(#\d+)?$", name) is not None


def tree_lines(path: pathlib.Path) -> Iterator[str]:
    """Yield the lines of a file of trees.

    Raises:
        UserError: it cannot be read, or a line is not UTF-8.
    """
    for number, line in enumerate(read_lines(path), start=1):
        if line is None:
            raise UserError(f"{path}:{number}: not UTF-8")
        yield line


def count_mismatch(source: pathlib.Path, trees: pathlib.Path, sentences: int) -> UserError:
    """Return the error of a file that has other than one tree for each sentence."""
    count = sum(1 for _ in read_lines(trees))
    return UserError(
        f"{trees} has {count} trees, but {source} has {sentences} sentences; make it again with "
        f"t2t-phrase-parse --input_file={source} --output_file={trees}"
    )


def _candidates(source: pathlib.Path) -> Iterator[pathlib.Path]:
    name = source.name.removesuffix(".gz")
    for suffix in (f".{TREES}", f".{TREES}.gz"):
        yield source.with_name(name + suffix)

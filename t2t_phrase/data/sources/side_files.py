"""Side files, which lie beside a text file and have one line for each of its sentences.

Trees of `train.en`, and of `train.en.gz`, are in `train.en.trees` or `train.en.trees.gz`.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Mapping, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.features import ALIGN, TREES, Feature, Side
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.lines import read_lines

# Paths of side files by stream (see `Feature.side_stream`), then by the path of the text file.
SideFiles = dict[str, dict[pathlib.Path, pathlib.Path]]
# The commands that make the files of a stream.
MAKERS = {TREES: "t2t-phrase-parse", ALIGN: "t2t-phrase-align"}


def find_side_files(
    files: Mapping[str, Sequence[Sequence[pathlib.Path]]], features: Sequence[Feature]
) -> SideFiles:
    """Find the side files that hold features.

    Args:
        files: for each split, its parts, each of a source file and reference files.
        features: features to look for, beside the source files or beside the first reference, see
            `Feature.file_side`.

    Returns:
        For each stream that exists, the path of the side file of every text file.

    Raises:
        UserError: only some of the text files have side files of a stream, or one has two.
    """
    found: SideFiles = {}
    for feature in features:
        column = text_column(feature.file_side)
        texts = [part[column] for parts in files.values() for part in parts]
        paths = {}
        for text in texts:
            existing = [path for path in _candidates(text, feature.stream) if path.is_file()]
            if len(existing) > 1:
                raise UserError(f"{' and '.join(map(str, existing))}: only one of them may exist")
            if existing:
                paths[text] = existing[0]
        lacking = [text for text in texts if text not in paths]
        if paths and lacking:
            maker = MAKERS.get(feature.stream)
            hint = f" ({maker} makes them)" if maker else ""
            raise UserError(
                f"{next(_candidates(lacking[0], feature.stream))} is missing, but "
                f"{next(iter(paths.values()))} exists: put .{feature.stream} files beside all "
                f"{feature.file_side} files, or beside none{hint}"
            )
        if paths:
            found[feature.side_stream] = paths
    return found


def text_column(side: Side) -> int:
    """Return the index of a side's text in a pair: the source, or the first reference."""
    return 0 if side == "source" else 1


def side_lines(path: pathlib.Path, *, drop_mark: bool = True) -> Iterator[str]:
    """Yield the lines of a side file.

    Args:
        path: the file.
        drop_mark: see `t2t_phrase.io.lines.read_lines`.

    Raises:
        UserError: the file cannot be read, or a line is not UTF-8.
    """
    for number, line in enumerate(read_lines(path, drop_mark=drop_mark), start=1):
        if line is None:
            raise UserError(f"{path}:{number}: not UTF-8")
        yield line


def count_mismatch(text: pathlib.Path, side: pathlib.Path, sentences: int) -> UserError:
    """Return the error for a side file that does not have one line for each sentence."""
    count = sum(1 for _ in read_lines(side))
    # No command compresses its output, and a compressed file would be read instead of it.
    made = side.with_name(side.name.removesuffix(".gz"))
    gone = f", and delete {side}" if made != side else ""
    hint = ""
    if f".{TREES}" in side.suffixes:
        command = f"t2t-phrase-parse --parser=... --input_file={text} --output_file={made}"
        hint = f"; recreate it: {command}{gone}"
    elif f".{ALIGN}" in side.suffixes:
        command = f"t2t-phrase-align --source=... --target={text} --output_file={made}"
        hint = f"; recreate it: {command}{gone}"
    has = counted(sentences, "sentence")
    return UserError(f"{side} has {counted(count, 'line')}, but {text} has {has}{hint}")


def _candidates(text: pathlib.Path, stream: str) -> Iterator[pathlib.Path]:
    name = text.name.removesuffix(".gz")
    for suffix in (f".{stream}", f".{stream}.gz"):
        yield text.with_name(name + suffix)

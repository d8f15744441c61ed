"""Warm start: initial weights from another run."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Literal

import keras
import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.adapters import adapters
from t2t_phrase.runs.checkpoint_reader import CheckpointReader
from t2t_phrase.runs.checkpoints import RestoreReport
from t2t_phrase.runs.load_model import find_record, run_above
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.vocabulary import checksums, find_kept, imported_files, kept_vocabularies
from t2t_phrase.special_ids import UNK_ID
from t2t_phrase.text.encoders import SpellingEncoder
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.vocabularies import Encoder, Vocabularies

# What to do with the tables of another vocabulary: refuse them, copy the rows of the entries that
# both vocabularies have, or leave them at their random initial values.
OtherVocabulary = Literal["same", "map", "new"]
# Layers with a row for each entry of a vocabulary; a joint table is named like the source's.
_TABLES = {"embedding": 0, "source_embedding": 0, "target_embedding": 1, "softmax": 1}
_JOINT, _TARGET = "embedding/embeddings", "target_embedding/embeddings"

_UNMAPPED = (
    "tensor2tensor's own subwords, which mark the ends of words and have no unknown word, so their "
    "entries do not correspond to those of another vocabulary; use --warm_start_vocab=new"
)


@dataclasses.dataclass(frozen=True)
class WarmStart:
    """The result of a warm start: the weights that were copied, and their checkpoint.

    Attributes:
        checkpoint: path of the checkpoint.
        report: the variables that were copied as a whole, and the others.
        mapped: for each table that was copied entry by entry, a line with the number of entries.
        adapted: the kernels to which adapters of the checkpoint were added, see `lora_rank`.
        left_out: tables of the vocabulary that the checkpoint has, but that were not copied.
    """

    checkpoint: str
    report: RestoreReport
    mapped: Mapping[str, str] = dataclasses.field(default_factory=dict)
    adapted: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        report = self.report
        taken = len(report.matched)
        fresh = len(report.missing) + len(self.left_out) + len(report.mismatched)
        total = taken + fresh + len(self.mapped)
        parts = [f"{taken} of {total} variables taken"]
        parts += [f"{len(self.mapped)} mapped by entries"] * bool(self.mapped)
        parts += [f"{fresh} start from random weights"] * bool(fresh)
        lines = [f"warm start from {self.checkpoint}: {', '.join(parts)}"]
        for title, entries in (
            ("mapped", [f"{name}: {text}" for name, text in self.mapped.items()]),
            ("with the checkpoint's low-rank update added", self.adapted),
            ("missing from the checkpoint", report.missing),
            ("of the vocabulary left at random values", self.left_out),
            ("with a different shape", report.mismatched),
            ("not used by the model", report.unused),
        ):
            lines += [f"{len(entries)} {title}:"] * bool(entries)
            lines += [f"  {entry}" for entry in entries]
        return "\n".join(lines)


def warm_start(
    model: keras.Model,
    path: str | os.PathLike[str],
    *,
    vocabularies: Vocabularies | None = None,
    other_vocabulary: OtherVocabulary = "same",
) -> WarmStart:
    """Copy every weight that the checkpoint has under the same name and in the same shape.

    Other weights keep their random initial values, and the optimizer starts from scratch. Adapters
    of the checkpoint (`lora_rank`) that the model has no room for are added to their kernels.

    Args:
        model: the model to initialise.
        path: a run's folder (its latest checkpoint) or a checkpoint.
        vocabularies: vocabularies of the model; None: the vocabularies are not compared.
        other_vocabulary: what to do if the checkpoint has another vocabulary: "same" refuses it,
            "map" copies the rows of the entries that both vocabularies have, "new" leaves
            embeddings and softmax at random values.

    Raises:
        UserError: there is no checkpoint, none of its weights fits, or its vocabulary differs and
            is refused, has no copy to map or consists of tensor2tensor's own subwords.
    """
    checkpoint = checkpoints.resolve(path)
    variables = checkpoints.model_variables(model)
    old, differs = None, False
    if vocabularies is not None:
        record = find_record(checkpoint)
        differs = _differs(vocabularies, record)
        if differs and other_vocabulary == "same" and not record.vocabulary:
            raise UserError(
                f"--warm_start_from={path}: the run does not say which vocabulary it has, so that "
                "of the data cannot be compared with it. Import it again with t2t-phrase-import "
                "--vocab_file, or add --warm_start_vocab=new to take neither embeddings nor softmax"
            )
        if differs and other_vocabulary == "same":
            difference = _difference(vocabularies, record, checkpoint)
            raise UserError(f"--warm_start_from={path}: {difference}")
        if differs and other_vocabulary == "map":
            if any(isinstance(encoder, T2TSubwords) for encoder in vocabularies):
                raise UserError(f"--warm_start_vocab=map: the data have {_UNMAPPED}")
            old = find_kept(checkpoint, record)
            of_t2t = any(isinstance(encoder, T2TSubwords) for encoder in old or ())
            if of_t2t or imported_files(checkpoint, record):
                raise UserError(f"--warm_start_vocab=map: {path} has {_UNMAPPED}")
            if old is None:
                raise UserError(
                    f"--warm_start_vocab=map: {path} has no copy of its vocabulary; copy "
                    "the vocabulary of its --data_dir there as vocab.joint (or as vocab.source and "
                    "vocab.target)"
                )
    tables = {name: side for name in variables if (side := _side(name)) is not None}
    whole = {
        name: variable for name, variable in variables.items() if not (differs and name in tables)
    }
    report = checkpoints.assign(checkpoint, whole)
    stored = checkpoints.reader(checkpoint)
    adapted, merged = _add_adapters(stored, variables, report)
    mapped: dict[str, str] = {}
    missing, left_out, read = list(report.missing), list[str](), dict[str, Encoder]()
    if differs:
        entries = stored.group("model")
        for name, side in tables.items():
            assert vocabularies is not None
            joint = vocabularies.shared
            sources = {} if old is None else _sources(name, side, entries, old, to_joint=joint)
            if not sources:
                (left_out if name in entries else missing).append(name)
                continue
            read.update(sources)
            rows = [(stored.get(entries[n][0]), encoder) for n, encoder in sources.items()]
            mapped[name] = _map_rows(variables[name], rows, vocabularies[side])
    taken = {*merged, *read, *(tables if differs else ())}
    unused = tuple(name for name in report.unused if name not in taken)
    report = dataclasses.replace(report, missing=tuple(missing), unused=unused)
    if not report.matched:
        raise UserError(f"--warm_start_from={path}: none of its weights fits the model: {report}")
    return WarmStart(checkpoint, report, mapped, tuple(adapted), tuple(left_out))


def _add_adapters(
    stored: CheckpointReader, variables: Mapping[str, keras.Variable], report: RestoreReport
) -> tuple[list[str], list[str]]:
    """Add the product A B of a checkpoint's adapters to kernels whose layer did not take A and B.

    Returns:
        (names of the kernels, names of A and B in the checkpoint).
    """
    entries = stored.group("model")
    kernels: list[str] = []
    merged: list[str] = []
    for kernel, factors in adapters(entries).items():
        if factors[0] in report.matched or kernel not in report.matched:
            continue
        a, b = (stored.get(entries[factor][0]) for factor in factors)
        variables[kernel].assign_add(a @ b)
        kernels.append(kernel)
        merged += factors
    return kernels, merged


def _difference(vocabularies: Vocabularies, record: RunRecord, checkpoint: str) -> str:
    """Return a sentence on vocabularies that are not those of a run, with what to do."""
    if (record.target_vocabulary, record.vocabulary) == checksums(vocabularies):
        return (
            "the run translates in the other direction, so it has this source vocabulary as that "
            "of the target, and this target vocabulary as that of the source. Add "
            "--warm_start_vocab=map to take the entries that both sources, and both targets, have, "
            "or --warm_start_vocab=new to take none"
        )
    folder = pathlib.Path(checkpoint).parent
    place = folder if kept_vocabularies(folder, record) else run_above(folder) or folder
    return (
        "the run has a different vocabulary (its checksum differs). Make the data with "
        f"t2t-phrase-datagen --vocab_from={place} to use the same one, or add "
        "--warm_start_vocab=map to take the entries that both have, or --warm_start_vocab=new to "
        "take none"
    )


def _differs(vocabularies: Vocabularies, record: RunRecord) -> bool:
    """Return whether the vocabularies are not those of a run."""
    recorded = (record.vocabulary, record.target_vocabulary)
    shared = record.target_vocab_size is None
    return shared != vocabularies.shared or recorded != checksums(vocabularies)


def _side(name: str) -> int | None:
    """Return 0 for a table of the source vocabulary, 1 for the target vocabulary, or None."""
    layer, _, weight = name.partition("/")
    return _TABLES.get(layer) if weight == "embeddings" else None


def _sources(
    name: str, side: int, entries: Mapping[str, object], old: Vocabularies, *, to_joint: bool
) -> dict[str, Encoder]:
    """Return the tables of a checkpoint with entries for a table, each with its vocabulary."""
    found = {name: old[side]} if name in entries else {}
    if old.shared:
        # A joint vocabulary may have had one table where the model has several.
        return found or ({_JOINT: old[0]} if _JOINT in entries else {})
    if to_joint and name == _JOINT and _TARGET in entries:
        found[_TARGET] = old[1]
    return found


def _map_rows(
    variable: keras.Variable, tables: Sequence[tuple[np.ndarray, Encoder]], new: Encoder
) -> str:
    """Copy the rows (D,) of entries from the first table that has them; return a line on them."""
    values = np.array(keras.ops.convert_to_numpy(variable.value))
    stored = tables[0][0]
    if values.shape[1:] != stored.shape[1:]:
        return f"none of {new.vocab_size:,} entries, since the size is {stored.shape[1:]}"
    values[: UNK_ID + 1] = stored[: UNK_ID + 1]
    wanted = {piece: row for row, piece in enumerate(_pieces(new)) if row > UNK_ID}
    count = UNK_ID + 1
    for rows, old in tables:
        for row, piece in enumerate(_pieces(old)):
            if row > UNK_ID and piece in wanted:
                values[wanted.pop(piece)] = rows[row]
                count += 1
    variable.assign(values)
    return f"{count:,} of {new.vocab_size:,} entries"


def _pieces(encoder: Encoder) -> list[str]:
    # `warm_start` has refused others.
    assert isinstance(encoder, SpellingEncoder)
    return encoder.pieces(range(encoder.vocab_size))

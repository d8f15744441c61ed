"""Folders that look like runs to what reads no weights."""

from __future__ import annotations

import pathlib

from t2t_phrase import registry
from t2t_phrase.runs.record import RunRecord

GRAMMAR = "translate_ende_grammar"


def save_run(folder: pathlib.Path, name: str, problem: str = GRAMMAR, **changes: object) -> None:
    """Write the record of a run, and a list of its checkpoints without any."""
    registry.discover()
    hparams = registry.hparams[name]().replace(**changes)
    folder.mkdir(parents=True)
    (folder / "checkpoint").touch()
    RunRecord(
        problem=problem,
        model=hparams.model,
        hparams_set=name,
        overrides="",
        hparams=hparams.to_dict(),
        vocab_size=8,
        vocabulary="",
        random_seed=1,
    ).save(folder)

"""Runs that began when a list of optimizer's options replaced that of the set."""

import numpy as np
import pytest

from t2t_phrase import registry
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.earlier_options import with_earlier_options
from t2t_phrase.runs.record import RunRecord, resolve_hparams

CHANGES = "optimizer_options=[use_ema=true],batch_size=2048"


@pytest.fixture
def merged():
    registry.discover()
    return resolve_hparams("transformer_10k", CHANGES)[0]


def write_run(folder, hparams, overrides=CHANGES):
    RunRecord(
        problem="translate_text",
        model="transformer",
        hparams_set="transformer_10k",
        overrides=overrides,
        hparams=hparams.to_dict(),
        vocab_size=8,
        vocabulary="",
        random_seed=1,
    ).save(folder)
    checkpoints.write(folder / "model.ckpt-1", model={"a": np.zeros(1)}, step=1)


def test_an_earlier_run_keeps_its_options(tmp_path, merged):
    assert len(merged.optimizer_options) > 1
    replaced = merged.replace(optimizer_options=("use_ema=true",))
    write_run(tmp_path, replaced)
    assert with_earlier_options(merged, CHANGES, tmp_path) == replaced
    # Other flags are compared with the record as they are.
    assert with_earlier_options(merged, f"{CHANGES},num_heads=2", tmp_path) == merged


def test_other_runs_have_those_of_the_set(tmp_path, merged):
    assert with_earlier_options(merged, CHANGES, tmp_path) == merged
    write_run(tmp_path, merged)
    assert with_earlier_options(merged, CHANGES, tmp_path) == merged
    assert with_earlier_options(merged, "", tmp_path) == merged

import dataclasses

import numpy as np
import pytest
from toy_run import make_toy_run

from t2t_phrase.config import UserError
from t2t_phrase.runs.load_ensemble import load_ensemble, load_models
from t2t_phrase.runs.record import RunRecord

IDS = {"inputs": np.array([[5, 7, 1]], "int32"), "targets": np.array([[9, 1]], "int32")}


@pytest.fixture(scope="module")
def transformer(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("transformer"))


@pytest.fixture(scope="module")
def lstm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lstm")
    return make_toy_run(folder, hparams_set="luong_local_p_general_feed_demo")


@pytest.fixture
def changed(lstm):
    """Return a function that changes the record of the LSTM for the time of a test."""
    before = RunRecord.load(lstm.output_dir)
    yield lambda **values: dataclasses.replace(before, **values).save(lstm.output_dir)
    before.save(lstm.output_dir)


def test_models_of_different_families_translate_together(transformer, lstm):
    paths = [transformer.output_dir, lstm.output_dir, transformer.output_dir / "best"]
    found = load_ensemble(paths, [1, 2, 1])
    assert [member.step for member in found.members] == [30, 30, 20]
    assert found.record == found.members[0].record
    members = [load_models([path]).model for path in paths]
    logits = np.stack([np.asarray(model(IDS), "float64") for model in members])
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    expected = np.einsum("m,mbtv->btv", [0.25, 0.5, 0.25], probabilities)
    np.testing.assert_allclose(np.exp(found.model(IDS)), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"vocab_size": 64},
            r"ckpt-30 has 64 entries in its source vocabulary, .*ckpt-30 \d+; the members of an en",
        ),
        (
            {"target_vocab_size": 40, "target_vocabulary": "x"},
            "has 40 entries in its target vocabulary",
        ),
        ({"vocabulary": "other"}, r"the source vocabulary of .* is not that of .*checksums differ"),
        ({"problem": "translate_toy_rev"}, "they translate in opposite directions"),
    ],
)
def test_what_does_not_fit_is_named(transformer, lstm, changed, values, message):
    changed(**values)
    with pytest.raises(UserError, match=message):
        load_ensemble([transformer.output_dir, lstm.output_dir])


def test_an_imported_vocabulary_without_a_checksum_is_not_compared(transformer, lstm, changed):
    changed(vocabulary="", problem="")
    assert len(load_ensemble([transformer.output_dir, lstm.output_dir]).members) == 2

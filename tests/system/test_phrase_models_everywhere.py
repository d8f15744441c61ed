"""Phrase models give the same results on several devices and as SavedModels."""

import pytest
from served_models import assert_a_saved_model_is_the_decoder
from small_phrase_models import GRANULARITIES, MIXED, REPRESENTATIONS, granularity_structures
from toy_run import make_toy_run
from two_devices import assert_two_devices_are_one

MODELS = {
    "mixed": MIXED["mixed"],
    "mixed_with_distances": MIXED["mixed_with_distances"],
    **REPRESENTATIONS,
    "granularities": GRANULARITIES,
}

SETUP = """
from small_phrase_models import LEVELS_OF_TREES, MIXED, PARSED, REPRESENTATIONS, small_set
LABELLED = LEVELS_OF_TREES.replace(tag_loss_weight=0.1)
models = {**MIXED, **REPRESENTATIONS, "parsed": PARSED, "granularities": LABELLED}
hparams = (models[name] if name in models else small_set(name)).replace(
    learning_rate_schedule="constant", learning_rate_constant=0.01
)
if hparams.features:
    # New ones in every row, so that rows and phrases cannot go different ways unseen.
    starts = random.random(batch[0].shape) < 0.5
    starts[:, 0] = True
    numbers = np.cumsum(starts, axis=1)
    if hparams.features[0].name == "levels":
        numbers = np.where(starts, 1, 3)
    features[hparams.features[0].name] = np.where(batch[0] > 0, numbers, 0).astype(np.int32)
if hparams.supervision:
    features["tags"] = np.where(batch[0] > 1, features["levels"], 0)
"""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("mixed", marks=pytest.mark.slow),
        pytest.param("parsed", marks=pytest.mark.slow),
        pytest.param("mixed_with_distances", marks=pytest.mark.slow),
        pytest.param("representation", marks=pytest.mark.slow),
        pytest.param("granularities", marks=pytest.mark.slow),
        *(pytest.param(name, marks=pytest.mark.slow) for name in granularity_structures()),
    ],
)
def test_two_devices_are_one_on_the_joined_batch(name):
    assert_two_devices_are_one(SETUP, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "mixed",
        "mixed_with_distances",
        "representation",
        "representation_and_attention",
        "granularities",
    ],
)
def test_a_saved_model_is_the_decoder(name, tmp_path):
    hparams = MODELS[name]
    some = {
        "phrase_transformer": "phrase_interleaved_queryk_1_2",
        "phrase_representation_transformer": "phrase_representation_max_attn_ta_demo",
        "multi_granularity_transformer": "mgsa_ngram_san_demo",
    }[hparams.model]
    toy = make_toy_run(tmp_path, hparams_set=some, **vars(hparams))
    assert_a_saved_model_is_the_decoder(toy, tmp_path / "served")

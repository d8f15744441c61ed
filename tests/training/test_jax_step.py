"""Updates by JAX are those by TensorFlow, to rounding, with every option of an update."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
from backend_process import needs_jax
from small_phrase_models import (
    GRANULARITIES,
    KINDS,
    LABELLED_LEVELS,
    MIXED,
    PARSED,
    REPRESENTATIONS,
    SMALL,
)
from updates import by_jax, by_tensorflow

from t2t_phrase.models.alignment_assisted import with_alignment_heads
from t2t_phrase.models.alignment_model import with_jumps
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.training_hparams import OPTIMIZERS, TrainingHParams

pytestmark = needs_jax
DROPPED = {"attention_dropout": 0.1, "relu_dropout": 0.1, "layer_prepostprocess_dropout": 0.2}
TINY = SMALL.replace(**DROPPED)
RNN = LuongHParams(hidden_size=8, num_hidden_layers=2, dropout=0.2)
FAMILIES: dict[str, TrainingHParams] = {
    "post_norm": SMALL.replace(norm="post"),
    "relative": SMALL.replace(pos="none", max_relative_position=3),
    **KINDS,
    "mixed": MIXED["mixed"],
    "mixed_with_distances": MIXED["mixed_with_distances"],
    **REPRESENTATIONS,
    "parsed": PARSED,
    "on_lstm_of_ngrams": GRANULARITIES.replace(num_encoder_layers=2),
    "labelled_levels": LABELLED_LEVELS,
    "aligned": with_alignment_heads(MIXED["mixed"]),
    "jumps": with_jumps(SMALL),
    "luong": RNN,
    "luong_feeding": RNN.replace(attention="local_p", attention_window=2, input_feeding=True),
}
# The options of an update; those that are made together do not hide each other.
OPTIONS: dict[str, dict[str, Any]] = {
    "parts_and_clipping": {"batch_size": 64, "effective_batch_size": 256, "clip_grad_norm": 0.5},
    "sentences": {"gradient_mean": "sentences"},
    "packed_sentences": {"packed_length": 24, "max_length": 24, "gradient_mean": "sentences"},
    "r_drop": {"r_drop": 2.0, "source_word_dropout": 0.2},
    "moving_averages": {"optimizer_options": ["use_ema=true", "ema_momentum=0.9"]},
    "fine_tuning": {
        "frozen_variables": ["encoder_layer_0/*"],
        "learning_rate_factors": ["decoder_*=0.1"],
        "optimizer": "adamw",
        "optimizer_options": ["weight_decay=0.1"],
    },
    "lora": {"lora_rank": 2},
    "float16": {"dtype_policy": "mixed_float16"},
    "bfloat16": {"dtype_policy": "mixed_bfloat16"},
}
LOOSE = {"float16": 2e-2, "bfloat16": 4e-2}


def assert_same(found: dict[str, Any], expected: dict[str, Any], rtol: float = 1e-5) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if name != "compilations":
            np.testing.assert_allclose(found[name], value, rtol=rtol, atol=20 * rtol, err_msg=name)


def compare(
    folder: pathlib.Path, hparams: TrainingHParams, *, rtol: float = 2e-5, **options: Any
) -> dict[str, Any]:
    """Check the updates; return JAX's."""
    given = {"hparams": hparams.to_dict(), "model": hparams.model, **options}
    found, expected = by_jax(folder, **given), by_tensorflow(**given)
    assert_same(found, expected, rtol)
    return found


@pytest.mark.slow
def test_updates_of_a_transformer_are_those_of_tensorflow(tmp_path: pathlib.Path) -> None:
    changed = {
        "batch_size": 64,
        "effective_batch_size": 128,
        "clip_grad_norm": 0.5,
        "max_length": 64,
        "r_drop": 1.0,
    }
    found = compare(tmp_path, TINY.replace(**changed))
    assert len(set(found["losses"])) == 3 and (found["norms"] > 0.5).all()
    # Batches of two lengths, and an evaluation.
    assert found["compilations"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family(name: str, tmp_path: pathlib.Path) -> None:
    compare(tmp_path, FAMILIES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_every_option(name: str, tmp_path: pathlib.Path) -> None:
    options = {"max_length": 64, **OPTIONS[name]}
    hparams = type(TINY).from_dict({**TINY.to_dict(), **options})
    found = compare(tmp_path, hparams, rtol=LOOSE.get(name, 2e-5))
    assert (found["scales"] == (2**15 if name == "float16" else 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer(optimizer: str, tmp_path: pathlib.Path) -> None:
    # Without dropout; a small rate, since some optimizers divide small gradients by each other.
    hparams = type(SMALL).from_dict({**SMALL.to_dict(), "optimizer": optimizer})
    compare(tmp_path, hparams, rate=1e-3, rtol=1e-4)


@pytest.mark.slow
def test_losses_of_two_hundred_updates(tmp_path: pathlib.Path) -> None:
    given = {"hparams": TINY.to_dict(), "model": TINY.model, "count": 200, "rate": 0.002}
    found, expected = by_jax(tmp_path, **given), by_tensorflow(**given)
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=1e-3)
    np.testing.assert_allclose(found["evaluated"], expected["evaluated"], rtol=1e-3)
    assert found["losses"][-4:].mean() < 0.95 * found["losses"][:4].mean()


@pytest.mark.slow
@pytest.mark.parametrize("packed", [0, 24])
def test_devices_share_what_one_computes_in_parts(packed: int, tmp_path: pathlib.Path) -> None:
    one = {"batch_size": 64, "effective_batch_size": 256, "max_length": 24, "packed_length": packed}
    given = {"model": TINY.model, "hparams": TINY.replace(**one).to_dict()}
    expected = by_jax(tmp_path, **given)
    found = by_jax(tmp_path, **given, replicas=2, flags="--xla_force_host_platform_device_count=2")
    assert_same(found, expected)

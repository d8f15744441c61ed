"""Tiny models learn to copy digits by the paper's optimizer."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.models.luong import Luong
from t2t_phrase.models.luong_hparams import LuongHParams

EOS, FIRST = 1, 3
VOCAB = FIRST + 12
ROWS, LONGEST = 64, 8


def make_batch(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return digits and EOS as sources and as targets, padded with 0."""
    ids = rng.integers(FIRST, VOCAB, size=(ROWS, LONGEST + 1)).astype("int32")
    lengths = rng.integers(3, LONGEST + 1, size=(ROWS, 1))
    place = np.arange(LONGEST + 1)
    ids = np.where(place < lengths, ids, np.where(place == lengths, EOS, 0)).astype("int32")
    return {"inputs": ids, "targets": ids}


@pytest.mark.slow
@pytest.mark.parametrize(
    "attention",
    [
        {"attention": "global", "attention_score": "dot"},
        {"attention": "local_p", "attention_score": "general", "attention_window": 2},
    ],
)
def test_digits_are_copied(attention: dict) -> None:
    keras.utils.set_random_seed(1)
    hparams = LuongHParams(
        hidden_size=64,
        num_hidden_layers=1,
        encoder_reads="backwards",
        input_feeding=True,
        label_smoothing=0.0,
        **attention,
    )
    model = Luong.from_hparams(hparams, vocab_size=VOCAB)
    optimizer = keras.optimizers.SGD(1.0, global_clipnorm=5.0)
    optimizer.build(model.trainable_variables)

    @tf.function
    def update(features: dict[str, tf.Tensor]) -> None:
        with tf.GradientTape() as tape:
            loss = model.batch_loss(features, training=True).objective / ROWS
        gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
        optimizer.apply(gradients, model.trainable_variables)

    @tf.function
    def judge(features: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
        return model(features), model.attention_weights(features)["cross"][0]

    rng, reached, steps = np.random.default_rng(5), 0.0, 0
    unseen = make_batch(np.random.default_rng(99))
    real = unseen["targets"] > 0
    while reached < 0.98 and steps < 3000:
        for _ in range(200):
            update(make_batch(rng))
        steps += 200
        logits, weights = judge(unseen)
        reached = float((np.argmax(logits, axis=-1) == unseen["targets"])[real].mean())
    assert reached >= 0.98, f"{reached:.3f} of unseen digits right after {steps} steps"
    if attention["attention"] != "global":
        # A window holds most of so short a sentence.
        return
    # The state of a position has read its neighbours; so the mass may lie one beside.
    strongest = np.argmax(weights[:, 0], axis=-1)
    near = np.abs(strongest - np.arange(LONGEST + 1)) <= 1
    assert near[real].mean() > 0.9

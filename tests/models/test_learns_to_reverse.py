"""A tiny Transformer learns to write digits backwards, and to copy them, whichever is asked."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams

EOS, COPY, REVERSE, FIRST_DIGIT = 1, 2, 3, 4
VOCAB = FIRST_DIGIT + 10
SHORTEST, LONGEST = 2, 5


def make_batch(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return sources, "what to do, digits, EOS", and targets, "digits, EOS"; padded with 0."""
    inputs = np.zeros((rows, LONGEST + 2), "int32")
    targets = np.zeros((rows, LONGEST + 1), "int32")
    for source, target in zip(inputs, targets, strict=True):
        digits = rng.integers(FIRST_DIGIT, VOCAB, size=rng.integers(SHORTEST, LONGEST + 1))
        task = rng.choice([COPY, REVERSE])
        source[: len(digits) + 2] = [task, *digits, EOS]
        target[: len(digits) + 1] = [*(digits if task == COPY else digits[::-1]), EOS]
    return inputs, targets


@pytest.mark.slow
def test_digits_are_copied_and_reversed() -> None:
    keras.utils.set_random_seed(1)
    hparams = TransformerHParams(
        hidden_size=64,
        filter_size=128,
        num_heads=4,
        num_hidden_layers=2,
        attention_dropout=0.0,
        relu_dropout=0.0,
        layer_prepostprocess_dropout=0.05,
    )
    model = Transformer.from_hparams(hparams, vocab_size=VOCAB)
    optimizer = keras.optimizers.Adam(2e-3, beta_2=0.98)
    optimizer.build(model.trainable_variables)

    @tf.function
    def update(inputs: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            found = model.batch_loss({"inputs": inputs, "targets": targets}, training=True)
            loss = found.objective / found.means["loss"].count
        gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    decode = compiled(
        lambda inputs: (
            translate_ids(model, {"inputs": inputs}, DecodeHParams(beam_size=4, extra_length=2)).ids
        )
    )
    unseen_inputs, unseen_targets = make_batch(np.random.default_rng(99), 256)

    def accuracy() -> float:
        outputs = np.asarray(decode(unseen_inputs))[:, 0]
        expected = np.pad(unseen_targets, [(0, 0), (0, outputs.shape[1] - LONGEST - 1)])
        return float((outputs == expected).all(axis=1).mean())

    rng, reached, steps = np.random.default_rng(5), 0.0, 0
    while reached < 0.98 and steps < 1500:
        for _ in range(150):
            update(*make_batch(rng, 64))
        steps += 150
        reached = accuracy()
    assert reached >= 0.98, f"{reached:.3f} of unseen sequences right after {steps} steps"

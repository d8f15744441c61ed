"""A tiny model writes the largest digit of every phrase, which only the feature tells apart."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.phrase_representation import (
    PhraseRepresentationHParams,
    PhraseRepresentationTransformer,
)

EOS, FIRST_DIGIT = 1, 2
VOCAB = FIRST_DIGIT + 10
PHRASES = 3


def make_batch(rng: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
    """Return sources of 3 phrases, each 1 to 3 digits, then EOS; targets "largest digits, EOS"."""
    width = 3 * PHRASES + 1
    batch = {name: np.zeros((rows, width), "int32") for name in ("inputs", "phrases")}
    batch["targets"] = np.zeros((rows, PHRASES + 1), "int32")
    for row in range(rows):
        phrases = [rng.integers(FIRST_DIGIT, VOCAB, rng.integers(1, 4)) for _ in range(PHRASES)]
        source = [*np.concatenate(phrases), EOS]
        numbers = np.repeat(np.arange(PHRASES) + 1, [len(phrase) for phrase in phrases])
        batch["inputs"][row, : len(source)] = source
        batch["phrases"][row, : len(source)] = [*numbers, PHRASES + 1]
        batch["targets"][row] = [*(phrase.max() for phrase in phrases), EOS]
    return batch


@pytest.mark.slow
def test_the_largest_digit_of_every_phrase() -> None:
    keras.utils.set_random_seed(1)
    hparams = PhraseRepresentationHParams(
        phrases="parsed",
        hidden_size=64,
        filter_size=64,
        num_heads=4,
        num_hidden_layers=1,
        attention_dropout=0.0,
        relu_dropout=0.0,
        layer_prepostprocess_dropout=0.0,
    )
    model = PhraseRepresentationTransformer.from_hparams(hparams, vocab_size=VOCAB)
    optimizer = keras.optimizers.Adam(3e-3, beta_2=0.98)
    optimizer.build(model.trainable_variables)

    @tf.function
    def update(features: dict[str, tf.Tensor]) -> None:
        with tf.GradientTape() as tape:
            found = model.batch_loss(features, training=True)
            loss = found.objective / found.means["loss"].count
        gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
        optimizer.apply(gradients, model.trainable_variables)

    options = DecodeHParams(beam_size=2, max_length=PHRASES + 1)
    decode = compiled(lambda features: translate_ids(model, features, options).ids)
    unseen = make_batch(np.random.default_rng(99), 256)
    targets = unseen.pop("targets")

    rng, reached, steps = np.random.default_rng(5), 0.0, 0
    while reached < 0.98 and steps < 1500:
        for _ in range(100):
            update(make_batch(rng, 64))
        steps += 100
        reached = float((np.asarray(decode(unseen))[:, 0] == targets).all(axis=1).mean())
    assert reached >= 0.98, f"{reached:.3f} of unseen sequences right after {steps} steps"

"""Training on rows of several pairs, from data to a resumed run."""

import numpy as np
import pytest
from two_devices import assert_two_devices_are_one

import t2t_phrase

TINY = (
    "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,batch_size=64,max_length=32,"
    "learning_rate_schedule=constant,learning_rate_constant=0.01"
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    lines = ["the old house is red"[: 3 + number % 18] for number in range(40)]
    for name in ("train.src", "train.tgt", "dev.src", "dev.tgt"):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    t2t_phrase.generate_data(
        "translate_text",
        data_dir=str(folder / "data"),
        tmp_dir=str(folder),
        vocab_size=300,
        log=str,
    )
    return folder


def train(corpus, run, steps, more="packed_length=32"):
    lines = []
    model = t2t_phrase.train(
        "translate_text",
        "transformer_tiny",
        data_dir=str(corpus / "data"),
        output_dir=str(run),
        hparams=f"{TINY},{more}",
        loop=t2t_phrase.LoopOptions(train_steps=steps, local_eval_frequency=5),
        log=lines.append,
    )
    return [np.asarray(v) for v in model.model.trainable_variables], lines


@pytest.mark.slow
def test_a_run_longer_than_an_epoch_is_traced_once(corpus, tmp_path):
    _, lines = train(corpus, tmp_path / "run", 10)
    assert any(line.startswith("epoch 0: ") for line in lines)
    assert sum("traced the train step" in line for line in lines) == 1


@pytest.mark.slow
def test_a_resumed_run_equals_an_uninterrupted_one(corpus, tmp_path):
    more = "packed_length=32,effective_batch_size=128"
    whole, lines = train(corpus, tmp_path / "whole", 10, more)
    assert any("parts of batch_size=64" in line for line in lines)
    train(corpus, tmp_path / "part", 5, more)
    resumed, _ = train(corpus, tmp_path / "part", 10, more)
    for a, b in zip(whole, resumed, strict=True):
        np.testing.assert_array_equal(a, b)
    usual, _ = train(corpus, tmp_path / "usual", 10, "effective_batch_size=128")
    assert any((a != b).any() for a, b in zip(whole, usual, strict=True))


# Rows of one, two and three pairs, and one of padding.
SETUP = """
hparams = registry.hparams["transformer_tiny"]().override(
    "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,learning_rate_constant=0.1,"
    "learning_rate_schedule=constant,packed_length=256,attention_dropout=0,relu_dropout=0,"
    "layer_prepostprocess_dropout=0,gradient_mean=" + name
)
numbers = np.array([[1] * 9, [1, 1, *[0] * 7], [1] * 3 + [2] * 6, [0] * 9], np.int32)
features["source_pairs"] = numbers
features["target_pairs"] = np.where(features["targets"] > 0, numbers, 0)
features["inputs"][1, 2:] = 0
"""


@pytest.mark.parametrize("name", ["tokens", pytest.param("sentences", marks=pytest.mark.slow)])
def test_two_devices_are_one(name):
    assert_two_devices_are_one(SETUP, name)

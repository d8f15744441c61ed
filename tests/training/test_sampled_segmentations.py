"""Training on random segmentations, from data to a resumed run."""

import keras
import numpy as np
import pytest

import t2t_phrase
from t2t_phrase.config import UserError

TINY = (
    "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,batch_size=128,max_length=32,"
    "learning_rate_schedule=constant,length_bucket_step=4.0"
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sampled")
    lines = [f"the old house number {number % 7} is red" for number in range(12)]
    for name in ("train.src", "train.tgt", "dev.src", "dev.tgt"):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    t2t_phrase.generate_data(
        "translate_text",
        data_dir=str(folder / "data"),
        tmp_dir=str(folder),
        vocab_size=300,
        sampled_segmentations=2,
        sampling_alpha=0.5,
        log=str,
    )
    return folder


def train(corpus, run, steps, segmentations):
    lines = []
    model = t2t_phrase.train(
        "translate_text",
        "transformer_tiny",
        data_dir=str(corpus / "data"),
        output_dir=str(run),
        hparams=f"{TINY},sampled_segmentations={segmentations}",
        loop=t2t_phrase.LoopOptions(train_steps=steps, local_eval_frequency=3),
        log=lines.append,
    )
    return [np.asarray(v) for v in model.model.trainable_variables], lines


@pytest.mark.slow
def test_a_resumed_run_equals_an_uninterrupted_one(corpus, tmp_path):
    keras.utils.set_random_seed(1)
    whole, lines = train(corpus, tmp_path / "whole", 6, 2)
    # The run is longer than an epoch, so that both segmentations are read.
    assert any(line.startswith("epoch 0") for line in lines)
    train(corpus, tmp_path / "part", 3, 2)
    resumed, _ = train(corpus, tmp_path / "part", 6, 2)
    for a, b in zip(whole, resumed, strict=True):
        np.testing.assert_array_equal(a, b)
    usual, _ = train(corpus, tmp_path / "usual", 6, 0)
    assert any((a != b).any() for a, b in zip(whole, usual, strict=True))


def test_data_with_fewer_segmentations_are_refused(corpus, tmp_path):
    with pytest.raises(UserError, match="sampled_segmentations=3: the data of translate_text"):
        train(corpus, tmp_path / "run", 1, 3)

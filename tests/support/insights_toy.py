"""A toy run with other models, for what looks into them."""

import dataclasses

import keras
import numpy as np

from t2t_phrase import registry
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.record import RunRecord

PAIRS = [
    ("the house is old", "a cat sleeps"),
    ("", "x"),
    ("dogs run", "dogs run far away"),
    ("a", "a"),
]


def with_model(plain, output_dir, hparams_set, **changes):
    """Return the run with random weights of another hparams set at its sizes."""
    record = RunRecord.load(plain.output_dir)
    sizes = {
        name: record.hparams[name] for name in ("num_hidden_layers", "hidden_size", "num_heads")
    }
    hparams = registry.hparams[hparams_set]().replace(**sizes, filter_size=16, **changes)
    # What the model translates to decides what is drawn.
    keras.utils.set_random_seed(1)
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=record.vocab_size)
    rng = np.random.default_rng(0)
    for variable in model.trainable_variables:
        variable.assign(variable + 0.2 * rng.normal(size=variable.shape))
    checkpoints.write(output_dir / "model.ckpt-7", model=checkpoints.model_variables(model), step=7)
    dataclasses.replace(
        record,
        model=hparams.model,
        hparams_set=hparams_set,
        overrides="",
        hparams=hparams.to_dict(),
    ).save(output_dir)
    return dataclasses.replace(plain, output_dir=output_dir, model=model)


def with_phrases(plain, folder):
    """Return the run with a model whose cross-attention is between phrases."""
    name = "phrase_interleaved_convkv_1_2_demo"
    return with_model(plain, folder, name, encoder_attention="none", decoder_attention="none")


def with_levels(plain, folder):
    """Return the run with a model whose heads attend to the levels of trees in its first layer."""
    changes = {"num_encoder_layers": 2, "granularities": ("tokens", "level_1")}
    return with_model(plain, folder, "mgsa_syntax_demo", **changes)


def flags_of_files(folder):
    """Write `PAIRS` into a folder and return the flags that name the files."""
    names = [folder / "source.en", folder / "references.de"]
    for name, lines in zip(names, zip(*PAIRS, strict=True), strict=True):
        name.write_text("".join(f"{line}\n" for line in lines))
    return [f"--insights_from_file={names[0]}", f"--references_file={names[1]}"]

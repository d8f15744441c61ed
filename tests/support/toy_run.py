"""A training run of a tiny random model, and a way to call commands inside the test's process."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import random
import types
from typing import Any

import numpy as np
from absl import flags

from t2t_phrase import registry
from t2t_phrase.config import parse_assignments
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.text.encoders import make_encoder
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.vocabularies import Vocabularies
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

USER_MODULE = '''
from t2t_phrase import registry
from t2t_phrase.data.problem import Problem
from t2t_phrase.text.encoders import make_encoder
from t2t_phrase.text.vocabularies import Vocabularies


@registry.problems.register
class TranslateToy(Problem):
    """A vocabulary and nothing else."""

    languages = ("en", "de")
    vocab_size = 300

    def corpus(self, tmp_dir):
        raise NotImplementedError

    def vocabularies(self, data_dir):
        with open(f"{data_dir}/toy.model", "rb") as file:
            encoder = make_encoder(file.read())
        return Vocabularies(encoder, encoder)
'''
OVERRIDES = (
    "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,max_length=40,"
    "shared_embedding_and_softmax_weights=false"
)
SENTENCE = "the house is old and a cat sleeps in it while dogs run far away from here"
WORDS = SENTENCE.split()


@dataclasses.dataclass(frozen=True)
class ToyRun:
    """Where things are, and what is in them."""

    output_dir: pathlib.Path
    data_dir: pathlib.Path
    user_dir: pathlib.Path
    encoder: SubwordEncoder | WordEncoder
    model: Any
    """Its weights are those of the latest checkpoint; those in `best` differ."""
    lines: list[str]

    @property
    def vocabularies(self) -> Vocabularies:
        """One vocabulary for both sides."""
        return Vocabularies(self.encoder, self.encoder)

    @property
    def flags(self) -> list[str]:
        """The flags that every command needs."""
        return [
            f"--output_dir={self.output_dir}",
            f"--data_dir={self.data_dir}",
            f"--t2t_usr_dir={self.user_dir}",
        ]


def make_toy_run(
    folder: pathlib.Path,
    *,
    hparams_set: str = "transformer_tiny",
    words: int = 0,
    **changes: Any,
) -> ToyRun:
    """Write a run with checkpoints of steps 20 (in `best`) and 30.

    Args:
        folder: an empty one.
        hparams_set: a registered one, made smaller.
        words: size of a vocabulary of words; 0: it is one of subwords.
        **changes: further hyperparameters.
    """
    output_dir, data_dir, user_dir = (folder / name for name in ("run", "data", "toy_user"))
    for place in (output_dir / "best", data_dir, user_dir):
        place.mkdir(parents=True)
    (user_dir / "__init__.py").write_text(USER_MODULE)
    draw = random.Random(0)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(1, 12))) for _ in range(200)]
    if words:
        model_bytes = train_words(lines, vocab_size=words)
    else:
        model_bytes = train_subwords(lines, vocab_size=300)
    (data_dir / "toy.model").write_bytes(model_bytes)
    encoder = make_encoder(model_bytes)

    registry.discover()
    # At once, because some sets and sizes do not fit each other.
    hparams = registry.hparams[hparams_set]()
    sizes = {
        name: size for name, size in parse_assignments(OVERRIDES).items() if name in vars(hparams)
    }
    hparams = hparams.replace(**{**sizes, **changes})
    vocab_size = -(-encoder.vocab_size // 8) * 8
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=vocab_size)
    RunRecord(
        problem="translate_toy",
        model=hparams.model,
        hparams_set=hparams_set,
        overrides=OVERRIDES,
        hparams=hparams.to_dict(),
        vocab_size=vocab_size,
        vocabulary=hashlib.sha256(model_bytes).hexdigest(),
        random_seed=1,
    ).save(output_dir)
    for step, place in ((20, output_dir / "best"), (30, output_dir)):
        weights = np.random.default_rng(step)
        for variable in model.trainable_variables:
            # Large embeddings: small ones give every sentence the same translation.
            scale = 1.0 if variable.name == "embeddings" else 0.2
            noise = scale * weights.normal(size=variable.shape)
            variable.assign((variable.name == "gamma") + noise)
        checkpoints.write(
            place / f"model.ckpt-{step}", model=checkpoints.model_variables(model), step=step
        )
    return ToyRun(output_dir, data_dir, user_dir, encoder, model, lines)


def call(module: types.ModuleType, *arguments: str) -> None:
    """Run a command's `main` with flags, which are forgotten afterwards."""
    known = set(flags.FLAGS)
    module.define_flags()
    try:
        flags.FLAGS(["command", *arguments])
        module.main(["command"])
    finally:
        for name in set(flags.FLAGS) - known:
            delattr(flags.FLAGS, name)

"""A training small enough for tests: a model of one layer, random sentences, no vocabulary.

As a script it runs such a training in a process of its own:

    python tiny_training.py OPTIONS_AS_JSON
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from t2t_phrase.api.dev_bleu import DevBleu
from t2t_phrase.config import UserError
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.pipeline import TrainingPipeline, evaluation_batches
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.shards.ragged import Ragged
from t2t_phrase.data.shards.shard import Shard, write_arrays
from t2t_phrase.features import IDS
from t2t_phrase.models.base import Loss, Mean
from t2t_phrase.runs.checkpoints import complete, model_variables
from t2t_phrase.runs.directory import RunDirectory
from t2t_phrase.training.cluster import Cluster, read_cluster
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.early_stopping import EarlyStopping
from t2t_phrase.training.evaluate import Evaluator
from t2t_phrase.training.loop import Trainer
from t2t_phrase.training.loop_options import LoopOptions
from t2t_phrase.training.peers import Peers
from t2t_phrase.training.schedules import FactorSchedule
from t2t_phrase.training.step import Stepper
from t2t_phrase.training.summaries import Summaries

VOCAB_SIZE = 32
BUCKETS = Buckets((8, 12), (6, 4))


class TinyModel(keras.Model):
    """Predicts each target from the one before it and the mean of the source.

    With `auxiliary`, the objective adds a tenth of the mean square of the logits, and the model
    reports that as "aux".
    """

    def __init__(
        self, dropout: float = 0.0, dtype: str = "float32", auxiliary: bool = False
    ) -> None:
        super().__init__(name="tiny", dtype=dtype)
        self.auxiliary = auxiliary
        self.embedding = keras.layers.Embedding(VOCAB_SIZE, 8, name="embedding", dtype=dtype)
        self.drop = keras.layers.Dropout(dropout, name="dropout", dtype=dtype)
        self.softmax = keras.layers.Dense(VOCAB_SIZE, name="softmax", dtype=dtype)
        self.embedding.build()
        self.softmax.build((None, 8))
        self.built = True

    def batch_loss(self, features: dict[str, Any], training: bool = False) -> Loss:
        """As `EncoderDecoder.batch_loss`."""
        real = ops.cast(ops.not_equal(features["inputs"], 0), self.compute_dtype)[..., None]
        count = ops.maximum(ops.sum(real, axis=1, keepdims=True), 1)
        source = ops.sum(self.embedding(features["inputs"]) * real, axis=1, keepdims=True) / count
        x = ops.pad(self.embedding(features["targets"])[:, :-1], [(0, 0), (1, 0), (0, 0)])
        logits = self.softmax(self.drop(x + source, training=training))
        targets = features["targets"]
        real = ops.cast(ops.not_equal(targets, 0), "float32")
        nll = keras.losses.sparse_categorical_crossentropy(
            targets, ops.cast(logits, "float32"), from_logits=True
        )
        correct = ops.cast(ops.equal(ops.argmax(logits, axis=-1), targets), "float32")
        tokens = ops.sum(real)
        objective = ops.sum(nll * real)
        means = {
            "loss": Mean(objective, tokens),
            "nll": Mean(objective, tokens),
            "accuracy": Mean(ops.sum(correct * real), tokens),
        }
        if self.auxiliary:
            square = ops.mean(ops.square(ops.cast(logits, "float32")), axis=-1)
            means["aux"] = Mean(ops.sum(square * real), tokens)
            objective = objective + 0.1 * means["aux"].total
        return Loss(objective, means)


def random_pairs(lengths: Sequence[int], seed: int = 0) -> list[tuple[list[int], list[int]]]:
    """Return a pair for each length, its longer side that long, EOS included."""
    random = np.random.default_rng(seed)
    pairs = []
    for length in lengths:
        sides = [
            [*random.integers(3, VOCAB_SIZE, n - 1).tolist(), 1]
            for n in (length, int(random.integers(1, length + 1)))
        ]
        pairs.append((sides[0], sides[1]) if random.random() < 0.5 else (sides[1], sides[0]))
    return pairs


def write_shards(
    folder: pathlib.Path, pairs: Sequence[tuple[list[int], list[int]]], *, shards: int = 3
) -> tuple[str, ...]:
    """Write record shards, the pairs dealt out in turn; returns their paths."""
    files = []
    for shard in range(shards):
        files.append(str(folder / f"toy-{shard:05d}-of-{shards:05d}"))
        sides = {
            "source": [source for source, _ in pairs[shard::shards]],
            "target": [target for _, target in pairs[shard::shards]],
        }
        rows = {side: ragged(lists) for side, lists in sides.items()}
        write_arrays(
            files[-1],
            Shard(
                {side: found.splits for side, found in rows.items()},
                {IDS[side]: found.values for side, found in rows.items()},
                {IDS[side]: side for side in rows},
            ),
        )
    return tuple(files)


def ragged(lists: Sequence[Sequence[int]]) -> Ragged:
    """Return rows of integers."""
    values = [number for numbers in lists for number in numbers]
    return Ragged.of(np.array(values, np.int32), np.array([len(row) for row in lists], np.int64))


def constant_rate(rate: float = 0.01) -> FactorSchedule:
    """Return a learning rate that never changes."""
    return FactorSchedule(
        "constant", constant=rate, warmup_steps=1, decay_steps=1, hidden_size=8, train_steps=1
    )


def make_stepper(
    *,
    dropout: float = 0.0,
    seed: int = 3,
    strategy: tf.distribute.Strategy | None = None,
    rate: float = 0.01,
    dtype: str = "float32",
    auxiliary: bool = False,
    make_model: Callable[..., keras.Model] = TinyModel,
    optimizer: Callable[..., keras.optimizers.Optimizer] = keras.optimizers.Adam,
    **options: Any,
) -> Stepper:
    """Return a stepper of a new tiny model; `options` are the stepper's."""
    strategy = strategy or tf.distribute.get_strategy()
    keras.utils.set_random_seed(seed)
    with strategy.scope():
        model = make_model(dropout, dtype, auxiliary)
        made = optimizer(constant_rate(rate))
        made.build(model.trainable_variables)
    return Stepper(strategy, model, made, seed=seed, **options)


def make_trainer(
    folder: pathlib.Path | str,
    files: Sequence[str],
    stepper: Stepper,
    *,
    keep: int = 5,
    evaluate: bool = False,
    bleu: Any = None,
    log: Any = lambda text: None,
    peers: Peers | None = None,
    **options: Any,
) -> Trainer:
    """Return a trainer whose folder, shards and model are given; options are the loop's."""
    loop = LoopOptions(**{"local_eval_frequency": 4, "log_step_count_steps": 2, **options})
    reader = RecordReader(tuple(files))
    buckets = Buckets((8, 12), (12, 12)) if stepper.shards > 2 else BUCKETS
    evaluator = None
    if evaluate:
        evaluator = Evaluator(
            stepper, evaluation_batches(reader, buckets, stepper.share()), bleu=bleu
        )
    if stepper.agreement.is_chief:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    return Trainer(
        stepper,
        TrainingPipeline(reader, buckets, stepper.seed, share=stepper.share(stepper.parts)),
        RunDirectory(
            folder,
            model=stepper.model,
            optimizer=stepper.optimizer,
            keep=keep,
            period=loop.local_eval_frequency,
            writes=stepper.agreement.is_chief,
            log=log,
        ),
        constant_rate(),
        loop,
        evaluator,
        Summaries(folder, writes=stepper.agreement.is_chief, log=log),
        log=log,
        peers=peers or Peers(Cluster()),
    )


def steps_in(folder: pathlib.Path) -> list[int]:
    """Return the steps of the checkpoints in a folder."""
    return [int(path.rpartition("-")[2]) for path in complete(folder)]


def weights(stepper: Stepper) -> dict[str, np.ndarray]:
    """Return copies of the model's weights."""
    return {
        name: np.array(keras.ops.convert_to_numpy(variable))
        for name, variable in model_variables(stepper.model).items()
    }


def main(options: dict[str, Any]) -> None:
    """Train as the options say; every line is printed at once.

    With "bleu", a list, the chief alone has these scores of translations, one for each evaluation.
    With "killed_after", the process kills itself once it has printed a line with this text.
    """

    def log(text: str) -> None:
        _say(text)
        if options.get("killed_after", "\n") in text:
            os.kill(os.getpid(), signal.SIGKILL)

    timeout = options.get("timeout", 60)
    with Peers(read_cluster(), timeout=timeout, log=_say) as peers:
        peers.join(options.get("facts", {}))
        strategy = make_strategy(patience=timeout)
        stepper = make_stepper(
            dropout=options["dropout"], strategy=strategy, parts=options.get("parts", 1)
        )
        scores = iter(options.get("bleu", ()))
        translates = "bleu" in options and peers.cluster.is_chief
        trainer = make_trainer(
            options["folder"],
            options["files"],
            stepper,
            train_steps=options["train_steps"],
            local_eval_frequency=options.get("local_eval_frequency", 4),
            evaluate="bleu" in options,
            bleu=(lambda: DevBleu("BLEU", next(scores), "")) if translates else None,
            early_stopping=EarlyStopping(**options.get("early_stopping", {})),
            log=log,
            peers=peers,
        )
        outcome = trainer.train()
    _say(json.dumps(outcome._asdict()))


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)

"""Make the model, the optimizer and the updates that hyperparameters describe, on any engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import keras

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.training.distribution import has_gpu, on_jax, stepper_class
from t2t_phrase.training.fine_tuning import freeze, scale_learning_rates
from t2t_phrase.training.initial_draws import tensorflow_draws
from t2t_phrase.training.loss_scaling import with_loss_scale
from t2t_phrase.training.optimizers import make_optimizer
from t2t_phrase.training.stepper import BaseStepper
from t2t_phrase.training_hparams import TrainingHParams


class Built(NamedTuple):
    """A model with random weights and its optimizer."""

    model: Any
    optimizer: keras.optimizers.Optimizer
    frozen: int
    """The number of variables that keep their values."""


def build(
    hparams: TrainingHParams,
    *,
    name: str,
    vocab_size: int,
    target_vocab_size: int | None,
    schedule: Callable[[Any], Any],
    seed: int,
    strategy: Any,
) -> Built:
    """Return a model and its optimizer; the initial weights are the same on every engine.

    Args:
        hparams: hyperparameters of the model and the optimizer.
        name: the registered name of the model.
        vocab_size: entries of the source vocabulary.
        target_vocab_size: entries of the target vocabulary; None: both sides share one.
        schedule: the learning rate.
        seed: seed of the weights.
        strategy: the devices, from `make_strategy`.

    Raises:
        HParamsError: the hyperparameters do not fit the model or the optimizer.
    """
    # Initializers draw from Python's process-wide generator.
    keras.utils.set_random_seed(seed)
    with strategy.scope(), tensorflow_draws():
        model = registry.models[name].from_hparams(
            hparams, vocab_size=vocab_size, target_vocab_size=target_vocab_size
        )
        frozen = freeze(model, hparams.frozen_variables)
        optimizer = make_optimizer(hparams, schedule)
        optimizer.build(model.trainable_variables)
        scale_learning_rates(optimizer, model, hparams.learning_rate_factors)
        if hparams.dtype_policy == "mixed_float16":
            optimizer = with_loss_scale(optimizer)
            optimizer.build(model.trainable_variables)
    return Built(model, optimizer, frozen)


def make_stepper(
    built: Built,
    hparams: TrainingHParams,
    *,
    seed: int,
    strategy: Any,
    parts: int | None = None,
    xla: bool | None = None,
    log: Callable[[str], None] = lambda text: None,
) -> BaseStepper:
    """Return the stepper of a model.

    Args:
        built: the model and its optimizer.
        hparams: hyperparameters of the updates.
        seed: seed of dropout.
        strategy: the devices that the model was built on.
        parts: number of parts of each device's share of a batch; None: as the hyperparameters say.
        xla: whether TensorFlow compiles with XLA; None: on GPUs only. JAX always does.
        log: called with a line for each compilation.

    Raises:
        UserError: JAX is asked to do without XLA.
    """
    return stepper_class()(
        strategy,
        built.model,
        built.optimizer,
        seed=seed,
        features=hparams.training_features,
        clip_grad_norm=hparams.clip_grad_norm,
        gradient_mean=hparams.gradient_mean,
        parts=hparams.parts(strategy.num_replicas_in_sync) if parts is None else parts,
        packed=hparams.packed_length > 0,
        xla=_compiles(xla),
        log=log,
    )


def _compiles(xla: bool | None) -> bool:
    if not on_jax():
        return has_gpu() if xla is None else xla
    if xla is False:
        raise UserError(
            "--noxla_compile: JAX compiles everything by XLA; leave the flag out, or set "
            "KERAS_BACKEND=tensorflow"
        )
    return True

"""A probe of one task in either setting: on states that stay, or with an encoder from scratch."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import keras

from t2t_phrase import registry
from t2t_phrase.config import HParamsError, UserError, parse_assignments
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.probing.classes import TaskData
from t2t_phrase.probing.corpus import SPLITS, Split
from t2t_phrase.probing.examples import Examples, SentenceExamples, VectorExamples
from t2t_phrase.probing.hparams import ProbeHParams
from t2t_phrase.probing.inputs import EncoderInputs
from t2t_phrase.probing.networks import Classifier, EncoderClassifier
from t2t_phrase.probing.states import States
from t2t_phrase.probing.training import Fitted, Recipe, fit
from t2t_phrase.training_hparams import TrainingHParams


def probe_states(
    data: TaskData,
    states: Mapping[Split, States],
    hparams: ProbeHParams,
    *,
    seed: int,
    log: Callable[[str], object],
) -> Fitted:
    """Train a classifier on states and measure it.

    Args:
        data: the task.
        states: with words, if the task is about words.
        hparams: the classifier and its training.
        seed: of its weights, its dropout and the order of the batches.
        log: told about progress.
    """
    examples: dict[Split, Examples] = {}
    for split in SPLITS:
        own = states[split]
        words = own.words if data.task.unit == "word" else None
        vectors = [vector[None] for vector in own.sentences] if words is None else words
        examples[split] = VectorExamples(vectors, data.labels[split])
    keras.utils.set_random_seed(seed)
    network = Classifier(len(data.classes), hparams)
    return fit(network, examples, _recipe(hparams, hparams.learning_rate), seed=seed, log=log)


def probe_from_scratch(
    data: TaskData,
    encoder: TrainingHParams,
    inputs: Mapping[Split, EncoderInputs],
    hparams: ProbeHParams,
    *,
    vocab_size: int,
    seed: int,
    log: Callable[[str], object],
) -> Fitted:
    """Train the encoder of a new model together with a classifier, and measure both.

    Args:
        data: the task.
        encoder: of the model.
        inputs: the sentences.
        hparams: the classifier and the training.
        vocab_size: entries of the source vocabulary.
        seed: of all weights, of dropout and of the order of the batches.
        log: told about progress.
    """
    of_words = data.task.unit == "word"
    examples: dict[Split, Examples] = {
        split: SentenceExamples(inputs[split], data.labels[split], of_words) for split in SPLITS
    }
    keras.utils.set_random_seed(seed)
    model: EncoderDecoder = registry.models[encoder.model].from_hparams(
        encoder, vocab_size=vocab_size
    )
    network = EncoderClassifier(model, of_words, len(data.classes), hparams)
    recipe = _recipe(hparams, hparams.scratch_learning_rate, hparams.scratch_warmup_steps)
    return fit(network, examples, recipe, seed=seed, log=log)


def scratch_hparams(name: str, overrides: str, layers: int) -> TrainingHParams:
    """Return an hparams set with an encoder of some layers; its decoder, unused, has one.

    Args:
        name: of the set.
        overrides: changes to it; the numbers of layers that they give count.
        layers: of the encoder.

    Raises:
        UserError: the set is unknown, or the changes do not fit it.
    """
    hparams: TrainingHParams = registry.hparams[name]().override(overrides)
    given = parse_assignments(overrides)
    wanted = {"num_encoder_layers": layers, "num_decoder_layers": 1}
    changes = {
        field: number
        for field, number in wanted.items()
        if hasattr(hparams, field) and field not in given
    }
    try:
        return hparams.replace(**changes)
    except HParamsError as error:
        raise HParamsError(f"{name} with an encoder of {layers} layers: {error}") from error


def check_model(name: str) -> None:
    """Check that a model provides the states of its encoder.

    Args:
        name: registered, of the model.

    Raises:
        UserError: the model's encoder states are not available.
    """
    if registry.models[name].source_states is EncoderDecoder.source_states:
        raise UserError(
            f"model {name} has no method source_states, which returns a vector for each source "
            "token to be probed; define it, see t2t_phrase/models/base.py"
        )


def _recipe(hparams: ProbeHParams, rate: float, warmup: int = 0) -> Recipe:
    return Recipe(rate, warmup, hparams.batch_size, hparams.max_epochs, hparams.patience)

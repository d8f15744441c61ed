"""A probe of one task in either setting: on frozen states, or with an encoder from scratch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import keras

from t2t_phrase import registry
from t2t_phrase.config import HParamsError, UserError, clipped, parse_assignments
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.probing.classes import TaskData
from t2t_phrase.probing.corpus import SPLITS, Split
from t2t_phrase.probing.examples import Examples, SentenceExamples, VectorExamples
from t2t_phrase.probing.hparams import Choice, ProbeHParams
from t2t_phrase.probing.inputs import EncoderInputs
from t2t_phrase.probing.networks import Classifier, EncoderClassifier
from t2t_phrase.probing.states import States
from t2t_phrase.probing.training import Fitted, Recipe, fit
from t2t_phrase.training_hparams import TrainingHParams, registered_hparams

# Options of training that neither a model nor its probe reads.
_UNREAD = {field.name for field in dataclasses.fields(TrainingHParams)} - {"dtype_policy"}
# More layers are not allowed in any set.
MOST_LAYERS = 1000


def probe_states(
    data: TaskData,
    states: Mapping[Split, States],
    hparams: ProbeHParams,
    choice: Choice,
    *,
    seed: int,
    log: Callable[[str], object],
) -> Fitted:
    """Train a classifier on states and measure it.

    Args:
        data: the task.
        states: the states by split; with those of words, if the task is about words.
        hparams: the classifier and its training.
        choice: the classifier's size and learning rate.
        seed: seed of the weights, the dropout and the batch order.
        log: receives messages about progress.
    """
    examples: dict[Split, Examples] = {}
    for split in SPLITS:
        own = states[split]
        words = own.words if data.task.unit == "word" else None
        vectors = [vector[None] for vector in own.sentences] if words is None else words
        examples[split] = VectorExamples(vectors, data.labels[split])
    keras.utils.set_random_seed(seed)
    network = _classifier(data, hparams, choice)
    return fit(network, examples, _recipe(hparams, choice), seed=seed, log=log)


def probe_from_scratch(
    data: TaskData,
    encoder: TrainingHParams,
    inputs: Mapping[Split, EncoderInputs],
    hparams: ProbeHParams,
    choice: Choice,
    *,
    vocab_size: int,
    seed: int,
    log: Callable[[str], object],
) -> Fitted:
    """Train the encoder of a new model together with a classifier, and measure both.

    Args:
        data: the task.
        encoder: hparams of the model.
        inputs: the sentences by split.
        hparams: the classifier and the training.
        choice: the classifier's size, and the learning rate.
        vocab_size: entries of the source vocabulary.
        seed: seed of all weights, the dropout and the batch order.
        log: receives messages about progress.
    """
    of_words = data.task.unit == "word"
    examples: dict[Split, Examples] = {
        split: SentenceExamples(inputs[split], data.labels[split], of_words) for split in SPLITS
    }
    model = untrained_model(
        registry.models[encoder.model], encoder, vocab_size=vocab_size, seed=seed
    )
    network = EncoderClassifier(model, of_words, _classifier(data, hparams, choice))
    recipe = _recipe(hparams, choice, hparams.scratch_warmup_steps)
    return fit(network, examples, recipe, seed=seed, log=log)


def scratch_sets(names: Sequence[str], overrides: str, layers: int) -> dict[str, TrainingHParams]:
    """Return hparams sets with encoders of `layers` layers; their unused decoders have one.

    Where a set has `granularity_layers`, all layers have granularities: Hao et al. (2019), Section
    4.2, train "three encoder layers with proposed MG-SA variants".

    Args:
        names: names of the sets.
        overrides: changes to the sets that have the field; they take precedence.
        layers: number of layers of the encoders, unless `overrides` has `num_encoder_layers` or
            `num_hidden_layers`.

    Raises:
        UserError: a set is unknown, no set has a field, the changes do not fit one, or an option
            would have no effect on an encoder from scratch.
    """
    sets: dict[str, TrainingHParams] = {name: registered_hparams(name) for name in names}
    given = parse_assignments(overrides)
    if unread := [name for name in given if name in _UNREAD]:
        raise HParamsError(
            f"{', '.join(unread)}: encoders from scratch are trained with the options of "
            "--probe_hparams"
        )
    asked = given.get("num_encoder_layers", given.get("num_hidden_layers", str(layers)))
    # Other values are refused below.
    count = int(asked) if asked.isdecimal() and len(asked) <= len(str(MOST_LAYERS)) else layers
    count = min(count, MOST_LAYERS)
    wanted = {
        "num_encoder_layers": asked,
        "num_decoder_layers": "1",
        "granularity_layers": f"[{','.join(str(layer + 1) for layer in range(count))}]",
    }
    made = {}
    for name, hparams in sets.items():
        # A field that no set has is kept, so that the error message names similar ones.
        changes = {field: value for field, value in wanted.items() if hasattr(hparams, field)}
        if "num_encoder_layers" not in changes:
            changes["num_hidden_layers"] = asked
        changes |= {
            field: value
            for field, value in given.items()
            if hasattr(hparams, field) or not any(hasattr(other, field) for other in sets.values())
        }
        try:
            made[name] = hparams.override(",".join(f"{k}={v}" for k, v in changes.items()))
        except HParamsError as error:
            size = f"{name} with an encoder of {clipped(asked)} layers"
            raise HParamsError(f"{size}: {error}") from error
        if made[name].lora_rank:
            raise HParamsError(f"{name}: with lora_rank, most of its random weights would be kept")
        if made[name].dtype_policy == "mixed_float16":
            raise HParamsError(
                f"{name}: dtype_policy=mixed_float16 needs a scaled loss, which probes lack; use "
                "mixed_bfloat16"
            )
    return made


def check_model(model: type[EncoderDecoder]) -> None:
    """Check that a model provides the states of its encoder.

    Args:
        model: class of the model.

    Raises:
        UserError: the model's encoder states are not available.
    """
    if model.source_states is EncoderDecoder.source_states:
        raise UserError(
            f"{model.__name__} has no method source_states, which returns a vector for each source "
            "token to be probed; define it, see t2t_phrase/models/base.py"
        )


def untrained_model(
    model: type[EncoderDecoder], hparams: TrainingHParams, *, vocab_size: int, seed: int
) -> EncoderDecoder:
    """Return a model with random weights.

    Args:
        model: class of the model.
        hparams: hparams of the model.
        vocab_size: entries of the source vocabulary.
        seed: seed of the weights.
    """
    keras.utils.set_random_seed(seed)
    return model.from_hparams(hparams, vocab_size=vocab_size)


def _classifier(data: TaskData, hparams: ProbeHParams, choice: Choice) -> Classifier:
    return Classifier(len(data.classes), hidden_units=choice.hidden_units, dropout=hparams.dropout)


def _recipe(hparams: ProbeHParams, choice: Choice, warmup: int = 0) -> Recipe:
    rate = choice.learning_rate
    return Recipe(rate, warmup, hparams.batch_size, hparams.max_epochs, hparams.patience)

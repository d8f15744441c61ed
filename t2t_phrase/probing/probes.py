"""Probing of several encoders in turn, for each task with each seed."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from t2t_phrase.features import of_side
from t2t_phrase.io.reporting import Ticker, note
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.probing.baselines import MAJORITY, UNTRAINED, predictions
from t2t_phrase.probing.classes import TaskData
from t2t_phrase.probing.corpus import ProbeCorpus, Split
from t2t_phrase.probing.hparams import Choice, ProbeHParams
from t2t_phrase.probing.inputs import EncoderInputs, encoder_inputs
from t2t_phrase.probing.probe import probe_from_scratch, probe_states, untrained_model
from t2t_phrase.probing.results import SCRATCH, Result, make_result
from t2t_phrase.probing.states import StateReader, States
from t2t_phrase.probing.training import Fitted
from t2t_phrase.text.vocabularies import Encoder
from t2t_phrase.training_hparams import TrainingHParams

Log = Callable[[str], object]
Probe = Callable[[TaskData, ProbeHParams, Choice, int, Log], Fitted]


@dataclasses.dataclass(frozen=True)
class Given:
    """Sentences and tasks.

    Attributes:
        name: name of the file of trees.
        corpus: the sentences.
        tasks: the tasks, with the labels of the sentences.
        files: the lines of --feature_files by feature.
    """

    name: str
    corpus: ProbeCorpus
    tasks: list[TaskData]
    files: dict[str, Sequence[str]]

    def encoded(
        self, encoder: Encoder, hparams: TrainingHParams, *, whole_words: bool = False
    ) -> dict[Split, EncoderInputs]:
        """Return the encoder inputs for the sentences of each split.

        Raises:
            UserError: a feature that the encoder reads is missing.
        """
        features = of_side(hparams.features, "source")
        return {
            split: encoder_inputs(
                sentences,
                encoder,
                features,
                name=self.name,
                files=self.files,
                whole_words=whole_words,
            )
            for split, sentences in self.corpus.splits.items()
        }


class TrainedEncoder(NamedTuple):
    """A trained model whose encoder is probed.

    Attributes:
        path: path of the run.
        model: the model.
        hparams_set: its hparams set.
        checkpoint: its checkpoint.
        encoder: encoder of the source vocabulary.
    """

    path: str
    model: Any
    hparams_set: str
    checkpoint: str
    encoder: Encoder


class Probes:
    """Probes encoders in turn.

    Args:
        given: sentences and tasks.
        hparams: options of the probes.
        seeds: seeds of the probes.
        xla: whether XLA compiles trained encoders; None: only on a GPU.
        on_result: called with each result and the data of its task.
        report: receives messages; default: standard error.

    Attributes:
        results: the results so far.
    """

    def __init__(
        self,
        given: Given,
        hparams: ProbeHParams,
        seeds: Sequence[int],
        *,
        xla: bool | None = None,
        on_result: Callable[[Result, TaskData], None] | None = None,
        report: Callable[[str], None] = note,
    ) -> None:
        self.results: list[Result] = []
        self._given, self._hparams, self._seeds = given, hparams, seeds
        self._xla, self._on_result, self._report = xla, on_result, report

    def of_baselines(self, names: Sequence[str]) -> None:
        """Add results that need no encoder: of the most frequent label, and of these baselines.

        Args:
            names: see `baselines.BASELINES`; an untrained encoder is added by `of_untrained`.
        """
        for name in (MAJORITY, *names):
            if name == UNTRAINED:
                continue
            for data in self._given.tasks:
                found = predictions(name, data, self._given.corpus)
                if found is not None:
                    title = name.replace("_", " ")
                    self._add(data, found, setting="baseline", hparams_set=title)

    def of_untrained(
        self,
        hparams_set: str,
        model: type[EncoderDecoder],
        hparams: TrainingHParams,
        encoder: Encoder,
    ) -> None:
        """Probe the states of an encoder with random weights, which differ between seeds.

        Args:
            hparams_set: name of the set.
            model: class of the model.
            hparams: its hparams.
            encoder: encoder of the source vocabulary.

        Raises:
            UserError: a line of a feature does not fit its sentence.
        """
        inputs = self._inputs(encoder, hparams)
        states: dict[int, dict[Split, States]] = {}

        def probe(
            data: TaskData, options: ProbeHParams, choice: Choice, seed: int, log: Log
        ) -> Fitted:
            if seed not in states:
                size = encoder.vocab_size
                random = untrained_model(model, hparams, vocab_size=size, seed=seed)
                states[seed] = self._states(random, inputs)
            return probe_states(data, states[seed], options, choice, seed=seed, log=log)

        self._of_encoder(
            probe, setting="baseline", hparams_set=hparams_set, encoder=UNTRAINED, scratch=False
        )

    def of_run(self, run: TrainedEncoder) -> None:
        """Probe the frozen encoder of a run.

        Raises:
            UserError: a line of a feature does not fit its sentence.
        """
        hparams = run.model.hparams
        start = time.monotonic()
        states = self._states(run.model, self._inputs(run.encoder, hparams))
        self._report(f"{run.path}: states computed in {time.monotonic() - start:.1f} s")

        def probe(
            data: TaskData, options: ProbeHParams, choice: Choice, seed: int, log: Log
        ) -> Fitted:
            return probe_states(data, states, options, choice, seed=seed, log=log)

        self._of_encoder(
            probe,
            setting="frozen",
            hparams_set=run.hparams_set,
            encoder=run.path,
            checkpoint=run.checkpoint,
            supervised=bool(hparams.supervision),
            scratch=False,
        )

    def of_set(self, name: str, hparams: TrainingHParams, encoder: Encoder) -> None:
        """Probe the encoder of an hparams set, trained from scratch for each task.

        Raises:
            UserError: a line of a feature does not fit its sentence.
        """
        inputs = self._inputs(encoder, hparams)

        def probe(
            data: TaskData, options: ProbeHParams, choice: Choice, seed: int, log: Log
        ) -> Fitted:
            return probe_from_scratch(
                data,
                hparams,
                inputs,
                options,
                choice,
                vocab_size=encoder.vocab_size,
                seed=seed,
                log=log,
            )

        self._of_encoder(probe, setting="scratch", hparams_set=name, encoder=SCRATCH, scratch=True)

    def _inputs(self, encoder: Encoder, hparams: TrainingHParams) -> dict[Split, EncoderInputs]:
        whole_words = self._hparams.word_states == "mean"
        return self._given.encoded(encoder, hparams, whole_words=whole_words)

    def _states(
        self, model: EncoderDecoder, inputs: Mapping[Split, EncoderInputs]
    ) -> dict[Split, States]:
        reader = StateReader(model, xla=self._xla)
        of_words = any(data.task.unit == "word" for data in self._given.tasks)
        states = {}
        for split, own in inputs.items():
            ticker = Ticker(f"{split}: encoded", len(own.words))
            states[split] = reader.read(own, with_words=of_words, progress=ticker)
        return states

    def _of_encoder(self, probe: Probe, *, scratch: bool, **fields: Any) -> None:
        """Probe an encoder for all tasks with all seeds."""
        for data in self._given.tasks:
            self._of_task(probe, data, self._hparams.choices(scratch=scratch), fields)

    def _of_task(
        self, probe: Probe, data: TaskData, choices: Sequence[Choice], fields: dict[str, Any]
    ) -> None:
        """Probe an encoder for a task with all seeds, by the choice that is best for the first."""
        beginning = f"{data.task.name}, {fields['hparams_set']}, {fields['encoder']}"

        def fitted(options: ProbeHParams, choice: Choice, seed: int) -> Fitted:
            log = functools.partial(self._say, f"{beginning}, seed {seed}, {_words(choice)}: ")
            return probe(data, options, choice, seed, log)

        first, full = self._seeds[0], self._hparams
        trial = full.trial() if len(choices) > 1 else full
        tried = {choice: fitted(trial, choice, first) for choice in choices}
        # Of equally good choices, the first.
        best = max(choices, key=lambda choice: tried[choice].dev)
        for seed in self._seeds:
            done = seed == first and trial == full
            found = tried[best] if done else fitted(full, best, seed)
            self._add_fitted(data, found, best, seed, fields)

    def _say(self, beginning: str, text: str) -> None:
        self._report(f"{beginning}{text}")

    def _add_fitted(
        self, data: TaskData, fitted: Fitted, choice: Choice, seed: int, fields: dict[str, Any]
    ) -> None:
        self._add(
            data,
            fitted.predictions,
            seed=seed,
            dev_accuracy=fitted.dev,
            epoch=fitted.epoch,
            steps=fitted.steps,
            **choice._asdict(),
            **fields,
        )

    def _add(self, data: TaskData, predicted: Sequence[np.ndarray], **fields: Any) -> None:
        result = make_result(data, predicted, **fields)
        self.results.append(result)
        if self._on_result is not None:
            self._on_result(result, data)


def _words(choice: Choice) -> str:
    return f"{choice.hidden_units} units, learning rate {choice.learning_rate:g}"

"""Encoders probed one after the other, each task with each seed."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from t2t_phrase.features import of_side
from t2t_phrase.io.reporting import Ticker, note
from t2t_phrase.probing.classes import TaskData
from t2t_phrase.probing.corpus import ProbeCorpus, Split
from t2t_phrase.probing.hparams import ProbeHParams
from t2t_phrase.probing.inputs import EncoderInputs, encoder_inputs
from t2t_phrase.probing.probe import probe_from_scratch, probe_states
from t2t_phrase.probing.results import SCRATCH, Result
from t2t_phrase.probing.states import StateReader
from t2t_phrase.probing.training import Fitted
from t2t_phrase.text.vocabularies import Encoder
from t2t_phrase.training_hparams import TrainingHParams


@dataclasses.dataclass(frozen=True)
class Given:
    """Sentences and tasks.

    Attributes:
        name: of the file of trees.
        corpus: the sentences.
        tasks: with the labels of the sentences.
        files: the lines of --feature_files by feature.
    """

    name: str
    corpus: ProbeCorpus
    tasks: list[TaskData]
    files: dict[str, Sequence[str]]

    def encoded(self, encoder: Encoder, hparams: TrainingHParams) -> dict[Split, EncoderInputs]:
        """Return the encoder inputs for the sentences of each split.

        Raises:
            UserError: a feature that it reads is missing.
        """
        features = of_side(hparams.features, "source")
        return {
            split: encoder_inputs(sentences, encoder, features, name=self.name, files=self.files)
            for split, sentences in self.corpus.splits.items()
        }


class TrainedEncoder(NamedTuple):
    """A trained model whose encoder is probed.

    Attributes:
        path: of the run.
        model: the model.
        hparams_set: its set.
        checkpoint: its checkpoint.
        encoder: of the source vocabulary.
    """

    path: str
    model: Any
    hparams_set: str
    checkpoint: str
    encoder: Encoder


class Probes:
    """Probes encoders one after the other.

    Args:
        given: sentences and tasks.
        hparams: options of the probes.
        seeds: of the probes.
        xla: whether XLA compiles trained encoders; None: only on a GPU.
        on_result: called with each result and the data of its task.
        report: is given messages; default: standard error.

    Attributes:
        results: what is done.
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

    def of_run(self, run: TrainedEncoder) -> None:
        """Probe the encoder of a run, which does not change.

        Raises:
            UserError: a line of a feature does not fit.
        """
        inputs = self._given.encoded(run.encoder, run.model.hparams)
        reader = StateReader(run.model, xla=self._xla)
        of_words = any(data.task.unit == "word" for data in self._given.tasks)
        start, states = time.monotonic(), {}
        for split, own in inputs.items():
            ticker = Ticker(f"{split}: encoded", len(own.words))
            states[split] = reader.read(own, with_words=of_words, progress=ticker)
        self._report(f"{run.path}: states computed in {time.monotonic() - start:.1f} s")
        for data, seed, log in self._each(run.hparams_set, run.path):
            fitted = probe_states(data, states, self._hparams, seed=seed, log=log)
            self._add(data, seed, fitted, run.hparams_set, run.path, run.checkpoint)

    def of_set(self, name: str, hparams: TrainingHParams, encoder: Encoder) -> None:
        """Probe the encoder of an hparams set, trained from scratch for each task.

        Raises:
            UserError: a line of a feature does not fit.
        """
        inputs = self._given.encoded(encoder, hparams)
        for data, seed, log in self._each(name, SCRATCH):
            fitted = probe_from_scratch(
                data,
                hparams,
                inputs,
                self._hparams,
                vocab_size=encoder.vocab_size,
                seed=seed,
                log=log,
            )
            self._add(data, seed, fitted, name, SCRATCH)

    def _each(
        self, name: str, encoder: str
    ) -> Iterator[tuple[TaskData, int, Callable[[str], None]]]:
        for data in self._given.tasks:
            for seed in self._seeds:
                beginning = f"{data.task.name}, {name}, {encoder}, seed {seed}: "
                yield data, seed, functools.partial(self._say, beginning)

    def _say(self, beginning: str, text: str) -> None:
        self._report(f"{beginning}{text}")

    def _add(
        self,
        data: TaskData,
        seed: int,
        fitted: Fitted,
        hparams_set: str,
        encoder: str,
        checkpoint: str = "",
    ) -> None:
        result = Result(
            setting="frozen" if checkpoint else "scratch",
            hparams_set=hparams_set,
            encoder=encoder,
            checkpoint=checkpoint,
            task=data.task.name,
            seed=seed,
            accuracy=fitted.test,
            dev_accuracy=fitted.dev,
            epoch=fitted.epoch,
            steps=fitted.steps,
        )
        self.results.append(result)
        if self._on_result is not None:
            self._on_result(result, data)

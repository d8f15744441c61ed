"""The work of t2t-phrase-probe: encoders one after the other, each task with each seed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from absl import flags

from t2t_phrase.bin.probe_input import Given
from t2t_phrase.io.reporting import Ticker, note

if TYPE_CHECKING:
    from t2t_phrase.probing.classes import TaskData
    from t2t_phrase.probing.hparams import ProbeHParams
    from t2t_phrase.probing.results import Result
    from t2t_phrase.probing.training import Fitted
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Encoder
    from t2t_phrase.training_hparams import TrainingHParams

FLAGS = flags.FLAGS


class Run(NamedTuple):
    """A run to probe: where it is, its model and its source vocabulary."""

    path: str
    trained: TrainedModel
    encoder: Encoder


def load_run(path: str) -> Run:
    """Load a run; say on standard error which it is.

    Raises:
        UserError: it cannot be loaded, its vocabulary is missing, or it is of another --problem.
    """
    from t2t_phrase.runs.load_model import load_model
    from t2t_phrase.runs.vocabulary import run_vocabularies

    trained = load_model(path, problem=FLAGS.problem)
    vocabularies = run_vocabularies(trained, data_dir=FLAGS.data_dir, problem=FLAGS.problem)
    note(f"{trained.checkpoint} (step {trained.step}): {trained.record.hparams_set}")
    return Run(path, trained, vocabularies.source)


class Probes:
    """Probes encoders one after the other; every result is printed and written at once.

    Args:
        given: sentences and tasks.
        hparams: options of the probes.
        seeds: of the probes.

    Attributes:
        results: what is done.
    """

    def __init__(self, given: Given, hparams: ProbeHParams, seeds: Sequence[int]) -> None:
        self.results: list[Result] = []
        self._given, self._hparams, self._seeds = given, hparams, seeds

    def of_run(self, run: Run) -> None:
        """Probe the encoder of a run, which does not change.

        Raises:
            UserError: a line of a feature does not fit.
        """
        from t2t_phrase.probing.probe import probe_states
        from t2t_phrase.probing.states import StateReader

        path, trained, encoder = run
        record = trained.record
        inputs = self._given.encoded(encoder, trained.model.hparams)
        reader = StateReader(trained.model, xla=FLAGS.xla_compile)
        of_words = any(data.task.unit == "word" for data in self._given.tasks)
        start, states = time.monotonic(), {}
        for split, own in inputs.items():
            ticker = Ticker(f"{split}: encoded", len(own.words))
            states[split] = reader.read(own, with_words=of_words, progress=ticker)
        note(f"{path}: states computed in {time.monotonic() - start:.1f} s")
        for data, seed, log in self._each(record.hparams_set, path):
            fitted = probe_states(data, states, self._hparams, seed=seed, log=log)
            self._add(data, seed, fitted, record.hparams_set, path, trained.checkpoint)

    def of_set(self, name: str, hparams: TrainingHParams, encoder: Encoder) -> None:
        """Probe the encoder of an hparams set, trained from scratch for each task.

        Raises:
            UserError: a line of a feature does not fit.
        """
        from t2t_phrase.probing.probe import probe_from_scratch
        from t2t_phrase.probing.results import SCRATCH

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

    def _each(self, name: str, encoder: str) -> Iterator[tuple[TaskData, int, Log]]:
        for data in self._given.tasks:
            for seed in self._seeds:
                yield data, seed, Log(f"{data.task.name}, {name}, {encoder}, seed {seed}: ")

    def _add(
        self,
        data: TaskData,
        seed: int,
        fitted: Fitted,
        hparams_set: str,
        encoder: str,
        checkpoint: str = "",
    ) -> None:
        from t2t_phrase.io.text_files import write_text
        from t2t_phrase.probing.results import Result, as_json

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
        print(result.line(data), flush=True)
        if FLAGS.json_to_file:
            given = self._given
            options = {
                **self._hparams.to_dict(),
                "hparams": FLAGS.hparams,
                "encoder_layers": FLAGS.encoder_layers,
                "tss_classes": FLAGS.tss_classes,
            }
            found = as_json(given.name, given.corpus, given.tasks, self.results, options)
            write_text(FLAGS.json_to_file, [json.dumps(found, indent=2, ensure_ascii=False)])


class Log:
    """Prints lines to standard error that begin alike.

    Args:
        beginning: of each line.
    """

    def __init__(self, beginning: str) -> None:
        self._beginning = beginning

    def __call__(self, text: str) -> None:
        """Print a line."""
        note(f"{self._beginning}{text}")

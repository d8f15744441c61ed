"""t2t-phrase-probe: what the states of encoders tell about the syntax of a sentence.

    t2t-phrase-probe --output_dirs=runs/base,runs/mgsa --data_dir=data
    t2t-phrase-probe --hparams_sets=transformer_demo,mgsa_syntax_demo --data_dir=data \\
                     --problem=translate_ende_grammar --trees_file=books.en.trees

Trains classifiers for voice, tense, top-level sequence, smallest phrase constituent and part of
speech (Shi et al., 2016; Hao et al., 2019): on the states of trained encoders, which do not change,
and with encoders that are trained from scratch. Prints accuracies on sentences not trained on,
beside those of always giving the most frequent label.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.backend import TRAINING, check_backend
from t2t_phrase.bin.decoder import Ticker, note
from t2t_phrase.bin.probe_input import (
    Given,
    check_features,
    define_input_flags,
    input_files,
    read_input,
)
from t2t_phrase.bin.text_job import check_paths
from t2t_phrase.config import UserError, shown

if TYPE_CHECKING:
    from t2t_phrase.probing.classes import TaskData
    from t2t_phrase.probing.hparams import ProbeHParams
    from t2t_phrase.probing.results import Result
    from t2t_phrase.probing.training import Fitted
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Encoder
    from t2t_phrase.training_hparams import TrainingHParams

FLAGS = flags.FLAGS
_LARGEST_SEED = 2**32 - 1


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_list(
        "output_dirs",
        [],
        "Runs whose encoders are probed as they are, or folders such as RUN/best, or checkpoints.",
    )
    flags.DEFINE_list(
        "hparams_sets", [], "Hparams sets whose encoders are trained from scratch with the probe."
    )
    flags.DEFINE_string("hparams", "", "Overrides of each of these sets, such as num_heads=4.")
    flags.DEFINE_integer(
        "encoder_layers",
        3,
        "Encoder layers of these sets; num_encoder_layers in --hparams goes first.",
        lower_bound=1,
        upper_bound=1000,
    )
    flags.DEFINE_string("data_dir", None, "Folder of the vocabulary.")
    flags.DEFINE_string(
        "problem",
        None,
        "Whose vocabulary --hparams_sets read; default: that of the first run. If given, must be "
        "that of the runs.",
    )
    define_input_flags()
    flags.DEFINE_list("tasks", ["voice", "tense", "tss", "spc", "pos"], "What to predict.")
    flags.DEFINE_integer(
        "tss_classes",
        20,
        "Classes of the task tss: the most frequent sequences, and OTHER; 0: all.",
        lower_bound=0,
        upper_bound=100_000,
    )
    flags.DEFINE_string(
        "probe_hparams", "", "Options of the probe, such as hidden_units=200,patience=5."
    )
    flags.DEFINE_list("seeds", ["1"], "Seeds of the probes; several give a mean and a spread.")
    flags.DEFINE_string("json_to_file", None, "Where the results go as JSON, after each task.")
    flags.DEFINE_bool("xla_compile", None, "Compile the runs by XLA; default: on a GPU.")
    flags.DEFINE_string("t2t_usr_dir", "", "Python package with your own registrations.")


def main(argv: Sequence[str]) -> None:
    """Probe all encoders and print the table."""
    del argv
    check_backend(TRAINING)
    seeds = check_flags()
    registry.discover(FLAGS.t2t_usr_dir)
    import tensorflow as tf

    from t2t_phrase.probing.hparams import ProbeHParams
    from t2t_phrase.probing.probe import check_model, scratch_hparams
    from t2t_phrase.probing.results import table
    from t2t_phrase.probing.tasks import choose_tasks

    # Each of a few shapes is compiled once, which TensorFlow warns of among the lines of progress.
    tf.get_logger().setLevel("ERROR")
    # What can fail at once does so before hours of work.
    if FLAGS.json_to_file:
        check_paths(FLAGS.json_to_file, input_files())
    hparams = ProbeHParams().override(FLAGS.probe_hparams)
    tasks = choose_tasks(FLAGS.tasks)
    sets = {
        name: scratch_hparams(name, FLAGS.hparams, FLAGS.encoder_layers)
        for name in FLAGS.hparams_sets
    }
    runs = [load_run(path) for path in FLAGS.output_dirs]
    encoders = [*(run.trained.model.hparams for run in runs), *sets.values()]
    for encoder in encoders:
        check_model(encoder.model)
    check_features(encoders)
    problem = FLAGS.problem or next((run.trained.record.problem for run in runs), None)
    source = vocabulary(problem) if sets else None
    given = read_input(tasks)
    probes = Probes(given, hparams, seeds)
    for loaded in runs:
        probes.of_run(loaded)
    for name, scratch in sets.items():
        assert source is not None
        probes.of_set(name, scratch, source)
    print(table(given.tasks, probes.results), flush=True)


def check_flags() -> list[int]:
    """Refuse flags that do not fit each other; return the seeds.

    Raises:
        UsageError: they do not.
        UserError: a seed is no number, or something is given twice.
    """
    if not (FLAGS.output_dirs or FLAGS.hparams_sets):
        raise app.UsageError("--output_dirs=RUN,... or --hparams_sets=SET,... is required")
    for flag in ("hparams", "encoder_layers"):
        if FLAGS[flag].present and not FLAGS.hparams_sets:
            raise app.UsageError(f"--{flag} is only used with --hparams_sets")
    if FLAGS.tss_classes == 1:
        raise app.UsageError("--tss_classes=1: one class leaves nothing to tell apart; 0: all")
    for flag in ("output_dirs", "hparams_sets", "seeds"):
        values = FLAGS[flag].value
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise UserError(f"--{flag}: {shown(twice)} is given twice")
    for seed in FLAGS.seeds:
        if not (seed.isascii() and seed.isdecimal() and int(seed[:20]) <= _LARGEST_SEED):
            raise UserError(f"--seeds: {shown(seed)} is no integer from 0 to {_LARGEST_SEED}")
    if not FLAGS.seeds:
        raise UserError("--seeds= names no seed; leave it out for the default")
    return [int(seed) for seed in FLAGS.seeds]


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


def vocabulary(problem: str | None) -> Encoder:
    """Return the source vocabulary of the encoders from scratch.

    Raises:
        UserError: it is not known which, or it is not there.
    """
    from t2t_phrase.data.problem import get_problem

    for flag, value in (("problem", problem), ("data_dir", FLAGS.data_dir)):
        if not value:
            raise UserError(f"--{flag} is needed: --hparams_sets read a vocabulary that is there")
    return get_problem(str(problem)).vocabularies(FLAGS.data_dir).source


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
        from t2t_phrase.evaluation.text_files import write_text
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


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

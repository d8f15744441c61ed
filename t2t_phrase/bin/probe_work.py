"""Loads runs and reports results for t2t-phrase-probe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import flags

from t2t_phrase.io.reporting import note

if TYPE_CHECKING:
    from t2t_phrase.models.base import EncoderDecoder
    from t2t_phrase.probing.classes import TaskData
    from t2t_phrase.probing.hparams import ProbeHParams
    from t2t_phrase.probing.probes import Given, Probes, TrainedEncoder
    from t2t_phrase.probing.results import Result

FLAGS = flags.FLAGS


def load_run(path: str) -> tuple[TrainedEncoder, str | None]:
    """Load a run, and note its checkpoint on standard error.

    Returns:
        (the encoder, the problem of the run).

    Raises:
        UserError: the run cannot be loaded, lacks its vocabulary, or is of another --problem.
    """
    from t2t_phrase.probing.probes import TrainedEncoder
    from t2t_phrase.runs.load_model import load_model
    from t2t_phrase.runs.vocabulary import run_vocabularies

    trained = load_model(path, problem=FLAGS.problem)
    vocabularies = run_vocabularies(trained, data_dir=FLAGS.data_dir, problem=FLAGS.problem)
    name = trained.record.hparams_set
    note(f"{trained.checkpoint} (step {trained.step}): {name}")
    model: EncoderDecoder = trained.model
    encoder = TrainedEncoder(path, model, name, trained.checkpoint, vocabularies.source)
    return encoder, trained.record.problem


def make_probes(given: Given, hparams: ProbeHParams, seeds: Sequence[int]) -> Probes:
    """Return probes that print each result at once, and write it to --json_to_file."""
    from t2t_phrase.probing.probes import Probes

    def take(result: Result, data: TaskData) -> None:
        print(result.line(data), flush=True)
        if FLAGS.json_to_file:
            write_results(given, hparams, probes.results)

    probes = Probes(given, hparams, seeds, xla=FLAGS.xla_compile, on_result=take)
    return probes


def write_results(given: Given, hparams: ProbeHParams, results: Sequence[Result]) -> None:
    """Write the results to --json_to_file."""
    from t2t_phrase.io.text_files import write_text
    from t2t_phrase.probing.results import as_json

    options = {
        **hparams.to_dict(),
        "hparams": FLAGS.hparams,
        "encoder_layers": FLAGS.encoder_layers,
        "tss_classes": FLAGS.tss_classes,
    }
    found = as_json(given.name, given.corpus, given.tasks, list(results), options)
    write_text(FLAGS.json_to_file, [json.dumps(found, indent=2, ensure_ascii=False)])

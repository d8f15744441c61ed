"""t2t-phrase-probe: measures what encoder states reveal about the syntax of a sentence.

    t2t-phrase-probe --output_dir=runs/base,runs/mgsa --data_dir=data
    t2t-phrase-probe --hparams_sets=transformer_demo,mgsa_syntax_demo --data_dir=data \\
                     --problem=translate_ende_grammar --trees_file=books.en.trees

Trains classifiers for voice, tense, top-level sequence, smallest phrase constituent and part of
speech (Shi et al., 2016; Hao et al., 2019): on the states of trained encoders, which do not change,
and with encoders that are trained from scratch. Prints accuracies on held-out sentences, with
standard errors, next to those of baselines without a trained encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.backend import TENSORFLOW, check_backend
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.bin.probe_input import (
    check_features,
    check_input_flags,
    check_language,
    define_input_flags,
    input_files,
    read_input,
)
from t2t_phrase.bin.probe_work import load_run, make_probes
from t2t_phrase.config import UserError, shown
from t2t_phrase.io.text_job import check_paths

if TYPE_CHECKING:
    from t2t_phrase.text.vocabularies import Encoder

FLAGS = flags.FLAGS
_LARGEST_SEED = 2**32 - 1


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_list(
        "output_dir",
        [],
        "Runs whose encoders are probed as they are, or folders such as RUN/best, or checkpoints.",
    )
    flags.DEFINE_list(
        "hparams_sets", [], "Hparams sets whose encoders are trained from scratch with the probe."
    )
    flags.DEFINE_string(
        "hparams", "", "Overrides for the sets that have the field, such as num_heads=4."
    )
    flags.DEFINE_integer(
        "encoder_layers",
        3,
        "Number of encoder layers of --hparams_sets, all with granularities if a set has any; "
        "num_encoder_layers, num_hidden_layers and granularity_layers in --hparams take "
        "precedence.",
        lower_bound=1,
        upper_bound=1000,
    )
    flags.DEFINE_string("data_dir", None, "Folder of the vocabulary.")
    flags.DEFINE_string(
        "problem",
        None,
        "Problem whose vocabulary --hparams_sets use; default: that of the first run. If given, "
        "must be that of the runs.",
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
        "probe_hparams", "", "Options of the probe: hidden_units=[50,200],word_states=mean."
    )
    flags.DEFINE_list(
        "baselines",
        ["word_type", "boundaries", "untrained"],
        "Baselines beside the most frequent label: the most frequent one of each word type; that "
        "of the sizes of segments; an untrained encoder of the first run or set.",
    )
    flags.DEFINE_list("seeds", ["1"], "Seeds of the probes.")
    flags.DEFINE_bool("pool_runs", False, "Show runs of the same hparams set as one row.")
    flags.DEFINE_string("json_to_file", None, "JSON file for the results, written after each task.")
    flags.DEFINE_bool("xla_compile", None, "Compile the runs with XLA; default: only on a GPU.")
    flags.DEFINE_string("t2t_usr_dir", "", "Python package with your own registrations.")


def main(argv: Sequence[str]) -> None:
    """Probe all encoders and print the table."""
    del argv
    check_backend(TENSORFLOW)
    seeds = check_flags()
    registry.discover(FLAGS.t2t_usr_dir)
    from t2t_phrase.probing.baselines import UNTRAINED, choose_baselines
    from t2t_phrase.probing.hparams import ProbeHParams
    from t2t_phrase.probing.probe import check_model, scratch_sets
    from t2t_phrase.probing.results import tables
    from t2t_phrase.probing.tasks import choose_tasks

    # Checks that can fail at once come before hours of work.
    if FLAGS.json_to_file:
        check_paths(FLAGS.json_to_file, input_files())
    hparams = ProbeHParams().override(FLAGS.probe_hparams)
    tasks = choose_tasks(FLAGS.tasks)
    baselines = choose_baselines(FLAGS.baselines)
    sets = scratch_sets(FLAGS.hparams_sets, FLAGS.hparams, FLAGS.encoder_layers)
    runs = [load_run(path) for path in FLAGS.output_dir]
    for run, _ in runs:
        check_model(type(run.model))
    for encoder in sets.values():
        check_model(registry.models[encoder.model])
    check_features([*(run.model.hparams for run, _ in runs), *sets.values()])
    check_language([FLAGS.problem, *(name for _, name in runs)])
    problem = FLAGS.problem or next((name for _, name in runs), None)
    source = vocabulary(problem) if sets else None
    given = read_input(tasks)
    probes = make_probes(given, hparams, seeds)
    probes.of_baselines(baselines)
    if UNTRAINED in baselines and runs:
        first = runs[0][0]
        probes.of_untrained(
            first.hparams_set, type(first.model), first.model.hparams, first.encoder
        )
    elif UNTRAINED in baselines:
        assert source is not None
        name, encoder = next(iter(sets.items()))
        probes.of_untrained(name, registry.models[encoder.model], encoder, source)
    for loaded, _ in runs:
        probes.of_run(loaded)
    for name, scratch in sets.items():
        assert source is not None
        probes.of_set(name, scratch, source)
    print(tables(given.tasks, probes.results, pool_runs=FLAGS.pool_runs), flush=True)


def check_flags() -> list[int]:
    """Refuse flags that do not fit together, and return the seeds.

    Raises:
        UsageError: flags contradict each other.
        UserError: a seed is not a number, or something is given twice.
    """
    refuse_empty("trees_file", "text_file", "json_to_file")
    if not (FLAGS.output_dir or FLAGS.hparams_sets):
        raise app.UsageError("--output_dir=RUN,... or --hparams_sets=SET,... is required")
    for flag in ("hparams", "encoder_layers"):
        if FLAGS[flag].present and not FLAGS.hparams_sets:
            raise app.UsageError(f"--{flag} is only used with --hparams_sets")
    if FLAGS.tss_classes == 1:
        raise app.UsageError("--tss_classes=1: one class leaves nothing to distinguish; 0: all")
    check_input_flags()
    for seed in FLAGS.seeds:
        if not (seed.isascii() and seed.isdecimal() and int(seed[:20]) <= _LARGEST_SEED):
            raise UserError(f"--seeds: {shown(seed)} is not an integer from 0 to {_LARGEST_SEED}")
    if not FLAGS.seeds:
        raise UserError("--seeds= names no seed; leave it out for the default")
    seeds = [int(seed) for seed in FLAGS.seeds]
    given = {"output_dir": FLAGS.output_dir, "hparams_sets": FLAGS.hparams_sets, "seeds": seeds}
    for flag, values in given.items():
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise UserError(f"--{flag}: {shown(twice)} is given twice")
    return seeds


def vocabulary(problem: str | None) -> Encoder:
    """Return the source vocabulary of the encoders from scratch.

    Raises:
        UserError: the problem is unknown, or its vocabulary does not exist.
    """
    from t2t_phrase.data.problem import get_problem

    for flag, value in (("problem", problem), ("data_dir", FLAGS.data_dir)):
        if not value:
            raise UserError(f"--{flag} is required: --hparams_sets needs an existing vocabulary")
    return get_problem(str(problem)).vocabularies(FLAGS.data_dir).source


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

"""t2t-phrase-datagen: from a raw corpus to subword vocabulary and record shards."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.problem import get_problem

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_list("problem", None, "Problem to generate, or several: a,b.")
    flags.DEFINE_string("data_dir", None, "Folder for vocabulary, record shards and kept text.")
    flags.DEFINE_string(
        "tmp_dir", "/tmp/t2t_datagen", "Folder with the raw corpus, or to download it to."
    )
    flags.DEFINE_integer("num_shards", 0, "Training shards; 0: as the problem says.")
    flags.DEFINE_integer("vocab_size", 0, "Subwords of the joint vocabulary; 0: as it says.")
    flags.DEFINE_integer("max_characters", 0, "A longer side is a fault; 0: as it says.")
    flags.DEFINE_integer("max_cases", 0, "Read only the first training pairs; 0: all.")
    flags.DEFINE_integer(
        "num_workers", 0, "Processes that encode; 0: one, or one for each CPU if it pays."
    )
    flags.DEFINE_integer("random_seed", 429459, "Order of the records within training shards.")
    flags.DEFINE_string("t2t_usr_dir", "", "Python package with problems of your own.")
    flags.DEFINE_bool("registry_help", False, "Print the names of all problems and leave.")


def main(argv: Sequence[str]) -> None:
    """Generate the problems one after the other."""
    del argv
    registry.discover(FLAGS.t2t_usr_dir)
    if FLAGS.registry_help:
        print("\n".join(["Problems (append _rev to reverse):", *registry.problems]))
        return
    if not FLAGS.problem or not FLAGS.data_dir:
        raise app.UsageError("--problem and --data_dir are required; --registry_help lists names")
    from t2t_phrase.data.generation.generate import generate

    problems = [get_problem(name) for name in FLAGS.problem]
    options = GenerateOptions(
        num_shards=FLAGS.num_shards,
        vocab_size=FLAGS.vocab_size,
        max_characters=FLAGS.max_characters,
        max_cases=FLAGS.max_cases,
        random_seed=FLAGS.random_seed,
        num_workers=FLAGS.num_workers,
    )
    for problem in problems:
        tmp_dir = str(pathlib.Path(FLAGS.tmp_dir).expanduser())
        generate(problem, FLAGS.data_dir, tmp_dir, options=options)


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

"""t2t-phrase-datagen: makes vocabularies and record shards from a raw corpus.

t2t-phrase-datagen --problem=translate_text --tmp_dir=raw --data_dir=data
t2t-phrase-datagen --problem=translate_text --tmp_dir=new --data_dir=more --vocab_from=data
t2t-phrase-datagen --problem=translate_text --tmp_dir=raw --data_dir=data --only_vocabulary
t2t-phrase-datagen --problem=translate_text --tmp_dir=raw --data_dir=data --task_id=0 --num_tasks=4
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.bin.registry_help import PROBLEMS, registered
from t2t_phrase.config import UserError
from t2t_phrase.corpus_sizes import AUTO, corpus_size
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.problem import Problem, get_problem
from t2t_phrase.io.files import expanded
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.terminal import Screen

if TYPE_CHECKING:
    from t2t_phrase.data.generation.tasks import Task

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_list("problem", None, "Problem to generate, or several: a,b. Required.")
    flags.DEFINE_string(
        "data_dir", None, "Folder for vocabularies, record shards and kept text. Required."
    )
    flags.DEFINE_string(
        "tmp_dir", "/tmp/t2t_datagen", "Folder with the raw corpus, or to download it to."
    )
    flags.DEFINE_integer("num_shards", 0, "Training shards; 0: the problem's default.")
    flags.DEFINE_enum(
        "vocab_type",
        None,
        ["subwords", "unigram", "words"],
        "Units of the vocabulary; default: the problem's. subwords: byte pair encoding; unigram: "
        "subwords of a unigram model; words need tokenised text.",
    )
    flags.DEFINE_bool(
        "shared_vocab",
        None,
        "Whether source and target share one vocabulary; default: the problem's.",
    )
    _define_size(
        "vocab_size",
        "Entries of the vocabulary, or of the source vocabulary if there are two; auto: by the "
        "size of the corpus; 0: the problem's default.",
    )
    _define_size(
        "target_vocab_size",
        "Entries of the target vocabulary if there are two; auto: by the size of the corpus; 0: "
        "the problem's default, or else that of the source.",
    )
    flags.DEFINE_list(
        "user_defined_symbols",
        [],
        "Words that are always one entry of the vocabulary, such as the tag <BT> of "
        "back-translations.",
    )
    flags.DEFINE_list(
        "vocab_file",
        [],
        "A vocabulary to use instead of a new one, such as that of other data, or tensor2tensor's "
        "vocab.*.subwords; two files, for source and target, if they do not share one.",
    )
    flags.DEFINE_string(
        "vocab_from",
        "",
        "A --data_dir or the --output_dir of a run, trained or imported, whose vocabulary is used.",
    )
    flags.DEFINE_integer(
        "max_characters",
        0,
        "Training pairs with a longer side are dropped; 0: the problem's default.",
    )
    flags.DEFINE_integer("max_cases", 0, "Maximum number of training pairs to read; 0: all.")
    flags.DEFINE_integer(
        "sampled_segmentations",
        0,
        "Random segmentations of the training set to add, for training with "
        "--hparams=sampled_segmentations=N; 0: none.",
    )
    flags.DEFINE_float(
        "sampling_alpha",
        0.1,
        "Of random segmentations: the probability of leaving out a merge of byte pair encoding, or "
        "the exponent of a unigram model's probabilities.",
    )
    flags.DEFINE_enum(
        "sampling_sides",
        "both",
        ["both", "source", "target"],
        "The side with random segmentations, as named in the problem without _rev.",
    )
    flags.DEFINE_integer(
        "num_workers",
        0,
        "Number of encoding processes; 0: one for each CPU if the corpus is large, else one.",
    )
    flags.DEFINE_integer(
        "task_id",
        -1,
        "Make only the training shards of this one of --num_tasks tasks, numbered from 0, so that "
        "several machines share the work; -1: all data, from the shards of tasks if there are any.",
    )
    flags.DEFINE_integer("num_tasks", 0, "The number of tasks, with --task_id.")
    flags.DEFINE_bool(
        "only_vocabulary", False, "Stop after making the vocabulary, which all tasks need."
    )
    flags.DEFINE_integer("random_seed", 429459, "Seed of the order of records in training shards.")
    flags.DEFINE_bool(
        "verify",
        False,
        "Compare the data in --data_dir with their checksums and counts, and exit with status 2 if "
        "anything is wrong. Nothing is written.",
    )
    flags.DEFINE_string("t2t_usr_dir", "", "Python package with your own problems.")
    flags.DEFINE_string(
        "registry_help",
        None,
        "Print the names of all problems and exit; --registry_help=WORD: those with a word in name "
        "or description.",
    )


class _SizeParser(flags.IntegerParser):
    """Parses a number, or "auto"."""

    syntactic_help = "an integer or auto"

    def parse(self, argument: str | int) -> int:
        return AUTO if argument in ("auto", AUTO) else int(super().parse(argument))


def _define_size(name: str, help_text: str) -> None:
    flags.DEFINE(_SizeParser(lower_bound=0), name, 0, help_text)


def main(argv: Sequence[str]) -> None:
    """Generate the data of each problem in turn."""
    del argv
    if FLAGS.registry_help:
        lines = registered(FLAGS.registry_help, t2t_usr_dir=FLAGS.t2t_usr_dir, titles=(PROBLEMS,))
        print(*lines, sep="\n")
        return
    refuse_empty("tmp_dir", "vocab_file", "vocab_from")
    registry.discover(FLAGS.t2t_usr_dir)
    if not FLAGS.problem or not FLAGS.data_dir:
        raise app.UsageError("--problem and --data_dir are required; --registry_help lists names")
    problems = [get_problem(name) for name in FLAGS.problem]
    if FLAGS.verify:
        verify(problems)
        return
    from t2t_phrase.data.generation.generate import generate, generate_task

    task = chosen_task()
    options = GenerateOptions(
        num_shards=FLAGS.num_shards,
        vocab_type=FLAGS.vocab_type,
        shared_vocab=FLAGS.shared_vocab,
        vocab_size=FLAGS.vocab_size,
        target_vocab_size=FLAGS.target_vocab_size,
        user_defined_symbols=tuple(FLAGS.user_defined_symbols),
        vocab_file=tuple(FLAGS.vocab_file),
        vocab_from=FLAGS.vocab_from,
        max_characters=FLAGS.max_characters,
        max_cases=FLAGS.max_cases,
        sampled_segmentations=FLAGS.sampled_segmentations,
        sampling_alpha=FLAGS.sampling_alpha,
        sampling_sides=FLAGS.sampling_sides,
        random_seed=FLAGS.random_seed,
        num_workers=FLAGS.num_workers,
    )
    screen = Screen()
    for problem in problems:
        tmp_dir = str(expanded(FLAGS.tmp_dir))
        if task is not None:
            generate_task(problem, FLAGS.data_dir, tmp_dir, task, options=options, log=screen)
            continue
        generate(
            problem,
            FLAGS.data_dir,
            tmp_dir,
            options=options,
            log=screen,
            only_vocabulary=FLAGS.only_vocabulary,
        )
        if not (problem.hparams_set or FLAGS.only_vocabulary):
            screen(estimate(problem))


def chosen_task() -> Task | None:
    """Return the task that the flags choose; None: all of the work.

    Raises:
        UserError: the flags contradict each other.
    """
    if FLAGS.task_id == -1 and not FLAGS.num_tasks:
        return None
    if FLAGS.only_vocabulary:
        raise UserError("--only_vocabulary is a separate step, before --task_id and --num_tasks")
    if FLAGS.task_id == -1:
        raise UserError(
            f"--num_tasks={FLAGS.num_tasks} needs the number of the task, such as --task_id=0; "
            "without both, the data are completed from what tasks have made"
        )
    from t2t_phrase.data.generation.tasks import Task

    return Task(FLAGS.task_id, FLAGS.num_tasks)


def estimate(problem: Problem) -> str:
    """Return a line with the estimated duration of the recommended training on this CPU."""
    from t2t_phrase.cores import usable_cores
    from t2t_phrase.training.estimate import matrix_rate, training_seconds

    size = corpus_size(problem.pairs(FLAGS.data_dir, "train"))
    name = f"transformer_{size.name}"
    seconds = training_seconds(
        registry.hparams[name](),
        vocab_size=problem.vocabularies(FLAGS.data_dir).target.vocab_size,
        train_steps=size.train_steps,
        rate=matrix_rate(),
    )
    minutes, hours = max(1, round(seconds / 60)), round(seconds / 3600)
    duration = f"{minutes} min" if minutes < 90 else f"{hours:,} h"
    cores = usable_cores()
    return (
        f"time: about {duration} for {name} on {counted(cores, 'CPU core')}, within "
        "a factor of two; a GPU takes a fraction of it"
    )


def verify(problems: Sequence[Problem]) -> None:
    """Print the faults in the data of each problem.

    Raises:
        UserError: there is a fault.
    """
    from t2t_phrase.data.generation import damage

    folder = expanded(FLAGS.data_dir)
    faulty = []
    for problem in problems:
        count = 0
        for line in damage.verify(folder, problem.base_name):
            print(line)
            count += 1
        faults = counted(count, "fault") if count else "no faults"
        print(f"{problem.base_name}: {faults} in {folder}")
        if count:
            faulty.append(problem.base_name)
    if faulty:
        raise UserError(
            f"the data of {', '.join(faulty)} are damaged or unfinished; run t2t-phrase-datagen "
            f"--problem={','.join(faulty)} --data_dir={folder} again, with the other original "
            "flags, to repair them"
        )


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=lambda: not FLAGS.registry_help)


if __name__ == "__main__":
    run()

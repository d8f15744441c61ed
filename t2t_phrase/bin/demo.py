"""t2t-phrase-demo: generates the built-in corpus, trains a model, translates and scores.

    t2t-phrase-demo --work_dir=runs/demo

Each step is one of the other commands, printed before it runs, to be copied and changed.
"""

from __future__ import annotations

import pathlib
import shlex
import sys
import time
from collections.abc import Sequence

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.backend import check_backend
from t2t_phrase.config import UserError
from t2t_phrase.io.child_process import call
from t2t_phrase.io.files import expanded

PROBLEM = "translate_ende_grammar"
HPARAMS_SET = "phrase_interleaved_convkv_1_2_demo_muon"

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_string("work_dir", "runs/demo", "Folder for everything that the demo writes.")
    flags.DEFINE_string("hparams_set", HPARAMS_SET, "Registered hparams set to train.")
    flags.DEFINE_integer("train_steps", 800, "Number of updates.", lower_bound=1)
    flags.DEFINE_string("hparams", "", "Overrides of the set, such as num_heads=4,norm=post.")


def commands(
    work_dir: pathlib.Path, *, hparams_set: str, hparams: str, train_steps: int
) -> list[list[str]]:
    """Return the commands of the demo, each a module of `t2t_phrase.bin` and its flags."""
    data, run = f"--data_dir={work_dir / 'data'}", f"--output_dir={work_dir / 'model'}"
    problem = f"--problem={PROBLEM}"
    translation = work_dir / "test.de"
    return [
        ["datagen", problem, data, f"--tmp_dir={work_dir / 'tmp'}"],
        [
            "trainer",
            problem,
            data,
            run,
            f"--hparams_set={hparams_set}",
            f"--hparams={hparams}",
            f"--train_steps={train_steps}",
            "--schedule=train",
            f"--local_eval_frequency={max(1, train_steps // 5)}",
        ],
        [
            "decoder",
            data,
            run,
            f"--decode_from_file={work_dir / 'data' / (PROBLEM + '-test.en')}",
            f"--decode_to_file={translation}",
        ],
        [
            "eval",
            f"--translation={translation}",
            f"--reference={work_dir / 'data' / (PROBLEM + '-test.de')}",
        ],
    ]


def main(argv: Sequence[str]) -> None:
    """Run the commands in order, until one fails."""
    del argv
    if not FLAGS.work_dir:
        raise app.UsageError("--work_dir= names no folder")
    if (FLAGS.hparams_set, FLAGS.hparams) != (HPARAMS_SET, ""):
        check_hparams()
    work_dir = expanded(FLAGS.work_dir)
    minutes: dict[str, float] = {}
    for module, *options in commands(
        work_dir,
        hparams_set=FLAGS.hparams_set,
        hparams=FLAGS.hparams,
        train_steps=FLAGS.train_steps,
    ):
        print(f"\n$ t2t-phrase-{module} {shlex.join(options)}", flush=True)
        start = time.monotonic()
        status = call([sys.executable, "-m", f"t2t_phrase.bin.{module}", *options])
        if status:
            sys.exit(status)
        minutes[module] = (time.monotonic() - start) / 60
    parts = ", ".join(f"{module} {spent:.1f}" for module, spent in minutes.items())
    print(f"\nThe demo took {sum(minutes.values()):.1f} minutes ({parts}).")
    print(f"Its files are in {work_dir}.")


def check_hparams() -> None:
    """Check the flags for the trainer now, since it starts minutes later.

    Raises:
        UserError: the hparams set is unknown or its model cannot translate, or the overrides are
            wrong.
    """
    check_backend()
    common.load_tensorflow()
    registry.discover()
    from t2t_phrase.runs.record import resolve_hparams

    hparams, _ = resolve_hparams(FLAGS.hparams_set, FLAGS.hparams)
    if reason := registry.models[hparams.model].capabilities.cannot_translate:
        raise UserError(f"--hparams_set={FLAGS.hparams_set}: the demo translates, but {reason}")


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=False)


if __name__ == "__main__":
    run()

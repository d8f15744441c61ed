"""t2t-phrase-avg: averages the weights of several checkpoints of a run.

t2t-phrase-avg --output_dir=runs/mine --num_last_checkpoints=5
"""

from __future__ import annotations

from collections.abc import Sequence

from absl import app, flags

from t2t_phrase.bin import common
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.io.files import expanded
from t2t_phrase.io.line_counts import counted

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_string("output_dir", None, "Folder of the training run.")
    flags.DEFINE_integer(
        "num_last_checkpoints", 0, "Number of latest checkpoints to average.", lower_bound=0
    )
    flags.DEFINE_list(
        "checkpoints", None, "Average these checkpoints instead: run/model.ckpt-100,..."
    )
    flags.DEFINE_string(
        "output_path",
        None,
        "Folder for the averaged checkpoint, which decoder and exporter accept as --output_dir. "
        "Default: averaged/ in --output_dir.",
    )


def main(argv: Sequence[str]) -> None:
    """Average the checkpoints and print their steps."""
    del argv
    refuse_empty("checkpoints", "output_path")
    if bool(FLAGS.checkpoints) == bool(FLAGS.num_last_checkpoints):
        raise app.UsageError("either --num_last_checkpoints or --checkpoints is required")
    if not FLAGS.output_dir and (FLAGS.num_last_checkpoints or not FLAGS.output_path):
        raise app.UsageError("--output_dir is required, the folder of the training run")
    from t2t_phrase.runs.averaging import average_checkpoints, last_checkpoints
    from t2t_phrase.runs.directory import AVERAGED

    run_folder = expanded(FLAGS.output_dir or "")
    if FLAGS.checkpoints:
        paths = [str(expanded(path.strip())) for path in FLAGS.checkpoints]
    else:
        paths = last_checkpoints(run_folder, FLAGS.num_last_checkpoints)
    target = expanded(FLAGS.output_path or run_folder / AVERAGED)
    written, steps = average_checkpoints(paths, target)
    averaged = f"{counted(len(steps), 'checkpoint')}, steps {', '.join(map(str, steps))}"
    print(f"averaged {averaged}: {written}")


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

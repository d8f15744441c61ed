"""t2t-phrase-report: writes a page about a run, finished or still being trained.

    t2t-phrase-report --output_dir=run --data_dir=data --report=page.html

The page is one HTML file that loads nothing from the network: settings, curves, the best checkpoint
with its signature, twenty translations of the development set, and the commands that repeat the
run. The trainer writes the same page at the end of training.
"""

from __future__ import annotations

from collections.abc import Sequence

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.folder_files import files_of
from t2t_phrase.io.reporting import note
from t2t_phrase.io.text_job import check_paths

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_string("output_dir", None, "Folder of the run.")
    flags.DEFINE_string("data_dir", None, "Folder of its data.")
    flags.DEFINE_string("report", None, "HTML file for the page.")
    flags.DEFINE_bool(
        "translate",
        True,
        "Translate the development set with the best checkpoint if the run recorded no "
        "translation of it.",
    )
    flags.DEFINE_string(
        "t2t_usr_dir", "", "Folder of a Python package with your own registrations."
    )


def main(argv: Sequence[str]) -> None:
    """Write the page."""
    del argv
    for name in ("output_dir", "data_dir", "report"):
        if not FLAGS[name].value:
            raise app.UsageError(f"--{name} is required")
    registry.discover(FLAGS.t2t_usr_dir)
    check_paths(FLAGS.report, files_of(FLAGS.output_dir, FLAGS.data_dir))
    from t2t_phrase.reports.run.write import write_run_report

    write_run_report(
        FLAGS.output_dir, FLAGS.data_dir, FLAGS.report, translates=FLAGS.translate, log=note
    )


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

"""Checks that the flags of t2t-phrase-insights belong together."""

from __future__ import annotations

from absl import app, flags

from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import SHORTLISTS, DecodeHParams

FLAGS = flags.FLAGS

# Options of decoding for the decoder's files.
_OUTPUT = ("return_beams", "write_scores", "write_alignments")

# The tasks that read each flag; one of them suffices.
_TASKS = {
    "stats_file": ("stats",),
    "insights_from_file": ("stats", "html"),
    "references_file": ("stats", "html"),
    "feature_files": ("stats", "html"),
    "compare_output_dir": ("html",),
    "alignment_model_dir": ("html",),
    "source": ("heat_maps", "html"),
    "feature": ("heat_maps", "html"),
    "target": ("heat_maps", "html"),
    "attentions": ("heat_maps",),
    "layers": ("heat_maps",),
    "heads": ("heat_maps",),
    "format": ("heat_maps",),
    "merge_subwords": ("heat_maps",),
    "weights_file": ("heat_maps",),
}


def check_decoding(hparams: DecodeHParams) -> None:
    """Refuse options of decoding that have no effect.

    Args:
        hparams: the options.

    Raises:
        UserError: there is one.
    """
    from t2t_phrase.api.alignment_search import check_search_options

    for name in hparams.given((*SHORTLISTS, *_OUTPUT)):
        raise UserError(
            f"{name}={getattr(hparams, name)}: is not used by t2t-phrase-insights; leave it out"
        )
    if not FLAGS.alignment_model_dir:
        check_search_options(hparams)


def check_flags() -> None:
    """Refuse flags that do not belong together.

    Raises:
        UsageError: a flag is missing, or cannot be used with the others.
    """
    refuse_empty("html", "stats_file", "insights_from_file", "references_file", "weights_file")
    refuse_empty("heat_maps", "compare_output_dir", "alignment_model_dir")
    if not (FLAGS.stats or FLAGS.heat_maps or FLAGS.html):
        raise app.UsageError("--stats, --heat_maps=FOLDER or --html=FILE is needed")
    if FLAGS.stats and bool(FLAGS.insights_from_file) != bool(FLAGS.references_file):
        raise app.UsageError("--insights_from_file and --references_file belong together")
    if FLAGS.references_file and not FLAGS.insights_from_file:
        raise app.UsageError("--references_file needs --insights_from_file")
    if FLAGS.heat_maps and not (FLAGS.source or "").split():
        raise app.UsageError("--heat_maps needs the --source sentence to draw")
    if FLAGS.html and not (FLAGS.insights_from_file or (FLAGS.source or "").split()):
        raise app.UsageError("--html needs --insights_from_file, or one --source sentence")
    if FLAGS.html and FLAGS.insights_from_file and FLAGS.source and not FLAGS.heat_maps:
        raise app.UsageError("--html explains --insights_from_file or --source; give one of them")
    for flag in ("target", "feature"):
        if FLAGS.html and FLAGS.insights_from_file and FLAGS[flag].value and not FLAGS.heat_maps:
            raise app.UsageError(
                f"--{flag} is of one --source sentence; leave it out with --insights_from_file"
            )
    if FLAGS.feature_files and not FLAGS.insights_from_file:
        raise app.UsageError(
            "--feature_files is only used with --insights_from_file; give --feature for one "
            "--source sentence, and leave it out for the development set"
        )
    if FLAGS.parser and not (FLAGS.insights_from_file or FLAGS.heat_maps or FLAGS.html):
        raise app.UsageError(
            "--parser: the features of the development set are read from the data; leave it out"
        )
    if FLAGS.target is not None and not FLAGS.target.split():
        raise app.UsageError("--target has no words; leave it out for the model's own translation")
    for flag in ("attentions", "layers", "heads"):
        if FLAGS[flag].present and not FLAGS[flag].value:
            raise app.UsageError(f"--{flag}= chooses nothing to draw; leave it out for the default")
    for flag, tasks in _TASKS.items():
        if FLAGS[flag].present and not any(FLAGS[task].value for task in tasks):
            readers = " or ".join(f"--{task}" for task in tasks)
            raise app.UsageError(f"--{flag} is only used with {readers}")

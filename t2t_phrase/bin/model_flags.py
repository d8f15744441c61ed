"""The flags that choose a trained model, shared by several commands, and functions to load it."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.config import UserError
from t2t_phrase.io.files import expanded
from t2t_phrase.io.reporting import note

if TYPE_CHECKING:
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Vocabularies

FLAGS = flags.FLAGS


def define_model_flags() -> None:
    """Define the flags that choose a model, shared by several commands."""
    flags.DEFINE_string(
        "output_dir",
        None,
        "Folder of the training run; a list of folders, --output_dir=a,b,c: an ensemble.",
    )
    flags.DEFINE_string(
        "checkpoint_path",
        None,
        "A checkpoint or a folder of checkpoints, or a list of them; `best`: the best one of each "
        "--output_dir. Default: the latest of --output_dir.",
    )
    flags.DEFINE_list(
        "ensemble_weights",
        None,
        "A positive number for each model of an ensemble, in the same order; default: all are "
        "equal.",
    )
    flags.DEFINE_enum(
        "dtype_policy",
        None,
        ["float32", "mixed_bfloat16", "mixed_float16"],
        "Number type of the computation; default: as in training.",
    )
    flags.DEFINE_string("data_dir", None, "Folder of the vocabulary.")
    flags.DEFINE_string("problem", None, "If given, must be that of the run.")
    flags.DEFINE_string("model", None, "If given, must be that of the run.")
    flags.DEFINE_string("hparams_set", None, "If given, must be that of the run.")
    flags.DEFINE_string(
        "t2t_usr_dir", "", "Folder of a Python package with your own registrations."
    )


def model_paths() -> list[str]:
    """Return the run or checkpoint of each model that the flags name, see `listed_paths`.

    Raises:
        UserError: a name in a list is empty.
        UsageError: no model is named.
    """
    from t2t_phrase.runs.directory import BEST

    refuse_empty("checkpoint_path")
    best = FLAGS.checkpoint_path == BEST
    flag = "output_dir" if best or not FLAGS.checkpoint_path else "checkpoint_path"
    given = FLAGS[flag].value
    if not given:
        raise app.UsageError("--output_dir (or the --checkpoint_path of one checkpoint) is needed")
    paths = listed_paths(flag, given)
    return [f"{path}/{BEST}" for path in paths] if best else paths


def listed_paths(flag: str, given: str) -> list[str]:
    """Return the runs or checkpoints that the value of a flag names.

    A name with commas is a list, unless a file or folder has this very name.

    Raises:
        UserError: a name in a list is empty.
    """
    whole = expanded(given)
    # A checkpoint is several files, whose names begin with its own.
    single = whole.exists() or pathlib.Path(f"{whole}.index").exists()
    paths = [given] if single else [path.strip() for path in given.split(",")]
    if not all(paths):
        raise UserError(f"--{flag}={given}: a name in the list is empty; remove the extra comma")
    return paths


def ensemble_weights() -> list[float] | None:
    """Return --ensemble_weights as numbers; None: not given.

    Raises:
        UserError: a weight is not a number.
    """
    try:
        return [float(text) for text in FLAGS.ensemble_weights] if FLAGS.ensemble_weights else None
    except ValueError:
        shown = ",".join(FLAGS.ensemble_weights)
        raise UserError(
            f"--ensemble_weights={shown}: expected a number for each model, such as 2,1,1"
        ) from None


def load(*, ensembles: bool = True) -> tuple[TrainedModel, Vocabularies]:
    """Return the model that the flags name and its vocabularies; note its checkpoint on stderr.

    Args:
        ensembles: whether the command can work with several models.

    Raises:
        UserError: a model is missing or contradicts the flags, or several do not fit together.
    """
    from t2t_phrase.runs.load_ensemble import load_models
    from t2t_phrase.runs.vocabulary import run_vocabularies

    paths, weights = model_paths(), ensemble_weights()
    if len(paths) > 1 and not ensembles:
        raise UserError(f"{', '.join(paths)}: this command works with one model; name one of them")
    if len(paths) == 1 and weights is not None:
        raise UserError("--ensemble_weights: is only used with several models in --output_dir")
    trained = load_models(paths, weights, dtype_policy=FLAGS.dtype_policy)
    for member in trained.members:
        for flag in ("problem", "model", "hparams_set"):
            given, recorded = FLAGS[flag].value, getattr(member.record, flag)
            if given and recorded and given != recorded:
                raise UserError(
                    f"--{flag}={given}: {member.checkpoint} is a run of {recorded}; leave the "
                    "flag out, or give another --output_dir"
                )
    first = trained.members[0]
    vocabularies = run_vocabularies(first, data_dir=FLAGS.data_dir, problem=FLAGS.problem)
    _note_checkpoints(trained)
    return trained, vocabularies


def load_second(flag: str, given: str) -> tuple[TrainedModel, Vocabularies]:
    """Return a model to compare with, and its vocabularies; note its checkpoint on stderr.

    Args:
        flag: the flag that names the model.
        given: its run or checkpoint, or a list for an ensemble.

    Raises:
        UserError: there is no model, or several do not fit together.
    """
    from t2t_phrase.runs.load_ensemble import load_models
    from t2t_phrase.runs.vocabulary import run_vocabularies

    trained = load_models(listed_paths(flag, given), dtype_policy=FLAGS.dtype_policy)
    vocabularies = run_vocabularies(trained.members[0], data_dir=FLAGS.data_dir)
    _note_checkpoints(trained)
    return trained, vocabularies


def _note_checkpoints(trained: TrainedModel) -> None:
    for member in trained.members:
        note(f"{member.checkpoint} (step {member.step}): {member.record.hparams_set}")

"""t2t-phrase-decoder: translates text, or scores translations, with a trained model."""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.decode_dictionaries import (
    define_dictionary_flags,
    given_dictionaries,
    refuse_dictionaries,
)
from t2t_phrase.bin.source_features import annotator, define_feature_flags
from t2t_phrase.bin.unknown_words import define_unknown_flags, given_unknown
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.features import of_side

if TYPE_CHECKING:
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Vocabularies

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    from t2t_phrase.bin.alignment_search import define_alignment_flags

    define_model_flags()
    define_alignment_flags()
    flags.DEFINE_string("decode_from_file", None, "File to translate; default: standard input.")
    flags.DEFINE_string(
        "decode_to_file",
        None,
        "File for the translations or scores; default: FILE.MODEL.SET.PROBLEM.beamB.alphaA.decodes "
        "for --decode_from_file=FILE, standard output otherwise. What is done is kept in the same "
        "name with .part appended, from where the same command continues.",
    )
    flags.DEFINE_bool("decode_interactive", False, "Translate lines as you type them.")
    flags.DEFINE_string(
        "score_file",
        None,
        "File with source<TAB>target in each line: write the negative log-probability of each "
        "target, in nats, instead of translating.",
    )
    define_feature_flags()
    define_dictionary_flags()
    define_unknown_flags()
    flags.DEFINE_string(
        "decode_hparams", "", "Options of decoding, such as beam_size=4,alpha=0.6,extra_length=50."
    )
    flags.DEFINE_integer(
        "random_seed", None, "Seed of sampling; the same as random_seed in --decode_hparams."
    )
    flags.DEFINE_bool("xla_compile", None, "Compile with XLA; default: only on a GPU.")


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
        "A positive number for each model of an ensemble, in their order; default: all are equal.",
    )
    flags.DEFINE_enum(
        "dtype_policy",
        None,
        ["float32", "mixed_bfloat16"],
        "What the model computes with; default: as in its training.",
    )
    flags.DEFINE_string("data_dir", None, "Folder of the vocabulary.")
    flags.DEFINE_string("problem", None, "If given, must be that of the run.")
    flags.DEFINE_string("model", None, "If given, must be that of the run.")
    flags.DEFINE_string("hparams_set", None, "If given, must be that of the run.")
    flags.DEFINE_string(
        "t2t_usr_dir", "", "Folder of a Python package with your own registrations."
    )


def model_paths() -> list[str]:
    """Return the run or checkpoint of each model that the flags name.

    A name with commas is a list, unless a file or folder has this very name.

    Raises:
        UserError: a name in a list is empty.
    """
    from t2t_phrase.runs.directory import BEST

    best = FLAGS.checkpoint_path == BEST
    flag = "output_dir" if best or not FLAGS.checkpoint_path else "checkpoint_path"
    given = FLAGS[flag].value
    if not given:
        raise app.UsageError("--output_dir (or the --checkpoint_path of one checkpoint) is needed")
    whole = pathlib.Path(given).expanduser()
    # A checkpoint is several files, whose names begin with its own.
    single = whole.exists() or pathlib.Path(f"{whole}.index").exists()
    paths = [given] if single else [path.strip() for path in given.split(",")]
    if not all(paths):
        raise UserError(f"--{flag}={given}: a name in the list is empty; remove the extra comma")
    return [f"{path}/{BEST}" for path in paths] if best else paths


def ensemble_weights() -> list[float] | None:
    """Return --ensemble_weights as numbers; None: not given.

    Raises:
        UserError: one is not a number.
    """
    try:
        return [float(text) for text in FLAGS.ensemble_weights] if FLAGS.ensemble_weights else None
    except ValueError:
        shown = ",".join(FLAGS.ensemble_weights)
        raise UserError(
            f"--ensemble_weights={shown}: expected a number for each model, such as 2,1,1"
        ) from None


def load(*, ensembles: bool = True) -> tuple[TrainedModel, Vocabularies]:
    """Return the model that the flags name and its vocabularies; say on stderr which it is.

    Args:
        ensembles: whether the command can work with several models.

    Raises:
        UserError: there is none, it is not what the flags say, or several do not fit together.
    """
    from t2t_phrase.runs.load_ensemble import load_ensemble
    from t2t_phrase.runs.load_model import load_model
    from t2t_phrase.runs.vocabulary import run_vocabularies

    paths, weights = model_paths(), ensemble_weights()
    if len(paths) > 1 and not ensembles:
        raise UserError(f"{', '.join(paths)}: this command works with one model; name one of them")
    if len(paths) == 1 and weights is not None:
        raise UserError("--ensemble_weights: is only used with several models in --output_dir")
    dtype = FLAGS.dtype_policy
    if len(paths) == 1:
        trained = load_model(paths[0], dtype_policy=dtype)
    else:
        trained = load_ensemble(paths, weights, dtype_policy=dtype)
    for member in trained.members:
        for flag in ("problem", "model", "hparams_set"):
            given, recorded = FLAGS[flag].value, getattr(member.record, flag)
            if given and recorded and given != recorded:
                raise UserError(
                    f"--{flag}={given}: {member.checkpoint} is a run of {recorded}; leave the flag "
                    "out, or give another --output_dir"
                )
    first = trained.members[0]
    vocabularies = run_vocabularies(first, data_dir=FLAGS.data_dir, problem=FLAGS.problem)
    for member in trained.members:
        note(f"{member.checkpoint} (step {member.step}): {member.record.hparams_set}")
    return trained, vocabularies


def note(text: str) -> None:
    """Print to standard error; standard output is for results."""
    print(text, file=sys.stderr, flush=True)


def main(argv: Sequence[str]) -> None:
    """Translate or score."""
    del argv
    hparams = DecodeHParams().override(FLAGS.decode_hparams)
    if FLAGS.random_seed is not None:
        hparams = hparams.replace(random_seed=FLAGS.random_seed)
    tasks = [f for f in ("decode_from_file", "decode_interactive", "score_file") if FLAGS[f].value]
    if len(tasks) > 1:
        raise app.UsageError(f"--{tasks[0]} and --{tasks[1]} exclude each other")
    registry.discover(FLAGS.t2t_usr_dir)
    from t2t_phrase.bin import decode_files

    if FLAGS.decode_interactive:
        converse(hparams)
    elif FLAGS.score_file:
        decode_files.score(hparams)
    else:
        decode_files.translate(hparams)


def converse(hparams: DecodeHParams) -> None:
    """Answer typed lines until `q` or the end of the input."""
    from t2t_phrase.bin.alignment_search import searched
    from t2t_phrase.decoding.interactive import HELP, Conversation
    from t2t_phrase.decoding.translator import Translator

    if sys.stdin is None:
        raise UserError("standard input is closed; there is nobody to type")
    refuse_dictionaries("decode_interactive", ["sentence_dictionary"])
    given, unknown = given_dictionaries(), given_unknown(hparams)
    trained, vocabularies = load()
    used = searched(trained, vocabularies, hparams)
    dictionary = given.encoded(vocabularies)
    conversation = Conversation(
        lambda options: Translator(
            used.model,
            vocabularies,
            options,
            dictionary=dictionary,
            unknown_words=unknown.words,
            make_expansion=used.make_expansion,
            xla=FLAGS.xla_compile,
        ),
        hparams,
        annotate=annotator(of_side(used.model.hparams.features, "source")),
    )
    note(HELP)
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.buffer.readline()
        if not line:
            return
        try:
            answer = conversation.answer(line.decode("utf-8").rstrip("\r\n"))
        except UnicodeDecodeError:
            answer = "error: this is not valid UTF-8; type it again"
        except UserError as error:
            answer = f"error: {error}"
        if answer is None:
            return
        print(answer, flush=True)


class Ticker:
    """Reports progress on standard error every ten seconds.

    Args:
        verb: what is done to lines.
        total: how many there are; None: unknown.
    """

    def __init__(self, verb: str, total: int | None) -> None:
        self._verb, self._total = verb, total
        self.start(0)

    def start(self, done: int) -> None:
        """Begin to measure the time that lines take.

        Args:
            done: number of lines that are done already.
        """
        self._before = done
        self._begin = self._last = time.monotonic()

    def __call__(self, done: int) -> None:
        """Report the number of lines that are done, if it is time."""
        now = time.monotonic()
        if now - self._last < 10:
            return
        self._last = now
        if self._total is None:
            note(f"{self._verb} {done} lines")
            return
        seconds = (now - self._begin) / max(1, done - self._before) * (self._total - done)
        left = f", about {seconds / 60:.0f} min left" if seconds >= 90 else ""
        note(f"{self._verb} {done} of {self._total} lines{left}")


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

"""t2t-phrase-serve: serves a trained or exported model over HTTP, as TensorFlow Serving does.

t2t-phrase-serve --output_dir=runs/mine --data_dir=data --port=8501
t2t-phrase-serve --export_dir=runs/mine/export --model_name=ende
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.backend import TENSORFLOW, check_backend
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.bin.integer_products import note_slow_integers
from t2t_phrase.bin.model_flags import define_model_flags, load, model_paths
from t2t_phrase.bin.translation_flags import (
    UNKNOWN_DICTIONARY,
    define_alignment_flag,
    define_unknown_flag,
)
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import SHORTLISTS, DecodeHParams
from t2t_phrase.decoding.unknown_files import read_unknown
from t2t_phrase.io.reporting import note
from t2t_phrase.serving.hparams import ServingHParams
from t2t_phrase.serving.installed import check_installed

if TYPE_CHECKING:
    from t2t_phrase.serving.versions import Versions

FLAGS = flags.FLAGS
# Flags for settings that an export already contains.
_OF_RUNS = (
    *("checkpoint_path", "data_dir", "decode_hparams", "dtype_policy", "ensemble_weights"),
    *("alignment_model_dir", "unknown_dictionary", "problem", "model", "hparams_set"),
    "t2t_usr_dir",
)


def define_flags() -> None:
    """Define the command's flags."""
    define_model_flags()
    define_alignment_flag()
    define_unknown_flag()
    flags.DEFINE_string(
        "export_dir",
        None,
        "Folder of exported versions, instead of --output_dir; it is watched for new ones.",
    )
    flags.DEFINE_string(
        "decode_hparams", "", "Options of decoding, such as beam_size=4,alpha=0.6,extra_length=50."
    )
    flags.DEFINE_string(
        "model_name", None, "Name of the model in URLs; default: that of the folder."
    )
    flags.DEFINE_integer("port", 8501, "Port; 0: any free port.", 0, 65535)
    flags.DEFINE_string(
        "host",
        "127.0.0.1",
        "Address to listen on; the default accepts connections from this machine only, 0.0.0.0 "
        "from all.",
    )
    flags.DEFINE_string(
        "serving_hparams", "", "Limits, such as max_batch_size=64,max_queue=1024,timeout=30."
    )


def main(argv: Sequence[str]) -> None:
    """Serve until a signal arrives."""
    del argv
    check_backend(TENSORFLOW)
    check_installed()
    refuse_empty("export_dir", "alignment_model_dir", UNKNOWN_DICTIONARY)
    if bool(FLAGS.export_dir) == bool(FLAGS.output_dir or FLAGS.checkpoint_path):
        raise app.UsageError("give either --output_dir (or --checkpoint_path) or --export_dir")
    limits = ServingHParams().override(FLAGS.serving_hparams)
    from t2t_phrase.cores import divide_cores
    from t2t_phrase.serving.names import model_name
    from t2t_phrase.serving.server import TranslationServer, bind

    name = model_name(FLAGS.model_name, FLAGS.export_dir or model_paths()[0])
    # A mistake here should show before a model is loaded.
    listener = bind(FLAGS.host, FLAGS.port)
    workers = limits.workers or divide_cores(None)
    versions, page = (of_exports(limits), None) if FLAGS.export_dir else of_run(name)
    TranslationServer(name, versions, limits, listener=listener, workers=workers, page=page).run()


def of_exports(limits: ServingHParams) -> Versions:
    """Return the exported versions that the flags name.

    Raises:
        UserError: there is no version, or a flag is given whose value is part of an export.
    """
    from t2t_phrase.serving.service import watched_exports

    for flag in _OF_RUNS:
        if FLAGS[flag].value:
            raise UserError(f"--{flag}: is part of an export; leave it out, or export again")
    return watched_exports(FLAGS.export_dir, limits)


def of_run(name: str) -> tuple[Versions, Callable[[str], str] | None]:
    """Return the model of the run or runs that the flags name, and its page.

    Args:
        name: the name of the model.
    """
    from t2t_phrase.api.alignment_search import searched
    from t2t_phrase.api.live_page import live_page
    from t2t_phrase.api.sentence_viewer import explained_model
    from t2t_phrase.serving.explained import LONGEST
    from t2t_phrase.serving.graph_servable import servable_of_run
    from t2t_phrase.serving.versions import OneVersion

    hparams = DecodeHParams().override(FLAGS.decode_hparams)
    for field in hparams.given(SHORTLISTS):
        raise UserError(
            f"{field}={getattr(hparams, field)}: a run is served without a lexicon; export it with "
            "t2t-phrase-exporter --lexicon_file and give --export_dir, or leave the option out"
        )
    note_slow_integers(hparams)
    unknown = read_unknown(hparams, FLAGS.unknown_dictionary or "")
    registry.discover(FLAGS.t2t_usr_dir)
    trained, vocabularies = load()
    used = searched(
        trained,
        vocabularies,
        hparams,
        FLAGS.alignment_model_dir,
        dtype_policy=FLAGS.dtype_policy,
    )
    servable = servable_of_run(
        used.model,
        vocabularies,
        hparams,
        version=trained.step,
        make_expansion=used.make_expansion,
        unknown_words=unknown.words,
    )
    explained = explained_model(
        trained,
        vocabularies,
        hparams,
        used=used,
        data_dir=FLAGS.data_dir,
        unknown_words=unknown.words,
    )
    try:
        page = live_page(explained, name, longest=LONGEST)
    except UserError as error:
        note(f"the page at / cannot explain sentences: {error}")
        page = None
    return OneVersion(servable), page


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

"""t2t-phrase-exporter: exports a model as a SavedModel on strings, or for CTranslate2 or ONNX.

t2t-phrase-exporter --output_dir=runs/mine --export_dir=served --decode_hparams=beam_size=4
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from absl import flags

import t2t_phrase
from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.backend import TENSORFLOW, check_backend
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.bin.model_flags import define_model_flags, ensemble_weights, load, model_paths
from t2t_phrase.bin.translation_flags import (
    LEXICON_FILE,
    UNKNOWN_DICTIONARY,
    define_alignment_flag,
    define_lexicon_flag,
    define_unknown_flag,
)
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.lexicon_files import read_lexicon
from t2t_phrase.decoding.unknown_files import read_unknown

if TYPE_CHECKING:
    from t2t_phrase.runs.load_model import TrainedModel

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    define_model_flags()
    define_alignment_flag()
    define_unknown_flag()
    define_lexicon_flag()
    flags.DEFINE_enum(
        "format",
        "saved_model",
        ["saved_model", "ctranslate2", "onnx"],
        "A TensorFlow SavedModel from strings to strings, a plain Transformer for CTranslate2, or "
        "the graphs of encoder and decoding step for ONNX.",
    )
    flags.DEFINE_string(
        "export_dir",
        None,
        "Folder of the exported versions; default: `export`, `ctranslate2` or `onnx` in "
        "--output_dir.",
    )
    flags.DEFINE_string(
        "decode_hparams", "", "Options of decoding, such as beam_size=4,alpha=0.6,extra_length=50."
    )


def main(argv: Sequence[str]) -> None:
    """Export the next version."""
    del argv
    check_backend(TENSORFLOW)
    refuse_empty("export_dir", "alignment_model_dir", LEXICON_FILE, UNKNOWN_DICTIONARY)
    if FLAGS.format != "saved_model":
        check_no_search(FLAGS.format)
    hparams = DecodeHParams().override(FLAGS.decode_hparams)
    unknown = read_unknown(hparams, FLAGS.unknown_dictionary or "")
    lexicon = read_lexicon(hparams, FLAGS.lexicon_file or "")
    paths = model_paths()
    if not (FLAGS.export_dir or FLAGS.output_dir):
        raise UserError("--export_dir is required if --output_dir is not given")
    if not FLAGS.export_dir and len(paths) > 1:
        raise UserError("--export_dir is required for an ensemble, which has no folder of its own")
    registry.discover(FLAGS.t2t_usr_dir)
    trained, vocabularies = load()
    if FLAGS.format != "saved_model":
        if FLAGS.format == "ctranslate2":
            from t2t_phrase.export.ctranslate2_model import export_ctranslate2 as export_steps
        else:
            from t2t_phrase.export.onnx_model import export_onnx as export_steps

        folder = export_steps(
            trained.model,
            vocabularies,
            FLAGS.export_dir or f"{FLAGS.output_dir}/{FLAGS.format}",
            about={**about(trained), "version": t2t_phrase.__version__},
        )
        print(f"exported to {folder}")
        return
    from t2t_phrase.api.alignment_search import searched
    from t2t_phrase.export.saved_model import export

    used = searched(
        trained,
        vocabularies,
        hparams,
        FLAGS.alignment_model_dir,
        dtype_policy=FLAGS.dtype_policy,
    )
    second = {} if used.second is None else {"alignment_checkpoint": used.second.checkpoint}
    folder = export(
        used.model,
        vocabularies,
        hparams,
        FLAGS.export_dir or f"{FLAGS.output_dir}/export",
        about={
            **about(trained),
            **second,
            **unknown.settings,
            **lexicon.settings,
            "version": t2t_phrase.__version__,
        },
        make_expansion=used.make_expansion,
        unknown_words=unknown.words,
        shortlister=lexicon.shortlister(vocabularies, hparams),
    )
    print(f"exported to {folder}")


# By format: the export, the program that would search, where the options of the search are given,
# and where the type of numbers is chosen.
_WITHOUT_SEARCH = {
    "ctranslate2": (
        "a model for CTranslate2",
        "CTranslate2",
        "give them to ctranslate2.Translator.translate_batch",
        "choose the compute_type of ctranslate2.Translator",
    ),
    "onnx": (
        "a model for ONNX",
        "an export for ONNX",
        "the program that runs its steps does the search",
        "use onnxruntime.quantization for fewer bits",
    ),
}


def check_no_search(chosen: str) -> None:
    """Refuse options of search and computation, which models for other toolkits do not hold.

    Args:
        chosen: the format, "ctranslate2" or "onnx".

    Raises:
        UserError: such a flag is given.
    """
    exported, runner, search, numbers = _WITHOUT_SEARCH[chosen]
    if FLAGS.decode_hparams:
        raise UserError(f"--decode_hparams: {exported} stores no search options; {search}")
    if FLAGS.dtype_policy:
        raise UserError(f"--dtype_policy={FLAGS.dtype_policy}: {exported} holds float32; {numbers}")
    if FLAGS.lexicon_file:
        raise UserError(
            f"--lexicon_file: {exported} cannot hold a lexicon of this library; export a SavedModel"
        )
    if FLAGS.unknown_dictionary:
        raise UserError(
            f"--{UNKNOWN_DICTIONARY}: {exported} replaces no unknown words; export a SavedModel"
        )
    if FLAGS.alignment_model_dir:
        raise UserError(
            f"--alignment_model_dir: {runner} has no search with a second model; export a "
            "SavedModel"
        )


def about(trained: TrainedModel) -> dict[str, Any]:
    """Return the facts about the exported model, or about each member of an ensemble."""
    facts = [
        {
            "checkpoint": member.checkpoint,
            "step": member.step,
            "problem": member.record.problem,
            "model": member.record.model,
            "hparams_set": member.record.hparams_set,
            "dtype_policy": member.model.hparams.dtype_policy,
        }
        for member in trained.members
    ]
    if len(facts) == 1:
        return facts[0]
    return {"ensemble": facts, "ensemble_weights": ensemble_weights()}


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

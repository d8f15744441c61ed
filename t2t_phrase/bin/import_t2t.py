"""t2t-phrase-import: converts a tensor2tensor checkpoint to a run of this library.

    t2t-phrase-import --checkpoint_path=t2t_train/model.ckpt-250000 --output_dir=runs/imported \\
        --vocab_file=vocab.translate_ende_wmt32k.32768.subwords --hparams_set=transformer_base

The decoder and exporter accept the result as `--output_dir`, the trainer as `--warm_start_from`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.config import UserError
from t2t_phrase.io.files import expanded

if TYPE_CHECKING:
    from t2t_phrase.models.transformer_hparams import TransformerHParams
    from t2t_phrase.tensor2tensor.checkpoint_import import Imported

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_string("checkpoint_path", None, "Training folder or checkpoint of tensor2tensor.")
    flags.DEFINE_string("output_dir", None, "Folder of the new run.")
    flags.DEFINE_string("model", "transformer", "Registered name of the model.")
    flags.DEFINE_string("hparams_set", "transformer_base", "The hparams set of the checkpoint.")
    flags.DEFINE_string("hparams", "", "Overrides of the set, such as num_heads=4,norm=post.")
    flags.DEFINE_string(
        "vocab_file", None, "tensor2tensor's vocab.*.subwords; it is copied into the run."
    )
    flags.DEFINE_string("target_vocab_file", None, "The target's vocabulary, if it is separate.")
    flags.DEFINE_string(
        "problem", None, "Problem of this library whose vocabulary the model was trained with."
    )
    flags.DEFINE_string("data_dir", None, "Folder with that problem's vocabulary.")
    flags.DEFINE_string("t2t_usr_dir", "", "Python package with your own registrations.")


def main(argv: Sequence[str]) -> None:
    """Read the checkpoint, write the run, and report what was found."""
    del argv
    check_flags()
    registry.discover(FLAGS.t2t_usr_dir)
    from t2t_phrase.runs.record import RunRecord
    from t2t_phrase.tensor2tensor.checkpoint_import import write_run

    hparams = chosen_hparams()
    files = [str(expanded(name)) for name in (FLAGS.vocab_file, FLAGS.target_vocab_file) if name]
    imported = read_checkpoint(hparams, files)
    vocabulary, target_vocabulary = problem_vocabularies()
    path = write_run(
        imported,
        FLAGS.output_dir,
        RunRecord(
            problem=FLAGS.problem or "",
            model=FLAGS.model,
            hparams_set=FLAGS.hparams_set,
            overrides=FLAGS.hparams,
            hparams=hparams.to_dict(),
            vocab_size=imported.vocab_size,
            vocabulary=vocabulary,
            target_vocab_size=imported.target_vocab_size,
            target_vocabulary=target_vocabulary,
            random_seed=0,
            t2t_usr_dir=str(expanded(FLAGS.t2t_usr_dir).resolve()) if FLAGS.t2t_usr_dir else "",
        ),
        vocabularies=files,
    )
    report(imported, hparams)
    print(f"written to {path}")


def check_flags() -> None:
    """Refuse flags that are missing or do not fit together.

    Raises:
        UserError: flags do not fit together.
        UsageError: a flag is missing.
    """
    refuse_empty("vocab_file", "target_vocab_file")
    if not FLAGS.checkpoint_path or not FLAGS.output_dir:
        raise app.UsageError("--checkpoint_path and --output_dir are required")
    if FLAGS.vocab_file and FLAGS.problem:
        raise UserError("--vocab_file and --problem both name a vocabulary; give only one")
    if FLAGS.data_dir and not FLAGS.problem:
        raise UserError("--data_dir holds the vocabulary of a problem: also give --problem")
    if FLAGS.target_vocab_file and not FLAGS.vocab_file:
        raise UserError("--target_vocab_file is for the target only: also give --vocab_file")


def chosen_hparams() -> TransformerHParams:
    """Return the hparams that the flags name.

    Raises:
        UserError: they are not those of a Transformer.
    """
    from t2t_phrase.models.transformer_hparams import TransformerHParams
    from t2t_phrase.runs.record import resolve_hparams

    hparams, _ = resolve_hparams(FLAGS.hparams_set, FLAGS.hparams)
    if not isinstance(hparams, TransformerHParams):
        raise UserError(
            f"--hparams_set={FLAGS.hparams_set}: only Transformers are imported; give the set that "
            "corresponds to that of the checkpoint, such as transformer_base"
        )
    return hparams


def read_checkpoint(hparams: TransformerHParams, files: Sequence[str]) -> Imported:
    """Return the checkpoint that the flags name.

    Args:
        hparams: of the model.
        files: its vocabularies, the source's first.

    Raises:
        UserError: the checkpoint cannot be read, or does not fit the hparams or the vocabularies.
    """
    from t2t_phrase.tensor2tensor.checkpoint_import import read_t2t_checkpoint
    from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords

    imported = read_t2t_checkpoint(
        FLAGS.checkpoint_path,
        hparams,
        model=FLAGS.model,
        source_vocab_size=T2TSubwords.load(files[0]).vocab_size if files else None,
    )
    if files and len(files) != (1 if imported.target_vocab_size is None else 2):
        kinds = ("one vocabulary for both languages", "a vocabulary for each language")
        raise UserError(
            f"{FLAGS.checkpoint_path} has {kinds[len(files) == 1]}: give --vocab_file"
            + (" and --target_vocab_file" if len(files) == 1 else " alone")
        )
    return imported


def report(imported: Imported, hparams: TransformerHParams) -> None:
    """Print what was found in the checkpoint, and what was not.

    Args:
        imported: the checkpoint.
        hparams: of the model.
    """
    sizes = " and ".join(map(str, filter(None, (imported.vocab_size, imported.target_vocab_size))))
    print(f"{len(imported.tensors)} variables imported, vocabulary of {sizes}")
    for sentence in imported.notes:
        print(sentence)
    print(f"not used: {imported.state} variables of the optimizer and counters")
    for name in imported.unused:
        print(f"not used: {name}")
    for name in ("num_heads", "pos", "target_space_id"):
        if name not in imported.sizes:
            print(f"{name}={getattr(hparams, name)}: from the hparams, not in the checkpoint")


def problem_vocabularies() -> tuple[str, str]:
    """Return the checksums of the problem's vocabularies; empty if there is none to check."""
    from t2t_phrase.data.problem import get_problem
    from t2t_phrase.runs.vocabulary import checksums

    problem = get_problem(FLAGS.problem) if FLAGS.problem else None
    if problem is None or not FLAGS.data_dir:
        return "", ""
    return checksums(problem.vocabularies(FLAGS.data_dir))


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

"""t2t-phrase-import: turns a tensor2tensor checkpoint into a run of ours.

    t2t-phrase-import --checkpoint_path=t2t_train/model.ckpt-250000 --hparams_set=transformer_base \
        --vocab_file=vocab.translate_ende_wmt32k.32768.subwords --output_dir=runs/imported

The decoder and the exporter take the result as `--output_dir`, the trainer as `--warm_start_from`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.config import UserError

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_string("checkpoint_path", None, "tensor2tensor's training folder or checkpoint.")
    flags.DEFINE_string("output_dir", None, "Folder of the new run.")
    flags.DEFINE_string("model", "transformer", "Registered name of the model.")
    flags.DEFINE_string("hparams_set", "transformer_base", "The set it was trained with.")
    flags.DEFINE_string("hparams", "", "Changes to the set, a=1,b=2.")
    flags.DEFINE_string(
        "vocab_file", None, "tensor2tensor's vocab.*.subwords; it goes into the run."
    )
    flags.DEFINE_string(
        "problem", None, "Our problem whose vocabulary the model was trained with, if so."
    )
    flags.DEFINE_string("data_dir", None, "Folder with that problem's vocabulary.")
    flags.DEFINE_string("t2t_usr_dir", "", "Python package with registrations of your own.")


def main(argv: Sequence[str]) -> None:
    """Read the checkpoint, say what was found, write the run."""
    del argv
    if not FLAGS.checkpoint_path or not FLAGS.output_dir:
        raise app.UsageError("--checkpoint_path and --output_dir are needed")
    if FLAGS.vocab_file and FLAGS.problem:
        raise UserError("--vocab_file and --problem both name a vocabulary; give one of them")
    registry.discover(FLAGS.t2t_usr_dir)
    from t2t_phrase.runs.record import RunRecord, resolve_hparams
    from t2t_phrase.tensor2tensor.checkpoint_import import read_t2t_checkpoint, write_run

    hparams, _ = resolve_hparams(FLAGS.hparams_set, FLAGS.hparams)
    imported = read_t2t_checkpoint(FLAGS.checkpoint_path, hparams, model=FLAGS.model)
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
            vocabulary=problem_vocabulary(),
            random_seed=0,
        ),
        vocabulary=FLAGS.vocab_file,
    )
    print(f"{len(imported.tensors)} variables imported, vocabulary of {imported.vocab_size}")
    for sentence in imported.notes:
        print(sentence)
    print(f"not used: {imported.state} variables of the optimizer and counters")
    for name in imported.unused:
        print(f"not used: {name}")
    for name in ("num_heads", "pos", "target_space_id"):
        if name not in imported.sizes:
            print(f"{name}={getattr(hparams, name)}: from the hparams, the checkpoint cannot tell")
    print(f"written to {path}")


def problem_vocabulary() -> str:
    """Return the checksum of the problem's vocabulary, if there is one to check against."""
    if not (FLAGS.problem and FLAGS.data_dir):
        return ""
    from t2t_phrase.data.problem import get_problem

    model_bytes = get_problem(FLAGS.problem).vocabularies(FLAGS.data_dir).source.model_bytes
    return hashlib.sha256(model_bytes).hexdigest()


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()

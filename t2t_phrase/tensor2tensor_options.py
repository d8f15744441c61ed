"""Counterparts of tensor2tensor's options that have another name here, for messages.

Options without a counterpart are not listed. In messages, each value follows the word "use".
"""

from __future__ import annotations

from collections.abc import Mapping

# Options of `--hparams`.
HPARAMS: Mapping[str, str] = {
    "activation_dtype": "dtype_policy",
    "layer_postprocess_sequence": "norm=pre or norm=post",
    "layer_preprocess_sequence": "norm=pre or norm=post",
    "learning_rate": "learning_rate_constant",
    "learning_rate_decay_scheme": "learning_rate_schedule",
    "max_input_seq_length": "max_length",
    "max_target_seq_length": "max_length",
    "optimizer_multistep_accumulate_steps": "effective_batch_size, the tokens of an update",
    "self_attention_type": "max_relative_position, 0 for absolute positions only",
    "shared_embedding": "share_source_embedding",
    "symbol_dropout": "source_word_dropout and target_word_dropout",
    "weight_decay": "optimizer=adamw,optimizer_options=[weight_decay=0.01]",
    "weight_dtype": "dtype_policy",
}

# Options of `--decode_hparams`.
DECODE_HPARAMS: Mapping[str, str] = {
    "min_length_ratio": "min_length, the fewest tokens",
    "num_decodes": "num_samples, with sampling_temp",
    "write_beam_scores": "write_scores",
}

# Flags of all commands.
FLAGS: Mapping[str, str] = {
    "bleu_variant": "--lowercase, for BLEU without case",
    "decode_from_file": "t2t-phrase-decoder after training",
    "decode_reference": "t2t-phrase-eval --reference",
    "decode_to_file": "t2t-phrase-decoder after training",
    "eval_throttle_seconds": "--local_eval_frequency, in updates",
    "eval_use_test_set": "t2t-phrase-decoder and t2t-phrase-eval after training",
    "gpu_automatic_mixed_precision": "--hparams=dtype_policy=mixed_float16",
    "keep_checkpoint_every_n_hours": "--keep_checkpoint_max",
    "num_concurrent_processes": "--num_workers",
    "ps_replicas": "t2t-phrase-cluster",
    "task_id_end": "--task_id and --num_tasks",
    "task_id_start": "--task_id and --num_tasks",
    "worker_id": "t2t-phrase-cluster",
    "worker_replicas": "t2t-phrase-cluster",
    "xla_jit_level": "--xla_compile",
}

# Hparams sets: variations of tensor2tensor's base set.
_FIELDS: Mapping[str, Mapping[str, float]] = {
    "num_hidden_layers": {"l2": 2, "l4": 4, "l8": 8, "l10": 10},
    "num_heads": {"h1": 1, "h4": 4, "h16": 16, "h32": 32},
    "filter_size": {"ff1024": 1024, "ff4096": 4096},
    "layer_prepostprocess_dropout": {"dr0": 0.0, "dr2": 0.2},
    "label_smoothing": {"ls0": 0.0, "ls2": 0.2},
    "hidden_size": {"hs256": 256, "hs1024": 1024},
    "effective_batch_size": {"base_multistep8": 32768},
}
HPARAMS_SETS: Mapping[str, str] = {
    **{
        f"transformer_{name}": f"transformer_base with --hparams={field}={value}"
        for field, values in _FIELDS.items()
        for name, value in values.items()
    },
    "transformer_big_dr1": "transformer_big with --hparams=layer_prepostprocess_dropout=0.1",
}


def flag_instead(name: str) -> str:
    """Return the counterpart of a flag of tensor2tensor, or "" if none is known.

    Args:
        name: without dashes; tensor2tensor also takes `--hp_NAME=VALUE`.
    """
    if name.startswith("hp_"):
        return f"--hparams={name.removeprefix('hp_')}=..."
    return FLAGS.get(name, "")

"""The flags of the trainer."""

from __future__ import annotations

from absl import flags

SCHEDULES = ("continuous_train_and_eval", "train_and_evaluate", "train", "evaluate")


def define_flags() -> None:
    """Define the command's flags, with tensor2tensor's names and most of its defaults.

    Defaults that differ: all GPUs are used, the seed is fixed, and the metric of early stopping
    determines its direction.
    """
    flags.DEFINE_string(
        "problem",
        None,
        "The problem to train on; append _rev to reverse its direction. Required for a new run.",
    )
    flags.DEFINE_string("model", None, "A registered model; default: that of the hparams set.")
    flags.DEFINE_string(
        "hparams_set", None, "A registered set of hyperparameters. Required for a new run."
    )
    flags.DEFINE_string("hparams", "", "Changes to the set: batch_size=2048,num_heads=4.")
    flags.DEFINE_string(
        "hparams_file", "", "The same in a .json or .yaml file; --hparams takes precedence."
    )
    flags.DEFINE_string("data_dir", None, "Folder written by t2t-phrase-datagen. Required.")
    flags.DEFINE_string(
        "output_dir", None, "Folder of the run; if it has checkpoints, training resumes. Required."
    )
    flags.DEFINE_integer(
        "train_steps",
        250000,
        "Step at which training ends, counted from the start of the run.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "eval_steps",
        100,
        "Batches of the development set used for its loss; 0: all.",
        lower_bound=0,
    )
    flags.DEFINE_integer(
        "local_eval_frequency",
        1000,
        "Steps between checkpoints, each with an evaluation.",
        lower_bound=1,
    )
    flags.DEFINE_integer("keep_checkpoint_max", 20, "Checkpoints to keep.", lower_bound=1)
    flags.DEFINE_float(
        "save_checkpoints_secs",
        0,
        "Seconds between additional checkpoints; 0: none.",
        lower_bound=0,
    )
    flags.DEFINE_integer(
        "log_step_count_steps", 100, "Steps between progress lines.", lower_bound=1
    )
    flags.DEFINE_integer(
        "worker_gpu",
        0,
        "Number of GPUs (or, with JAX, TPU cores); 0: all of them, or the CPU if there are none.",
        lower_bound=0,
    )
    flags.DEFINE_float(
        "worker_timeout",
        60,
        "Seconds that another worker of TF_CONFIG may be silent; then all stop and name it.",
        lower_bound=2,
    )
    flags.DEFINE_enum(
        "schedule",
        "continuous_train_and_eval",
        SCHEDULES,
        "The first two are the same; train does not evaluate; evaluate scores the latest "
        "checkpoint.",
    )
    flags.DEFINE_string(
        "warm_start_from", "", "A run or checkpoint to take the initial weights from."
    )
    flags.DEFINE_enum(
        "warm_start_vocab",
        "same",
        ["same", "map", "new"],
        "If that run has a different vocabulary: same refuses it; map copies the rows of the "
        "entries that both have; new trains embeddings and softmax from random values.",
    )
    flags.DEFINE_integer(
        "random_seed",
        1234,
        "Seed of initial weights, data order and dropout.",
        lower_bound=0,
        upper_bound=2**32 - 1,
    )
    flags.DEFINE_bool(
        "xla_compile", None, "Compile with XLA, as JAX always does; default: only on a GPU."
    )
    flags.DEFINE_bool(
        "eval_run_autoregressive", True, "Translate the development set and report BLEU."
    )
    flags.DEFINE_string("decode_hparams", "", "Options of that translation: beam_size=4,alpha=0.6.")
    flags.DEFINE_integer(
        "eval_early_stopping_steps",
        0,
        "Stop when the metric has not improved for this many steps; 0: never.",
        lower_bound=0,
    )
    flags.DEFINE_string(
        "eval_early_stopping_metric",
        "loss",
        "Score of the development set that early stopping watches: loss, nll, accuracy, bleu, or "
        "another one that the model reports.",
    )
    flags.DEFINE_float(
        "eval_early_stopping_metric_delta",
        0.1,
        "Smaller changes of the metric do not count; BLEU is from 0 to 100, accuracy from 0 to 1.",
        lower_bound=0,
    )
    flags.DEFINE_bool(
        "eval_early_stopping_metric_minimize",
        None,
        "Whether a lower metric is better; default: true, except for bleu, neg_log_perplexity and "
        "names that end in accuracy.",
    )
    flags.DEFINE_list("trackers", [], "Services that receive the scalars: wandb, mlflow, or both.")
    flags.DEFINE_string(
        "report",
        "report.html",
        "Page about the run, written at its end; a relative path starts from --output_dir; empty: "
        "none.",
    )
    flags.DEFINE_bool("generate_data", False, "Run datagen first.")
    flags.DEFINE_string("tmp_dir", "/tmp/t2t_datagen", "Folder of the raw corpus for datagen.")
    flags.DEFINE_bool(
        "dry_run", False, "Print parameters and batch shapes, try the largest batch, and exit."
    )
    flags.DEFINE_string(
        "t2t_usr_dir", "", "Folder of a Python package with your own registrations."
    )
    flags.DEFINE_string(
        "registry_help",
        None,
        "Print all registered names, with the parameters of hparams sets, and exit; "
        "--registry_help=WORD: those with a word in name or description.",
    )

"""The recipe with Muon (Jordan et al., 2024) for short training runs of small models."""

from typing import Any, TypeVar

from t2t_phrase.training_hparams import TrainingHParams

T = TypeVar("T", bound=TrainingHParams)

_WARMUP = 100


def by_muon(base: T, *, learning_rate: float, train_steps: int, **changes: Any) -> T:
    """Return `base` with Muon instead of its own optimizer; Muon needs far fewer updates.

    Kernels get updates that are nearly orthogonal matrices; Adam updates all other weights.

    Args:
        base: an hparams set of any model.
        learning_rate: the highest rate, reached after 100 updates; it then falls to 0.
        train_steps: the number of updates.
        **changes: other fields of the set.
    """
    return base.replace(
        optimizer="muon",
        optimizer_options=(
            "momentum=0.9",
            "weight_decay=0.0",
            "adam_weight_decay=0.0",
            "adam_beta_2=0.98",
        ),
        learning_rate_schedule="constant*linear_warmup*linear_decay",
        learning_rate_constant=learning_rate,
        learning_rate_warmup_steps=_WARMUP,
        learning_rate_decay_steps=train_steps - _WARMUP,
        **changes,
    )

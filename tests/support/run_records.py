"""The record of a run, as small as it can be."""

from typing import Any

from t2t_phrase.runs.record import RunRecord


def small_record(**changes: Any) -> RunRecord:
    """Return the record of a run of `transformer_tiny`, with other values of some fields."""
    values: dict[str, Any] = dict(
        problem="translate_ende_grammar",
        model="transformer",
        hparams_set="transformer_tiny",
        overrides="",
        hparams={},
        vocab_size=8,
        vocabulary="",
        random_seed=1,
    )
    return RunRecord(**{**values, **changes})

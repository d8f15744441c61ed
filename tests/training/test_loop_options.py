"""Options of the training loop."""

import numpy as np
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.training.loop_options import LoopOptions


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"train_steps": 0}, "train_steps=0"),
        ({"train_steps": 1, "local_eval_frequency": -1}, "local_eval_frequency=-1"),
        ({"train_steps": 1, "log_step_count_steps": 0}, "log_step_count_steps=0"),
        ({"train_steps": 1, "save_checkpoints_secs": -1.0}, "save_checkpoints_secs=-1.0"),
        ({"train_steps": 1, "save_checkpoints_secs": float("nan")}, "save_checkpoints_secs=nan"),
    ],
)
def test_numbers_out_of_range(options, flag):
    with pytest.raises(UserError, match=f"^--{flag}: must be "):
        LoopOptions(**options)


def test_numbers_of_other_types_are_converted():
    """The command that resumes a run has them, and does not take 4.0 for a number of updates."""
    options = LoopOptions(train_steps=4.0, local_eval_frequency=np.int64(2))
    assert (repr(options.train_steps), repr(options.local_eval_frequency)) == ("4", "2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_steps": 3.5}, "--train_steps: expected int, got 3.5"),
        ({"train_steps": True}, "--train_steps: expected int, got True"),
        ({"train_steps": 3, "try_largest_batch": "no"}, "--try_largest_batch: expected bool"),
        ({"train_steps": 3, "early_stopping": 3}, r"early_stopping: expected EarlyStopping\(st"),
    ],
)
def test_other_types_are_refused(options, message):
    with pytest.raises(UserError, match=message):
        LoopOptions(**options)

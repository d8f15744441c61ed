"""Options of the training loop."""

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

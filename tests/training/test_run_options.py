"""Options of a run that are checked before anything is read."""

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.training.run_options import RunOptions


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        # Anything else would train the tables of another vocabulary from random values.
        ({"warm_start_vocab": "mapped"}, "expected one of same, map, new, got 'mapped'"),
        ({"warm_start_vocab": "map"}, "--warm_start_vocab requires --warm_start_from"),
        ({"random_seed": True}, "--random_seed: expected int, got True"),
        ({"eval_steps": 3.5}, "--eval_steps: expected int, got 3.5"),
        ({"evaluate": "perhaps"}, "--evaluate: expected bool, got 'perhaps'"),
        ({"t2t_usr_dir": None}, "--t2t_usr_dir: expected str, got None"),
        ({"trackers": "wandb"}, r"expected names such as \('wandb',\), got 'wandb'"),
        ({"keep_checkpoint_max": 0}, "--keep_checkpoint_max=0: must be from 1 to"),
    ],
)
def test_wrong_options(changes, message):
    with pytest.raises(UserError, match=message):
        RunOptions(
            problem=None,
            data_dir="",
            output_dir="",
            model="",
            hparams_set="",
            overrides="",
            hparams=None,
            **{"random_seed": 1, **changes},
        )

"""What the commands of a run said."""

import pytest

from t2t_phrase.runs.commands import Command, last_value


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ([], ""),
        ([["--data_dir=a"]], ""),
        ([["--train_steps=4"], ["--data_dir=a"]], "4"),
        ([["--train_steps=4"], ["-train_steps", "5", "--data_dir=a"]], "5"),
        ([["--train_steps=4", "--train_steps=6"]], "6"),
        ([["train_steps", "4"]], ""),
    ],
)
def test_the_last_value_counts(given, value):
    commands = [Command("2026-01-01 00:00:00", "0.1.0", tuple(each)) for each in given]
    assert last_value(commands, "train_steps") == value


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (["--minimize", "--data_dir=a"], "true"),
        (["--nominimize"], "false"),
        (["--minimize=false"], "false"),
        (["--nominimize", "--minimize"], "true"),
        (["--other"], ""),
    ],
)
def test_switches_need_no_value(given, value):
    commands = [Command("2026-01-01 00:00:00", "0.1.0", tuple(given))]
    assert last_value(commands, "minimize", switch=True) == value

"""The table of profiles."""

from operation_times import Kind
from profile_ops import table


def test_commits_stand_side_by_side() -> None:
    columns = {
        "old": [Kind("MatMul", 3, 0.02), Kind("Cast", 9, 0.03), Kind("Add", 1, 0.001)],
        "new": [Kind("MatMul", 3, 0.015), Kind("Concat", 2, 0.0025), Kind("Sub", 5, 0.001)],
    }
    assert table(columns, 2) == [
        ["operation", "old, ms", "runs", "new, ms", "runs"],
        ["Cast", "30.0", "9", "0.0", "0"],
        ["MatMul", "20.0", "3", "15.0", "3"],
        ["others", "1.0", "1", "3.5", "7"],
        ["all", "51.0", "13", "18.5", "10"],
    ]

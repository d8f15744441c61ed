import pathlib
import sys

from t2t_phrase import registry

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import luong_table


def test_every_row_is_a_set():
    registry.discover()
    for size in ("base", "multi30k", "demo"):
        for _, part, _ in luong_table.ROWS:
            assert luong_table.set_name(part, size) in registry.hparams
    assert luong_table.set_name("", "base") == "luong_base"
    assert luong_table.set_name("feed_", "base") == "luong_base_feed"


def test_gains_are_over_the_row_before_of_the_paper():
    row = luong_table.Row
    table = luong_table.markdown(
        [
            row("base", [10.0, 12.0], [8.0, 9.0], 11.3),
            row("+ reverse", [13.0, 14.0], [7.0, 7.5], 12.6),
            row("transformer", [30.0], [4.0]),
        ]
    )
    assert table.split("\n")[2:] == [
        "| base | 11.0 | 8.50 |  | 11.3 |  |",
        "| + reverse | 13.5 | 7.25 | +2.5 | 12.6 | +1.3 |",
        "| transformer | 30.0 | 4.00 |  |  |  |",
    ]

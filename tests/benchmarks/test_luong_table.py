import sys

import luong_table
import pytest

from t2t_phrase import registry
from t2t_phrase.config import UserError


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


def test_a_row_is_trained_evaluated_and_translated_for_each_seed(
    short_recipe, fake_commands, tmp_path
):
    # "Ein satz ist da ." against "ein Satz ist da .": of 5, 4, 3 and 2 n-grams, 3, 2, 1 and none
    # are in the reference; none counts as a half.
    expected = 100 * (3 / 5 * 2 / 4 * 1 / 3 * 0.5 / 2) ** 0.25
    row = luong_table.trained_row(short_recipe, "base", "luong_demo", [1, 2], 11.3)
    assert row.perplexity == [4.5, 4.5]
    assert row.bleu == pytest.approx([expected] * 2)
    assert [flags["random_seed"] for _, flags in fake_commands if "random_seed" in flags] == [
        *"1122"
    ]
    folders = [tmp_path / f"luong_demo-{seed}-averaged" for seed in (1, 2)]
    bleu = luong_table.translated(short_recipe, "luong_demo", [1, 2], "replace_unknown=true", [])
    assert bleu == pytest.approx(expected)
    assert fake_commands[-1][1]["output_dir"] == ",".join(map(str, folders))
    # Any newer member makes another ensemble.
    done = len(fake_commands)
    for newer, commands in ((None, done), (folders[0], done + 1)):
        if newer:
            (newer / "checkpoint").touch()
        luong_table.translated(short_recipe, "luong_demo", [1, 2], "replace_unknown=true", [])
        assert len(fake_commands) == commands


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--beside=transformer_multi30kk", "hparams set 'transformer_multi30kk' is unknown"),
        ("--size=large", "hparams set 'luong_large' is unknown"),
        ("--hparams=hidden_sise=8", "hidden_sise"),
        ("--num_last_checkpoints=25", "the last 20 are kept; give at most 20"),
        ("--unknown_dictionary=none.tsv", "--unknown_dictionary=none.tsv does not exist"),
    ],
)
def test_mistakes_are_told_before_hours_of_training(
    fake_commands, monkeypatch, tmp_path, flag, said
):
    flags = ["--problem=translate_ende_multi30k_words", f"--data_dir={tmp_path}", flag]
    monkeypatch.setattr(sys, "argv", ["x", *flags, f"--work_dir={tmp_path}", "--train_steps=40"])
    with pytest.raises(UserError, match=said):
        luong_table.main()
    assert not fake_commands

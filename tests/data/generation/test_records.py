"""Shards made from text."""

import pytest
from stored_pairs import stored_pairs

from t2t_phrase.config import UserError
from t2t_phrase.data.generation import records
from t2t_phrase.data.generation.records import ShardTask, write_shard
from t2t_phrase.features import Feature
from t2t_phrase.text.encoders import load_encoder
from t2t_phrase.text.words.training import train_words

CASES = Feature(name="cases", stream="cases")


def task(folder, lines, words, **options):
    (folder / "text").write_text("".join(f"{line}\n" for line in lines))
    (folder / "vocabulary").write_bytes(train_words([" ".join(words)], vocab_size=3 + len(words)))
    return ShardTask(
        source=str(folder / "text"),
        target=str(folder / "text"),
        output=str(folder / "shard"),
        vocabularies=(str(folder / "vocabulary"),) * 2,
        shuffle_seed=None,
        **options,
    )


def test_vocabularies_may_have_more_entries_than_two_bytes_can_count(tmp_path):
    words = [f"w{number:05}" for number in range(2**16)]
    lines = ["w00000 w00001", f"{words[-1]} w00007"]
    write_shard(task(tmp_path, lines, words))
    decode = load_encoder(tmp_path / "vocabulary").decode
    found = [tuple(map(decode, pair)) for pair in stored_pairs(tmp_path / "shard")]
    assert found == [(line, line) for line in lines]
    assert max(max(source) for source, _ in stored_pairs(tmp_path / "shard")) >= 2**16


def test_a_line_that_does_not_fit_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "_BATCH", 2)
    (tmp_path / "cases").write_text("1\n1\n1\n1 1\n1\n")
    side = {"cases": str(tmp_path / "cases")}
    given = task(tmp_path, ["a"] * 5, ["a"], side=side, features=(CASES,))
    with pytest.raises(UserError, match=r"/cases:4: 2 integers for the 1 word of 'a'"):
        write_shard(given)

import json
import math

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.runs.history import History


def test_round_trip_with_scores_that_are_no_numbers(tmp_path):
    history = History()
    history.add(5, {"loss": math.inf, "bleu": 1.5})
    history.add(10, {"loss": math.nan, "bleu": 2.5})
    history.add(15, {"loss": 3.0, "bleu": 0.0})
    history.save(tmp_path)
    found = History.load(tmp_path, until=10)
    assert list(found.scores) == [5, 10] and found.of("bleu") == {5: 1.5, 10: 2.5}
    assert found.best("loss", lower=True) is None and found.best("bleu", lower=False) == 10
    assert History.load(tmp_path, until=15).best("loss", lower=True) == 15


def test_no_file_is_no_scores(tmp_path):
    assert History.load(tmp_path, until=9) == History()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"null",
        b"[1]",
        b'{"a": {"loss": 1}}',
        b'{"-4": {"loss": 1}}',
        b'{"4": 3}',
        b'{"4": {"loss": "1"}}',
        b'{"4": {"loss": true}}',
        b'{"4": {"loss": null}}',
        b'{"4": {"loss": [1]}}',
        b'{"4": {"loss": 1' + b"0" * 400 + b"}}",
        b'{"' + b"4" * 5000 + b'": {"loss": 1}}',
        json.dumps({"4": {"loss": 1}})[:-1].encode(),
    ],
)
def test_damage_is_named_with_the_way_on(tmp_path, content):
    (tmp_path / "evaluations.json").write_bytes(content)
    with pytest.raises(UserError, match=r"evaluations.json is damaged: .*; delete it to continue"):
        History.load(tmp_path, until=9)


def test_the_lowest_loss_decides_between_equal_scores(tmp_path):
    scores = {2: {"bleu": 0.0, "loss": 5.0}, 4: {"bleu": 0.0, "loss": 4.0}, 6: {"bleu": 0.0}}
    assert History(scores).best("bleu", lower=False) == 4
    assert History({2: {"loss": 4.0}, 4: {"loss": 4.0}}).best("loss", lower=True) == 2


def test_infinity_of_others_is_never_the_best(tmp_path):
    (tmp_path / "evaluations.json").write_text('{"4": {"loss": -Infinity}, "8": {"loss": 1e999}}')
    assert History.load(tmp_path, until=9).best("loss", lower=True) is None


def test_a_folder_in_its_place(tmp_path):
    (tmp_path / "evaluations.json").mkdir()
    with pytest.raises(UserError, match=r"cannot read .*evaluations.json: Is a directory"):
        History.load(tmp_path, until=9)

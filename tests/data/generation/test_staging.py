import collections

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.dealing import deal
from t2t_phrase.data.generation.output_files import Outputs
from t2t_phrase.data.generation.progress import Progress
from t2t_phrase.data.generation.staging import stage
from t2t_phrase.data.sources.corpus import Pair


def pairs(*texts):
    return (Pair(two, ("a.en", "a.de"), line) for line, two in enumerate(texts, start=1))


def run(tmp_path, texts, *, drop_faulty, **options):
    whole = [tmp_path / "en", tmp_path / "de"]
    result = stage(
        pairs(*texts),
        outputs=Outputs([], whole),
        drop_faulty=drop_faulty,
        max_characters=9,
        progress=Progress("test", print),
        **options,
    )
    return result, [path.read_text(encoding="utf-8").split("\n")[:-1] for path in whole]


FAULTY = [("a\u2028 b\r", " c\tc "), ("", "x"), ("x", None), ("x", "0123456789"), ("d", "e")]


def test_training_drops_and_names_what_is_faulty(tmp_path):
    result, columns = run(tmp_path, FAULTY, drop_faulty=True)
    assert columns == [["a b", "d"], ["c c", "e"]]
    assert result.pairs == 2
    kinds = {"empty side": 1, "invalid UTF-8": 1, "side over 9 characters": 1}
    assert result.faults == kinds
    assert result.messages[0] == "1 x empty side (dropped): a.en:2"


def test_dev_keeps_every_line(tmp_path):
    texts = [two for two in FAULTY if None not in two]
    result, columns = run(tmp_path, texts, drop_faulty=False)
    assert columns == [["a b", "", "x", "d"], ["c c", "x", "0123456789", "e"]]
    assert sum(result.faults.values()) == 2
    assert "kept" in result.messages[0]


def test_dev_refuses_invalid_utf8(tmp_path):
    with pytest.raises(UserError, match=r"^1 x invalid UTF-8 \([^)]*\): a\.de:3; convert"):
        run(tmp_path, FAULTY, drop_faulty=False)


def test_nothing_usable_is_an_error_that_says_why(tmp_path):
    with pytest.raises(UserError, match=r"no usable.*12 x empty side.*a\.en:10 and 2 more"):
        run(tmp_path, [("", "x")] * 12, drop_faulty=True)
    with pytest.raises(UserError, match="no usable sentence pair: the files are empty"):
        run(tmp_path, [], drop_faulty=True)


def test_a_change_in_the_number_of_references_is_named(tmp_path):
    texts = [("a", "b"), ("a", "b", "c")]
    rows = (Pair(t, ("s", *["r"] * (len(t) - 1)), n) for n, t in enumerate(texts, start=1))
    with pytest.raises(UserError, match="r:2: 2 references, but 1 at the start"):
        stage(
            rows,
            outputs=Outputs([], [tmp_path / "en", tmp_path / "de"]),
            drop_faulty=False,
            max_characters=9,
            progress=Progress("test", print),
        )


@pytest.mark.parametrize("shards", [1, 2, 7, 10])
def test_dealing_is_even(shards):
    lines = collections.Counter()
    parities = collections.defaultdict(set)
    for index in range(shards * 20):
        shard = deal(index, shards)
        lines[shard] += 1
        parities[shard].add(index % 2)
    assert set(lines.values()) == {20}
    assert all(kinds == {0, 1} for kinds in parities.values())

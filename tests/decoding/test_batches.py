import numpy as np

from t2t_phrase.decoding.batches import make_batches


def test_batches_contain_each_sentence_once_and_stay_within_the_tokens():
    draw = np.random.default_rng(0)
    sentences = [[3] * int(n) for n in draw.integers(0, 40, size=50)]
    seen, shapes = [], set()
    for batch in make_batches([len(ids) for ids in sentences], 64):
        rows, length = batch.shape
        assert length % 8 == 0 and (rows * length <= 64 or rows == 1)
        assert rows >= len(batch.lines)
        shapes.add(batch.shape)
        seen += batch.lines
        array = batch.rows(sentences)
        assert array.shape == batch.shape and array.dtype == np.int32
        for row, i in zip(array, batch.lines, strict=False):
            assert row.tolist() == sentences[i] + [0] * (length - len(sentences[i]))
        assert not array[len(batch.lines) :].any()
    assert sorted(seen) == [i for i, ids in enumerate(sentences) if ids]
    assert len(shapes) <= 8


def test_much_longer_outputs_make_smaller_batches():
    def rows(extra_length):
        return next(make_batches([8] * 1000, 64, extra_length=extra_length)).shape[0]

    assert rows(0) == rows(8 * 8 - 8) == 8
    assert [rows(120), rows(8 * 64 - 8), rows(10_000)] == [4, 1, 1]


def test_what_is_left_makes_the_batches_that_were_left():
    lengths = [int(n) for n in np.random.default_rng(1).integers(0, 60, size=200)]
    whole = list(make_batches(lengths, 256, extra_length=50))
    for count in (1, 5, len(whole) - 1):
        done = {line for batch in whole[:count] for line in batch.lines}
        left = [0 if i in done else length for i, length in enumerate(lengths)]
        assert list(make_batches(left, 256, extra_length=50)) == whole[count:]


def test_padding_has_the_value_that_is_asked_for():
    (batch,) = make_batches([2, 0, 1], 64)
    assert batch.lines == (0, 2)
    rows = batch.rows([[5, 6], [9], [7]], pad=-1)
    assert rows.tolist() == [[5, 6] + [-1] * 6, [7] + [-1] * 7]

"""Batches in parts: what each part is given, and that all comes back in order."""

import threading

import numpy as np
import pytest

from t2t_phrase.decoding.batches import Batch
from t2t_phrase.decoding.parts import join_rows, search_in_parts, split_batch


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_parts_have_the_same_size_and_join_to_the_whole(parts):
    batch = Batch(tuple(range(11)), (12, 8))
    padded, slices = split_batch(batch, parts)
    rows = padded.shape[0]
    assert padded.lines == batch.lines and padded.shape == (-(-12 // parts) * parts, 8)
    x = np.arange(rows * 3).reshape(rows, 3)
    split = [{"x": x[part], "first": [x[part][:, 0]]} for part in slices]
    assert len({len(part["x"]) for part in split}) == 1 and len(split) == parts
    joined = join_rows(split)
    np.testing.assert_array_equal(joined["x"], x)
    np.testing.assert_array_equal(joined["first"][0], x[:, 0])


BATCHES = [(number, Batch((0,) * rows, (rows, 8))) for number, rows in enumerate([16, 9, 1], 5)]


def rows_of(number: int, batch: Batch, part: slice) -> np.ndarray:
    """Return what tells the rows of all batches apart."""
    return 100 * number + np.arange(batch.shape[0])[part]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_results_come_in_order(workers):
    found = [rows for _, rows in search_in_parts(rows_of, BATCHES, workers=workers)]
    for (number, batch), rows in zip(BATCHES, found, strict=True):
        count = batch.shape[0]
        np.testing.assert_array_equal(rows[:count], 100 * number + np.arange(count))
        assert len(rows) - count < workers


def test_the_parts_of_a_batch_are_searched_at_the_same_time_and_then_those_of_the_next():
    # Passed only if both parts wait at it.
    together = threading.Barrier(2)
    begun = threading.Event()

    def search(number: int, batch: Batch, part: slice) -> np.ndarray:
        together.wait(timeout=120)
        if number == 1:
            begun.set()
        return rows_of(number, batch, part)

    batches = [(number, Batch((0,) * 8, (8, 8))) for number in range(2)]
    for number, (_, rows) in enumerate(search_in_parts(search, batches, workers=2)):
        assert begun.wait(timeout=120)
        np.testing.assert_array_equal(rows, 100 * number + np.arange(8))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_raised_in_its_turn_and_ends_the_work(workers):
    searched = []

    def search(number: int, batch: Batch, part: slice) -> np.ndarray:
        searched.append(number)
        if number == 1:
            raise MemoryError
        return rows_of(number, batch, part)

    batches = [(number, Batch((0,) * 8, (8, 8))) for number in range(9)]
    done = search_in_parts(search, batches, workers=workers)
    _, rows = next(done)
    assert len(rows) == 8
    with pytest.raises(MemoryError):
        next(done)
    assert max(searched) <= workers

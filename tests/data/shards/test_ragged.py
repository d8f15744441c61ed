import numpy as np
from tiny_training import ragged

from t2t_phrase.data.shards.ragged import spans


def test_spans_are_ranges_one_after_the_other():
    assert spans(np.array([7, 0, 3]), np.array([2, 0, 3])).tolist() == [7, 8, 3, 4, 5]
    assert spans(np.array([], np.int64), np.array([], np.int64)).tolist() == []


def test_rows_are_taken_in_any_order():
    rows = ragged([[4, 5], [], [6]])
    assert rows.lengths.tolist() == [2, 0, 1]
    taken = rows.take(np.array([2, 1, 0, 2]))
    assert [taken.row(i).tolist() for i in range(4)] == [[6], [], [4, 5], [6]]

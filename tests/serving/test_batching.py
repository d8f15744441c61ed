import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2t_phrase.serving.batching import choose_batch


@pytest.mark.parametrize(
    "must, most_rows, most_bytes, expected",
    [
        (0, 3, 1000, [9, 10, 11]),
        (1, 3, 100, [49, 50]),
        (1, 9, 1000, [9, 10, 11, 12, 49, 50]),
        (0, 9, 44, [9, 10, 11]),
        (0, 9, 48, [9, 10, 11, 12]),
        (1, 9, 1, [50]),
        (1, 1, 1000, [50]),
    ],
)
def test_the_nearest_lengths_are_searched_together(must, most_rows, most_bytes, expected):
    lengths = [10, 50, 12, 9, 49, 11]
    chosen = choose_batch(lengths, most_rows=most_rows, most_bytes=most_bytes, must=must)
    assert [lengths[number] for number in chosen] == expected


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=12),
    st.integers(1, 8),
    st.integers(1, 120),
    st.data(),
)
def test_a_batch_is_within_its_limits_and_cannot_be_extended(lengths, most_rows, most_bytes, data):
    must = data.draw(st.integers(0, len(lengths) - 1))
    chosen = choose_batch(lengths, most_rows=most_rows, most_bytes=most_bytes, must=must)
    taken = [lengths[number] for number in chosen]
    assert must in chosen and len(set(chosen)) == len(chosen) <= most_rows
    assert taken == sorted(taken)
    assert len(chosen) == 1 or len(chosen) * max(taken) <= most_bytes
    # A sentence between two others in length would not make the batch longer.
    left = [lengths[number] for number in set(range(len(lengths))) - set(chosen)]
    assert not [length for length in left if min(taken) < length < max(taken)]
    if len(chosen) < most_rows:
        for length in left:
            assert (len(chosen) + 1) * max(length, *taken, 0) > most_bytes

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2t_phrase.serving.batching import choose_batch


@pytest.mark.parametrize(
    "must, most_rows, most_bytes, overhead, expected",
    [
        # Rows cost next to nothing: as many as are about as long.
        (0, 9, 1000, 1000, [9, 10, 11, 12]),
        (1, 9, 1000, 1000, [9, 10, 11, 12, 49, 50]),
        (0, 3, 1000, 1000, [10, 11, 12]),
        (0, 9, 35, 1000, [9, 10, 11]),
        (3, 3, 1000, 1000, [9, 10, 11]),
        (1, 9, 100, 1000, [49, 50]),
        (1, 9, 1, 1000, [50]),
        (1, 1, 1000, 1000, [50]),
        # Steps have no overhead: sentences of other lengths had better be apart.
        (0, 9, 1000, 0.001, [10]),
        (1, 9, 1000, 0.001, [50]),
        # In between, the short ones would cost more than they gain.
        (1, 9, 1000, 4, [49, 50]),
    ],
)
def test_similar_lengths_are_searched_together(must, most_rows, most_bytes, overhead, expected):
    lengths = [10, 50, 12, 9, 49, 11]
    chosen = choose_batch(
        lengths, most_rows=most_rows, most_bytes=most_bytes, overhead=overhead, must=must
    )
    assert [lengths[number] for number in chosen] == expected


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=8),
    st.integers(1, 6),
    st.integers(1, 120),
    st.sampled_from([0.5, 3.0, 64.0]),
    st.data(),
)
def test_no_batch_within_the_limits_is_faster(lengths, most_rows, most_bytes, overhead, data):
    must = data.draw(st.integers(0, len(lengths) - 1))
    chosen = choose_batch(
        lengths, most_rows=most_rows, most_bytes=most_bytes, overhead=overhead, must=must
    )
    assert must in chosen and [lengths[n] for n in chosen] == sorted(lengths[n] for n in chosen)

    def speed(numbers):
        own = [max(1, lengths[number]) for number in numbers]
        return sum(own) / max(own) / (overhead + len(own))

    allowed = [
        numbers
        for size in range(1, most_rows + 1)
        for numbers in itertools.combinations(range(len(lengths)), size)
        if must in numbers
        and (size == 1 or size * max(1, *(lengths[n] for n in numbers)) <= most_bytes)
    ]
    assert tuple(sorted(chosen)) in allowed
    assert speed(chosen) == pytest.approx(max(map(speed, allowed)))


def test_of_many_sentences_a_good_batch_is_chosen():
    lengths = [number * 7919 % 200 + 5 for number in range(30_000)]
    chosen = choose_batch(lengths, most_rows=64, most_bytes=16_384, overhead=8.0, must=17)
    assert 17 in chosen and len(chosen) == len(set(chosen)) == 64
    # There are enough others of the same length.
    others = {lengths[number] for number in chosen}
    assert max(others) - min(others) <= 1

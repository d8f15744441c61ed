import itertools

import numpy as np
import pytest

from t2t_phrase.data.input.buckets import Buckets, bucket_bounds


def test_bounds_follow_tensor2tensor():
    bounds = bucket_bounds(min_length=8, max_length=256, step=1.1)
    assert bounds[:14] == (8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22)
    assert bounds[-1] == 256
    for one, following in itertools.pairwise(bounds[:-1]):
        assert following == max(one + 1, int(one * 1.1))


def test_rows_are_tokens_over_length_for_each_replica():
    sizes = {"batch_size": 100, "max_length": 40, "min_length_bucket": 8, "length_bucket_step": 2}
    buckets = Buckets.build(**sizes)
    assert buckets == Buckets((8, 16, 32, 40), (12, 6, 3, 2))
    assert Buckets.build(**sizes, replicas=3).rows == (36, 18, 9, 6)


def test_a_batch_has_at_least_one_row():
    buckets = Buckets.build(
        batch_size=16, max_length=20, min_length_bucket=8, length_bucket_step=2.0
    )
    assert buckets.rows == (2, 1, 1)


def test_each_length_goes_to_the_shortest_bucket_that_holds_it():
    buckets = Buckets((8, 12), (6, 4))
    assert buckets.of(np.array([1, 8, 9, 12, 13])).tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(("longest", "bounds", "rows"), [
    (12, (8, 12), (12, 8)),
    (13, (8, 12, 24), (12, 8, 4)),
    (90, (8, 12, 24, 48, 96), (12, 8, 4, 2, 2)),
])  # fmt: skip
def test_extended_buckets_hold_the_longest(longest, bounds, rows):
    assert Buckets((8, 12), (12, 8), 2).extended(longest) == Buckets(bounds, rows, 2)


def test_the_largest_bucket_is_the_longest_of_equal_tokens():
    assert Buckets((8, 16, 32), (8, 4, 2)).largest() == 2
    assert Buckets((8, 16, 17), (8, 4, 3)).largest() == 1

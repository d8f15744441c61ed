import numpy as np
import pytest

from t2t_phrase.data.input import plan
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.plan import epoch_order, plan_epoch

BUCKETS = Buckets((6, 9, 12), (6, 4, 2))


def streamed(order, bucket_of, buckets):
    """Group one pair after the other, as `plan_epoch` says."""
    batches, waiting = [], [[] for _ in buckets.bounds]
    for number in order:
        bucket = bucket_of[number]
        if bucket == len(buckets):
            continue
        waiting[bucket].append(int(number))
        if len(waiting[bucket]) == buckets.rows[bucket]:
            batches.append((int(bucket), waiting[bucket]))
            waiting[bucket] = []
    left = [(i, number) for i, group in enumerate(waiting) for number in group]
    while left:
        bucket = left[-1][0]
        taken = [left.pop()[1] for _ in range(min(len(left), buckets.rows[bucket]))]
        batches.append((bucket, taken))
    return batches


@pytest.mark.parametrize("count", [0, 1, 5, 60, 333])
def test_a_plan_is_what_a_stream_would_give(count):
    random = np.random.default_rng(count)
    bucket_of = random.integers(0, 4, count).astype(np.uint8)
    order = random.permutation(count).astype(np.int32)
    made = plan_epoch(order, bucket_of, BUCKETS)
    found = [(int(made.buckets[i]), made.of(i).tolist()) for i in range(len(made))]
    assert found == streamed(order, bucket_of, BUCKETS)


def test_every_order_is_a_permutation_and_another_one():
    orders = [epoch_order(1000, np.random.default_rng([seed, 7])) for seed in (1, 1, 2)]
    assert all(sorted(order) == list(range(1000)) for order in orders)
    assert np.array_equal(*orders[:2]) and not np.array_equal(*orders[1:])


def test_the_order_of_many_pairs_reads_one_window_at_a_time(monkeypatch):
    monkeypatch.setattr(plan, "SLAB", 16)
    monkeypatch.setattr(plan, "WINDOW", 1024)
    order = plan.epoch_order(1500, np.random.default_rng(3))
    assert sorted(order) == list(range(1500))
    # A window holds slabs from everywhere: of 1024 pairs, about 325 are from the last 476.
    assert 250 < np.count_nonzero(order[:1024] >= 1024) < 400
    for window in (order[:1024], order[1024:]):
        # All slabs but the last one of a window, and that of the end, are whole.
        _, sizes = np.unique(window // 16, return_counts=True)
        assert np.count_nonzero(sizes < 16) <= 2
        assert np.count_nonzero(np.diff(window) == 1) < 20

import threading

import pytest

from t2t_phrase.serving.queue import BatchQueue, Job, QueueFull


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def make_queue(**changes):
    limits = {"most_rows": 4, "most_bytes": 1000, "patience": 0.0, "capacity": 8}
    return BatchQueue(**{**limits, **changes})


def job(*texts, kind="a"):
    return Job(kind, [(text.encode(),) for text in texts])


def texts(batch):
    return [waiting.job.rows[waiting.place][0].decode() for waiting in batch]


def test_rows_of_several_requests_are_joined_and_sorted_by_length():
    queue = make_queue()
    for one in (job("333", "1"), job("22"), job("4444", kind="b"), job("55555")):
        queue.put(one)
    assert texts(queue.take()) == ["1", "22", "333", "55555"]
    assert texts(queue.take()) == ["4444"] and len(queue) == 0


def test_who_has_waited_longest_is_next():
    queue = make_queue(most_rows=2)
    queue.put(job("x" * 50))
    for number in range(6):
        queue.put(job(str(number)))
    assert "x" * 50 in texts(queue.take())
    # The oldest of those that are left is "0" or "1".
    assert {"0", "1"} & set(texts(queue.take()))


def test_all_rows_are_handed_out_once():
    queue = make_queue(capacity=1000, most_rows=3)
    given = [str(number) * (number % 7 + 1) for number in range(200)]
    for text in given:
        queue.put(job(text))
    queue.close()
    found = []
    while batch := queue.take():
        found += texts(batch)
    assert sorted(found) == sorted(given)


def test_what_does_not_fit_is_refused_whole():
    queue = make_queue(capacity=3)
    queue.put(job("a", "b"))
    with pytest.raises(QueueFull) as refused:
        queue.put(job("c", "d"))
    assert refused.value.retry_after == 1 and len(queue) == 2
    queue.put(job("c"))
    for seconds, expected in ((10.0, 15), (1000.0, 60)):
        queue = make_queue(capacity=3)
        queue.put(job("a", "b", "c"))
        queue.note_speed(queue.take()[:2], seconds)
        queue.put(job("a", "b", "c"))
        with pytest.raises(QueueFull) as refused:
            queue.put(job("d"))
        assert refused.value.retry_after == expected


def test_who_has_given_up_leaves_the_queue():
    queue = make_queue(capacity=2)
    gone = job("a", "b")
    queue.put(gone)
    assert gone.future.cancel()
    queue.put(job("c", "d"))
    assert texts(queue.take()) == ["c", "d"]
    # Results that come too late are dropped.
    gone.finish(0, "A")
    gone.finish(1, "B")
    gone.fail(RuntimeError("late"))
    assert gone.future.cancelled()


def test_a_row_waits_for_others_no_longer_than_allowed():
    clock = Clock()
    queue = make_queue(patience=5.0, clock=clock)
    queue.put(job("a"))
    taken = []
    thread = threading.Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    thread.join(0.05)
    assert not taken
    clock.now += 5
    queue.put(job("b"))
    thread.join(120)
    assert texts(taken[0]) == ["a", "b"]


def test_a_full_batch_does_not_wait():
    queue = make_queue(patience=1000.0)
    queue.put(job("a", "b", "c", "d", "e"))
    assert len(queue.take()) == 4


def test_a_closed_queue_wakes_who_waits():
    queue = make_queue(patience=1000.0)
    queue.put(job("a"))
    taken = []
    threads = [threading.Thread(target=lambda: taken.append(texts(queue.take()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    queue.close()
    for thread in threads:
        thread.join(120)
    assert sorted(taken) == [[], [], ["a"]]


def test_a_job_has_its_results_in_order():
    one = job("a", "b")
    one.finish(1, "B")
    assert not one.future.done()
    one.finish(0, "A")
    assert one.future.result() == ["A", "B"]
    assert job().future.result() == []
    failed = job("a")
    failed.fail(RuntimeError("no"))
    assert isinstance(failed.future.exception(), RuntimeError)

import sys

import pytest
from running_server import toy_servable, upper

from t2t_phrase.serving.queue import BatchQueue, Job
from t2t_phrase.serving.workers import Workers


def refusing(columns):
    if b"bad" in columns[0]:
        raise RuntimeError("no")
    return upper(columns)


@pytest.mark.parametrize("count", [1, 3])
def test_only_what_cannot_be_searched_fails(count, capsys):
    servable = toy_servable(run=refusing)
    signature = servable.signature("serving_default")
    queue = BatchQueue(most_rows=8, most_bytes=1000, patience=0.0, capacity=100)
    batches = []
    workers = Workers(queue, count, lambda *facts: batches.append(facts))
    jobs = [
        Job((servable, signature), [(text.encode(),) for text in texts])
        for texts in (["a", "b c"], ["bad"], ["d"], ["e", "bad", "f"], ["g", "h", "i"])
    ]
    for job in jobs:
        queue.put(job)
    workers.start()
    workers.stop()
    failed = [job.future.exception() is not None for job in jobs]
    assert failed == [False, True, False, True, False]
    assert jobs[0].future.result() == [
        {"translation": b"A", "score": 1.0},
        {"translation": b"B C", "score": 3.0},
    ]
    assert sum(sentences for sentences, _, _ in batches) == 10
    # Words, as the toy counts; of the eight sentences that have a translation.
    assert sum(tokens for _, tokens, _ in batches) == 9
    assert capsys.readouterr().err.count("a request of 3 bytes failed: no") == 2


def test_messages_that_cannot_be_written_stop_nothing(monkeypatch):
    class Broken:
        def write(self, text):
            raise BrokenPipeError(text)

    monkeypatch.setattr(sys, "stderr", Broken())
    servable = toy_servable(run=refusing)
    signature = servable.signature("serving_default")
    queue = BatchQueue(most_rows=1, most_bytes=1000, patience=0.0, capacity=100)
    workers = Workers(queue, 1, lambda *facts: None)
    jobs = [Job((servable, signature), [(text,)]) for text in (b"bad", b"a")]
    for job in jobs:
        queue.put(job)
    workers.start()
    workers.stop()
    assert str(jobs[0].future.exception(timeout=120)) == "no"
    assert jobs[1].future.result(timeout=120) == [{"translation": b"A", "score": 1.0}]

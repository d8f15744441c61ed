import os

import pytest

from t2t_phrase.data.generation.workers import WorkerLost, in_order
from t2t_phrase.text.trees.trees import TreeError, read_tree


def sleepers(count):
    """Yield arguments of `eval`, for a number and a process; the later ones are done sooner."""
    for number in range(count):
        wait = f"__import__('time').sleep({0.02 * (count - number)})"
        yield (f"({wait}, {number}, __import__('os').getpid())[1:]",)


def test_results_come_in_the_order_of_the_tasks():
    found = list(in_order(eval, sleepers(6), workers=2))
    assert [number for number, _ in found] == [*range(6)]
    assert os.getpid() not in {process for _, process in found}


@pytest.mark.slow
def test_tasks_are_taken_as_they_are_needed():
    tasks = sleepers(6)
    results = in_order(eval, tasks, workers=1)
    assert next(results)[0] == 0
    results.close()
    assert len(list(tasks)) == 3


@pytest.mark.slow
def test_errors_reach_the_caller():
    with pytest.raises(TreeError, match="the line is empty"):
        list(in_order(read_tree, iter([("",)]), workers=1))
    with pytest.raises(WorkerLost, match="a worker process was killed"):
        list(in_order(os._exit, iter([(1,)]), workers=1))


def test_no_tasks_need_no_workers():
    assert list(in_order(eval, iter([]), workers=0)) == []

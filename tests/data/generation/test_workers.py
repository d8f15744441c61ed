import os
import signal
import time

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.workers import WorkerLost, in_order


def slow_square(number):
    """The larger the number, the sooner it is done."""
    time.sleep(0.02 * (6 - number))
    return number * number, os.getpid()


def refuse(number):
    raise UserError(f"{number} is refused")


def die(number):
    os.kill(os.getpid(), signal.SIGKILL)


def test_results_come_in_the_order_of_the_tasks():
    found = list(in_order(slow_square, iter([(n,) for n in range(6)]), workers=2))
    assert [square for square, _ in found] == [0, 1, 4, 9, 16, 25]
    assert os.getpid() not in {pid for _, pid in found}


def test_tasks_are_taken_as_they_are_needed():
    taken = []

    def tasks():
        for number in range(6):
            taken.append(number)
            yield (number,)

    results = in_order(slow_square, tasks(), workers=1)
    next(results)
    assert taken == [0, 1, 2]
    results.close()


def test_errors_reach_the_caller():
    with pytest.raises(UserError, match="3 is refused"):
        list(in_order(refuse, iter([(3,)]), workers=1))
    with pytest.raises(WorkerLost, match="a worker process was killed"):
        list(in_order(die, iter([(1,)]), workers=1))


def test_no_tasks_need_no_workers():
    assert list(in_order(slow_square, iter([]), workers=0)) == []

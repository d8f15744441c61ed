"""Commands that are killed at any moment end, when given again, as if nothing had happened."""

import random

import pytest
from cases import contents, describe
from forked import Fault

# How often each command is killed here; `-m slow` kills it at every change and at random times.
FEW = 2
TIMES = 6


def check(undisturbed, world, fault):
    case, folder, expected, _ = undisturbed
    case.prepare(world, folder)
    killed = case.run(folder, fault)
    assert killed.killed or fault.seconds is not None, describe(killed)
    ended = case.run(folder)
    # An import that was killed when it was complete may be refused, since it is there.
    assert ended.code == 0 or ended.sentence, describe(ended)
    assert contents(folder) == expected, describe(ended)


def test_killed_at_some_changes(undisturbed, world):
    case, _, _, ended = undisturbed
    draw = random.Random(case.name)
    for operation in draw.sample(range(len(ended.operations)), FEW):
        check(undisturbed, world, Fault(operation=operation))


@pytest.mark.slow
def test_killed_at_every_change(undisturbed, world):
    for operation in range(len(undisturbed[-1].operations)):
        check(undisturbed, world, Fault(operation=operation))


@pytest.mark.slow
def test_killed_at_random_times(undisturbed, world):
    case, _, _, ended = undisturbed
    draw = random.Random(case.name)
    for _ in range(TIMES):
        check(undisturbed, world, Fault(seconds=draw.uniform(0, ended.seconds)))


@pytest.mark.slow
def test_killed_twice(undisturbed, world):
    case, folder, expected, ended = undisturbed
    draw = random.Random(case.name)
    case.prepare(world, folder)
    for _ in range(2):
        case.run(folder, Fault(operation=draw.randrange(len(ended.operations))))
    ended = case.run(folder)
    assert ended.code == 0 and contents(folder) == expected, describe(ended)

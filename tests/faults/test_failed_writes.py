"""A disk that is full, read-only or broken costs one sentence, and nothing that was saved."""

import random
import re

import pytest
from cases import contents, describe
from forked import Fault

# What the sentence says of each error; "": a file is larger than the process may write.
REASONS = {
    "ENOSPC": "no space left",
    "EROFS": "read-only file system",
    "EACCES": "permission denied",
    "EIO": "input/output error",
    "EDQUOT": "no space left|disk quota exceeded",
    "": "ulimit",
}
ERRORS = [error for error in REASONS if error]
SIZES = (0, 100, 1000, 5000)


def check(undisturbed, world, fault):
    case, folder, expected, _ = undisturbed
    case.prepare(world, folder)
    failed = case.run(folder, fault)
    if failed.code == 0:
        # Nothing was written that did not fit, or what failed was not needed.
        assert contents(folder) == expected, (fault, describe(failed))
        return
    assert failed.code == 3, (fault, describe(failed))
    assert re.search(REASONS[fault.error], failed.sentence.lower()), (fault, describe(failed))
    ended = case.run(folder)
    assert ended.code == 0, (fault, describe(ended))
    assert contents(folder) == expected, (fault, describe(ended))


def test_some_writes_fail(undisturbed, world):
    case, _, _, ended = undisturbed
    draw = random.Random(case.name)
    for error in ERRORS[:1]:
        check(
            undisturbed,
            world,
            Fault(operation=draw.randrange(len(ended.operations)), error=error),
        )


def test_files_must_stay_small(undisturbed, world):
    check(undisturbed, world, Fault(file_size=SIZES[1]))


@pytest.mark.slow
def test_every_write_fails(undisturbed, world):
    """Each change fails once, with the errors in turn."""
    for operation in range(len(undisturbed[-1].operations)):
        error = ERRORS[operation % len(ERRORS)]
        check(undisturbed, world, Fault(operation=operation, error=error))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_file_may_grow(undisturbed, world, size):
    check(undisturbed, world, Fault(file_size=size))

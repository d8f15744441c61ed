import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.io.out_of_memory import OutOfMemoryError, explained

MESSAGE = r"^batch 3: out of memory; make it smaller$"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor {{node x}}"),
        RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes"),
        RuntimeError("CUDA out of memory"),
    ],
)
@pytest.mark.parametrize("what", ["batch 3", lambda: "batch 3"])
def test_every_librarys_shortage_is_a_sentence(error, what):
    with (
        pytest.raises(OutOfMemoryError, match=MESSAGE) as caught,
        explained(what, "make it smaller"),
    ):
        raise error
    assert caught.value.exit_code == 3


@pytest.mark.slow
def test_real_ones():
    for allocate in (lambda: np.zeros(2**55), lambda: tf.zeros((2**20, 2**20, 2**10))):
        with pytest.raises(OutOfMemoryError), explained("a test", "nothing"):
            allocate()


def test_other_errors_pass():
    with pytest.raises(KeyError), explained("batch 3", "make it smaller"):
        raise KeyError


def test_the_innermost_explanation_stays():
    with (
        pytest.raises(OutOfMemoryError, match=MESSAGE),
        explained("the evaluation", "evaluate less"),
        explained("batch 3", "make it smaller"),
    ):
        raise MemoryError

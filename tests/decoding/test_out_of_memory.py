import pytest
import tensorflow as tf

from t2t_phrase.decoding.out_of_memory import OutOfMemoryError, explained


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor {{node a/b}}"),
        RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 123 bytes"),
    ],
)
def test_the_lines_and_the_way_on_are_named(error):
    with pytest.raises(OutOfMemoryError) as caught, explained([9, 3, 4, 7, 5, 6, 8], (8, 16)):
        raise error
    assert str(caught.value) == (
        "out of memory in a batch of 8 x 16 tokens, lines 3, 4, 5, 6, 7 and 2 more: give a smaller "
        "batch_size, or a smaller beam_size"
    )
    assert caught.value.exit_code == 3
    message = "line 3: give a smaller max_input_size"
    with pytest.raises(OutOfMemoryError, match=message), explained([3], (1, 1024)):
        raise error


def test_other_errors_pass():
    with pytest.raises(ValueError, match="other"), explained([1], (1, 8)):
        raise ValueError("other")

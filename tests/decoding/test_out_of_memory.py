import pytest

from t2t_phrase.decoding.out_of_memory import explained
from t2t_phrase.io.out_of_memory import OutOfMemoryError


def test_the_lines_and_the_way_on_are_named():
    with pytest.raises(OutOfMemoryError) as caught, explained([9, 3, 4, 7, 5, 6, 8], (8, 16)):
        raise MemoryError
    assert str(caught.value) == (
        "a batch of 8 x 16 tokens, lines 3, 4, 5, 6, 7 and 2 more: out of memory; give a smaller "
        "batch_size, or a smaller beam_size"
    )
    assert caught.value.exit_code == 3
    message = "line 3: out of memory; give a smaller max_input_size"
    with pytest.raises(OutOfMemoryError, match=message), explained([3], (1, 1024)):
        raise MemoryError


def test_other_errors_pass():
    with pytest.raises(ValueError, match="other"), explained([1], (1, 8)):
        raise ValueError("other")

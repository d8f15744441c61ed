import pytest

from t2t_phrase.config import HParamsError
from t2t_phrase.decoding.hparams import BOUNDS, DecodeHParams

NUMBERS = {
    name
    for name, value in vars(DecodeHParams()).items()
    if not isinstance(value, bool | tuple | str)
}


def test_every_number_has_bounds_and_keeps_them():
    assert set(BOUNDS) == NUMBERS
    for name, (least, most) in BOUNDS.items():
        # What else a value needs.
        others = {"sampling_temp": 1.0} if name == "sampling_keep_top_k" else {}
        others |= {"max_length": 0} if name == "min_length" else {}
        for value in (least, most):
            assert getattr(DecodeHParams().replace(**others, **{name: value}), name) == value
        for value in (least - 1, most + 1, most * 10**6):
            with pytest.raises(HParamsError, match=rf"{name}: (must|expected) .*, got "):
                DecodeHParams().replace(**others, **{name: value})


def test_a_temperature_near_zero_is_refused():
    with pytest.raises(HParamsError, match=r"sampling_temp: must be 0 or at least 0\.001, got"):
        DecodeHParams(sampling_temp=1e-9)

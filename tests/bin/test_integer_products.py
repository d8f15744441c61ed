"""The note that 8-bit integers gain nothing on a CPU."""

import pytest

from t2t_phrase.bin import integer_products
from t2t_phrase.decoding.hparams import DecodeHParams


@pytest.mark.parametrize("known", [True, None, False])
@pytest.mark.parametrize("quantize", ["", "int8"])
def test_slow_integers_are_noted(known, quantize, monkeypatch, capsys):
    monkeypatch.setattr(integer_products, "multiplies_integers", lambda: known)
    integer_products.note_slow_integers(DecodeHParams(quantize=quantize))
    noted = "float32 is faster" in capsys.readouterr().err
    assert noted == (known is False and quantize == "int8")


def test_instructions_of_the_cpu(tmp_path):
    said = tmp_path / "cpuinfo"
    said.write_text("model name : X\nflags : fpu avx2 avx512_vnni\n")
    assert integer_products.multiplies_integers(said) is True
    said.write_text("flags : fpu avx2\n")
    assert integer_products.multiplies_integers(said) is False
    said.write_text("Features : fp asimd\n")
    assert integer_products.multiplies_integers(said) is None
    assert integer_products.multiplies_integers(tmp_path / "none") is None

import subprocess
import sys

import keras
import pytest

import t2t_phrase


def test_the_import_is_fast_and_lazy():
    code = (
        "import sys, time, t2t_phrase; print({'keras', 'tensorflow', 'numpy'} & set(sys.modules));"
        "print(time.process_time())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, seconds = done.stdout.splitlines()
    # On a busy machine, it may take longer than the CPU does.
    assert loaded == "set()" and float(seconds) < 5


@pytest.mark.parametrize("name", sorted(t2t_phrase._PUBLIC))
def test_every_public_name_exists(name):
    assert name in dir(t2t_phrase) and getattr(t2t_phrase, name).__doc__


def test_layers_are_found_by_name():
    found = dir(t2t_phrase.layers)
    assert {"InterleavedQueryK", "MultiHeadAttention", "AttentivePooling"} <= set(found)
    for name in found:
        assert getattr(t2t_phrase.layers, name).__name__ == name
    assert issubclass(t2t_phrase.layers.InterleavedQueryK, keras.layers.Layer)
    with pytest.raises(AttributeError, match="InterleavedQuery"):
        _ = t2t_phrase.layers.InterleavedQuery
    with pytest.raises(AttributeError, match="nothing"):
        _ = t2t_phrase.nothing

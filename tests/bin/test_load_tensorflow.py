import contextlib
import logging
import platform
import subprocess
import sys

import pytest

from t2t_phrase.bin.common import load_tensorflow


@contextlib.contextmanager
def collected(logger):
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logger.addHandler(handler)
    yield records
    logger.removeHandler(handler)


def trace_often():
    import tensorflow as tf

    function = tf.function(lambda number: tf.constant(number))
    for number in range(8):
        function(number)


@pytest.mark.parametrize("filtered", [False, True])
def test_graphs_for_many_shapes_are_no_warning(filtered, monkeypatch):
    import tensorflow as tf

    logger = tf.get_logger()
    monkeypatch.setattr(logger, "filters", [])
    # Other tests may have silenced it.
    monkeypatch.setattr(logger, "disabled", False)
    level = logger.level
    logger.setLevel(logging.WARNING)
    if filtered:
        load_tensorflow()
    with collected(logger) as records:
        trace_often()
        logger.warning("another")
    found = [record.getMessage() for record in records]
    logger.setLevel(level)
    assert any("retracing" in text for text in found) == (not filtered)
    assert found[-1] == "another"


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="only x86 CPUs use oneDNN by default"
)
@pytest.mark.parametrize(("given", "used"), [(None, True), ("0", False), ("1", True)])
def test_onednn_is_used_on_x86_unless_switched_off(given, used, monkeypatch):
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    if given is not None:
        monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", given)
    program = (
        "from t2t_phrase.bin.common import load_tensorflow; load_tensorflow();"
        "from tensorflow.python.util import _pywrap_util_port as port;"
        "print(port.IsMklEnabled())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == str(used), done.stderr

import platform
import subprocess
import sys

import pytest


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

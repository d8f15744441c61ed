"""Runs Python in another process, on another backend of Keras and without TensorFlow."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="jax is not installed"
)
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)


def run_under(script: str, *arguments: object, backend: str = "jax", flags: str = "") -> None:
    """Run a script and check that it ends well.

    Args:
        script: Python, which can import what the test can, but for TensorFlow.
        *arguments: its `sys.argv[1:]`.
        backend: "jax" or "torch".
        flags: further XLA_FLAGS.
    """
    result = subprocess.run(
        [sys.executable, "-c", _WITHOUT_TENSORFLOW + script, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "KERAS_BACKEND": backend,
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip(),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
    )
    assert result.returncode == 0, result.stderr


_WITHOUT_TENSORFLOW = 'import sys\nsys.modules["tensorflow"] = None\n'

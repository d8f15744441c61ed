import builtins
import sys
import types

import measure


def test_threads_are_limited_where_the_library_is_not_installed(monkeypatch):
    # As in the environment of OpenNMT-tf.
    asked = {}
    threading = types.SimpleNamespace(
        set_intra_op_parallelism_threads=lambda threads: asked.update(intra=threads),
        set_inter_op_parallelism_threads=lambda threads: asked.update(inter=threads),
    )
    stub = types.SimpleNamespace(config=types.SimpleNamespace(threading=threading))
    monkeypatch.setitem(sys.modules, "tensorflow", stub)
    usual = builtins.__import__

    def without_library(name, *arguments):
        if name.startswith("t2t_phrase"):
            raise ModuleNotFoundError(name)
        return usual(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without_library)
    monkeypatch.setattr(measure, "os", types.SimpleNamespace(environ={}))
    monkeypatch.setattr(measure, "platform", types.SimpleNamespace(machine=lambda: "x86_64"))
    measure.limit_threads(3)
    assert asked == {"intra": 3, "inter": 3}
    assert measure.os.environ["TF_ENABLE_ONEDNN_OPTS"] == "1"

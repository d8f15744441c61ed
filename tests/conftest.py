"""Fixtures shared by all tests."""

import ctypes
import ctypes.util
import gc
import os
import pathlib
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from process_memory import resident_mib

# Small models take longer to compile than to run. XLA_FLAGS= TF_ENABLE_ONEDNN_OPTS=1 tests what
# is compiled for users.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true",
)
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
# How many examples each property is tried on: --hypothesis-profile=many is for patient people.
settings.register_profile("few", derandomize=True, max_examples=25, deadline=None, database=None)
settings.register_profile("many", settings.get_profile("few"), max_examples=250)
settings.load_profile("few")


def pytest_configure() -> None:
    """Let commands be interrupted, also where the tests run in the background and cannot be."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Replace workers whose memory has grown."""
    from recycled_workers import RecyclingScheduler

    return RecyclingScheduler(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Start another worker where one has ended before its time."""
    from recycled_workers import replace_worker

    if not error:
        replace_worker(node)


# A search for garbage takes about a second once a worker has compiled much.
GROWTH_MIB = 200
_memory = {"mib": 0.0}


@pytest.fixture(scope="module", autouse=True)
def memory_is_returned() -> Iterator[None]:
    """Free what the tests of a file have compiled, once a worker has grown by `GROWTH_MIB`."""
    yield
    if "keras" in sys.modules:
        sys.modules["keras"].utils.clear_session(free_memory=False)
    if resident_mib(os.getpid()) < _memory["mib"] + GROWTH_MIB:
        return
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    gc.collect()
    library = ctypes.CDLL(ctypes.util.find_library("c"))
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)
    _memory["mib"] = resident_mib(os.getpid())


@pytest.fixture(scope="session")
def shared_dir() -> pathlib.Path:
    """Corpora and fixtures that some checkouts have beside them."""
    path = pathlib.Path(__file__).resolve().parents[2] / "shared"
    if not path.is_dir():
        pytest.skip("no shared folder beside the checkout")
    return path


@pytest.fixture
def record_run():
    """Return a function that writes the record of a run, by the flags of its trainer."""

    from t2t_phrase.runs.record import RunRecord, resolve_hparams

    def record(folder, flags):
        folder.mkdir(exist_ok=True, parents=True)
        hparams, _ = resolve_hparams(flags["hparams_set"], flags["hparams"])
        RunRecord(
            problem=flags["problem"],
            model=hparams.model,
            hparams_set=flags["hparams_set"],
            overrides=flags["hparams"],
            hparams=hparams.to_dict(),
            vocab_size=8,
            vocabulary="",
            random_seed=int(flags["random_seed"]),
        ).save(folder)

    return record

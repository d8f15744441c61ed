import collections
import subprocess
import sys

import pytest

from t2t_phrase.data.generation import checks
from t2t_phrase.data.sources.corpus import Pair
from t2t_phrase.features import ALIGNMENT, TAGS

STREAMS = ("other", TAGS.side_stream, ALIGNMENT.side_stream)
FEATURES = (TAGS, ALIGNMENT)
TREES = ["(S (NP Kim) (VP sleeps))", "(S (NN Kim) (VP sleeps))", "(S Kim"]


def pairs(count):
    """Yield pairs of which every third one has a tree that is none."""
    for line in range(1, count + 1):
        side = ("", TREES[line % 3], "0-0 1-1")
        yield Pair(("Kim sleeps", "Kim schläft"), ("en", "de"), line, side, ("o", "trees", "align"))


def everything(count, workers):
    labels = collections.Counter()
    found, misfits = [], []
    for checked in checks.check_all(pairs(count), STREAMS, FEATURES, workers=workers):
        found += checked.pairs
        misfits += checked.misfits
        labels.update(checked.labels.get(TAGS.name, {}))
    return found, misfits, labels


@pytest.mark.parametrize("workers", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_pairs_keep_their_order_in_several_processes(workers, monkeypatch):
    monkeypatch.setattr(checks, "_BATCH", 4)
    monkeypatch.setattr(checks, "_BATCHES_HERE", 2)
    found, misfits, labels = everything(43, workers)
    assert found == list(pairs(43))
    lines = [line for line in range(1, 44) if line % 3 == 2]
    assert [text.partition(": ")[0] for text in misfits] == [f"trees:{line}" for line in lines]
    assert all("brackets do not match: 1 opening, 0 closing" in text for text in misfits)
    assert set(labels) == {"NP", "NN", "VP"}
    # Lines 3, 6, ... and 1, 4, ...: both words have a label at each of the levels.
    assert labels["VP"] == labels["NP"] + labels["NN"] > 0


def test_few_pairs_start_no_process(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a process was started")

    monkeypatch.setattr(
        checks, "in_order", lambda f, tasks, workers: refuse() if list(tasks) else ()
    )
    assert len(everything(50, workers=2)[0]) == 50


def test_without_features_nothing_is_read_and_no_process_started(monkeypatch):
    monkeypatch.setattr(checks, "_BATCH", 2)
    monkeypatch.setattr(checks, "_BATCHES_HERE", 1)
    monkeypatch.setattr(checks, "in_order", lambda f, tasks, workers: iter([1 / 0 for _ in tasks]))
    found = [
        pair for part in checks.check_all(pairs(9), STREAMS, (), workers=4) for pair in part[0]
    ]
    assert len(found) == 9


def test_workers_need_not_import_tensorflow():
    program = (
        "import sys\n"
        "from t2t_phrase.data.generation import records\n"
        "from t2t_phrase.data.generation.checks import check\n"
        "from t2t_phrase.data.sources.corpus import Pair\n"
        "from t2t_phrase.features import ALIGNMENT, LEVELS, PHRASES, TAGS\n"
        "features = (ALIGNMENT, LEVELS, PHRASES, TAGS)\n"
        "streams = [feature.side_stream for feature in features]\n"
        "side = ['0-0 1-1', *['(S (NP Kim) (VP sleeps))'] * 3]\n"
        "pair = Pair(('Kim sleeps', 'Kim schläft'), ('en', 'de'), 1, side, streams)\n"
        "assert not check([pair], streams, features).misfits\n"
        "print('tensorflow' in sys.modules or 'keras' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr

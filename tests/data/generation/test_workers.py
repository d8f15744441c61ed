import os
import subprocess
import sys
import time

import pytest

from t2t_phrase.data.generation.encoding import processes
from t2t_phrase.data.generation.workers import WorkerLost, gathered, in_order
from t2t_phrase.text.trees.trees import TreeError, read_tree


def sleepers(count):
    """Yield arguments of `eval`, for a number and a process; the later ones are done sooner."""
    for number in range(count):
        wait = f"__import__('time').sleep({0.02 * (count - number)})"
        yield (f"({wait}, {number}, __import__('os').getpid())[1:]",)


def test_results_come_in_the_order_of_the_tasks():
    found = list(in_order(eval, sleepers(6), workers=2))
    assert [number for number, _ in found] == [*range(6)]
    assert os.getpid() not in {process for _, process in found}


@pytest.mark.slow
def test_tasks_are_taken_as_they_are_needed():
    tasks = sleepers(6)
    results = in_order(eval, tasks, workers=1)
    assert next(results)[0] == 0
    results.close()
    assert len(list(tasks)) == 3


@pytest.mark.slow
def test_errors_reach_the_caller():
    with pytest.raises(TreeError, match="the line is empty"):
        list(in_order(read_tree, iter([("",)]), workers=1))
    with pytest.raises(WorkerLost, match="a worker process was killed"):
        list(in_order(os._exit, iter([(1,)]), workers=1))


def test_an_interrupt_does_not_wait_for_running_tasks():
    def interrupt():
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        gathered(time.sleep, [(1000,)] * 3, workers=2, waiting=interrupt)
    assert time.monotonic() - start < 500


def test_no_tasks_need_no_workers():
    assert list(in_order(eval, iter([]), workers=0)) == []


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_of_it(tmp_path):
    for split, count in (("train", 60), ("dev", 5)):
        for side in ("src", "tgt"):
            lines = (f"das Haus {i} steht am See\n" for i in range(count))
            (tmp_path / f"{split}.{side}").write_text("".join(lines))
    script = tmp_path / "script.py"
    script.write_text(
        "import t2t_phrase\n"
        "from t2t_phrase.data.generation import encoding\n"
        "encoding._MANY_PAIRS = 10\n"
        "t2t_phrase.generate_data('translate_text', data_dir='data', tmp_dir='.', num_workers=2,"
        " vocab_size=300)\n"
    )
    done = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode
    assert "generate_data() starts processes that import this script" in done.stderr
    assert '`if __name__ == "__main__":`' in done.stderr


def test_processes_do_not_use_more_cpus_than_they_may(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {1, 2, 5}, raising=False)
    monkeypatch.delenv("TF_NUM_INTRAOP_THREADS", raising=False)
    assert processes(0) == 3
    assert processes(7) == 7

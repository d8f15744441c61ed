import os
import signal
import threading
import time

import pytest
from toy_run import call as run_main

from t2t_phrase.bin import demo
from t2t_phrase.config import UserError


def test_the_exit_code_of_a_command_is_passed_on():
    assert demo.call(["true"]) == 0
    assert demo.call(["sh", "-c", "exit 5"]) == 5
    assert demo.call(["sh", "-c", "kill -9 $$"]) == 137


@pytest.mark.parametrize(("script", "status"), [("trap 'exit 7' INT", 7), ("trap 'exit' INT", 130)])
def test_an_interrupt_is_left_to_the_command(script, status):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    assert demo.call(["sh", "-c", f"{script}; while :; do sleep 0.05; done"]) == status
    assert time.monotonic() - start < 20


def test_wrong_hyperparameters_are_refused_before_the_first_command(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "call", lambda command: pytest.fail("a command was started"))
    with pytest.raises(UserError, match="hparams set 'transformer_dem' is unknown; did you mean"):
        run_main(demo, f"--work_dir={tmp_path}", "--hparams_set=transformer_dem")
    with pytest.raises(UserError, match="num_head: unknown; did you mean num_heads"):
        run_main(demo, f"--work_dir={tmp_path}", "--hparams=num_head=2")

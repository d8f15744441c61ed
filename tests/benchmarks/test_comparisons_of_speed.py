"""Scripts that compare speed, without timing anything."""

import json
import pathlib
import sys
import types

import all_reduce
import compare_commits
import compare_sets
import compare_toolkits
import input_pipeline
import jax_training
import numpy as np
import parts_alone
import pytest
import recurrent
import step_memory


def call(script, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [f"{script.__name__}.py", *arguments])
    return script.main()


def test_a_toolkit_runs_in_an_environment_below_the_folder_of_the_user(
    monkeypatch, tmp_path, capsys
):
    python = tmp_path / "env1" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    ran = []

    def run(command):
        ran.append(command[0])
        return "", 1.0

    monkeypatch.setattr(compare_toolkits, "tokens_per_second", run)
    flags = ["--rounds=1", "--opennmt_tf=env1/bin/python"]
    assert call(compare_toolkits, monkeypatch, *flags) == 0
    # Not the link's target, whose environment is another one.
    assert ran[-1] == str(python)
    with pytest.raises(SystemExit):
        call(compare_toolkits, monkeypatch, "--transformers=env2/bin/python")
    assert "--transformers=env2/bin/python: no such program" in capsys.readouterr().err


def test_an_unknown_commit_is_told(tmp_path):
    with pytest.raises(SystemExit, match="error: git has no commit nope in "):
        compare_commits.unpack("nope", tmp_path / "new")


def test_mistakes_are_told_before_a_commit_is_timed(monkeypatch, capsys):
    for flag, said in (
        ("--pairs=1", "--pairs=1: give at least 2"),
        ("--base_environment=X", "X: give variables of the environment as NAME=VALUE"),
    ):
        with pytest.raises(SystemExit):
            call(compare_commits, monkeypatch, "--base=HEAD", flag, "--", "decode.py")
        assert said in capsys.readouterr().err


def test_a_benchmark_that_times_nothing_is_told(monkeypatch):
    commit = types.SimpleNamespace(ready=lambda: False, reports=[{}])
    monkeypatch.setattr(compare_commits, "Commit", lambda *arguments: commit)
    with pytest.raises(SystemExit, match=r"error: datagen\.py times nothing with"):
        call(compare_commits, monkeypatch, "--base=HEAD", "--", "datagen.py")


def test_a_report_may_be_about_several_timings(monkeypatch, capsys):
    # As those of local_attention.py are.
    class Commit:
        def __init__(self, commit, *arguments):
            self.took, self.left, self.reports = 2.0 if commit == "old" else 1.0, 4, []

        def ready(self):
            if self.left in (2, 0):
                self.reports.append({"task": "step", "source": self.left})
            self.left -= 1
            return self.left >= 0

        def seconds(self):
            return self.took

        def end(self):
            pass

    monkeypatch.setattr(compare_commits, "Commit", Commit)
    call(compare_commits, monkeypatch, "--base=old", "--pairs=2", "--", "local_attention.py")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["timing"] for line in lines] == ["1 of 2", "2 of 2"] * 2
    assert {(line["task"], line["speed_of_new_over_base"]) for line in lines} == {("step", 2.0)}


@pytest.mark.parametrize(
    ("script", "flag"),
    [(parts_alone, "--xla"), (jax_training, "--xla"), (step_memory, "--repeats=3")],
)
def test_options_that_would_change_nothing_are_refused(script, flag, monkeypatch, capsys):
    for name in ("limit_threads", "start", "uses_jax"):
        monkeypatch.setattr(script, name, lambda *a: pytest.fail("it began"), raising=False)
    with pytest.raises(SystemExit) as ended:
        call(script, monkeypatch, flag)
    assert ended.value.code == 2
    assert f"unrecognized arguments: {flag}" in capsys.readouterr().err


def test_the_matrix_rate_is_that_of_the_type(monkeypatch, capsys):
    rates = {"float32": 1e9, "mixed_bfloat16": 2e9}
    monkeypatch.setattr("t2t_phrase.models.luong.Luong.from_hparams", lambda *a, **sizes: None)
    monkeypatch.setattr(recurrent, "limit_threads", lambda threads: None)
    monkeypatch.setattr(recurrent, "training", lambda *arguments, **sizes: None)
    monkeypatch.setattr(recurrent, "median_seconds", lambda run, repeats: 1.0)
    monkeypatch.setattr(recurrent, "matrix_rate", lambda policy="float32": rates[policy])
    call(recurrent, monkeypatch, "--dtype=mixed_bfloat16")
    assert json.loads(capsys.readouterr().out)["matrix_gflops"] == 2


def test_sets_get_all_the_features_that_they_read(monkeypatch):
    seen = []

    def train(features):
        seen.append(features)
        return types.SimpleNamespace(objective=1.0)

    fake = lambda rows, *lengths: {"levels": np.ones((rows, lengths[0]), np.int32)}  # noqa: E731
    stepper = types.SimpleNamespace(train=train, fake_features=fake)
    monkeypatch.setattr(compare_sets, "base_model", lambda *arguments: ())
    monkeypatch.setattr(compare_sets, "stepper_of", lambda **options: stepper)
    assert compare_sets.timed_update("s", 2, 4, 9, dtype="float32", xla=False)() >= 0
    assert {name: array.shape for name, array in seen[0].items()} == dict.fromkeys(
        ("levels", "inputs", "targets"), (2, 4)
    )


def test_workers_get_one_set_whatever_the_spelling_of_the_flag(monkeypatch, capsys):
    commands = []
    found = {"0": {"update": 1.0, "sum": 0.5, "agreement": 0.1, "mib": 3}}

    def results(command, added):
        commands.append(command)
        return [found for _ in added]

    monkeypatch.setattr(all_reduce, "results", results)
    call(all_reduce, monkeypatch, "--hparams_sets", "a,b", "--repeats=1")
    assert [json.loads(line)["set"] for line in capsys.readouterr().out.splitlines()] == ["a", "b"]
    assert [command[-2] for command in commands] == [f"--hparams_sets={n}" for n in "aabb"]


def test_a_failed_process_is_told(monkeypatch):
    monkeypatch.setattr(input_pipeline.sys, "executable", "false")
    with pytest.raises(SystemExit, match="the benchmark failed, see above"):
        input_pipeline.in_a_process(pathlib.Path("x"), "read")

import pytest
from toy_run import call as run_main

from t2t_phrase.bin import demo
from t2t_phrase.config import UserError


def test_wrong_hyperparameters_are_refused_before_the_first_command(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "call", lambda command: pytest.fail("a command was started"))
    with pytest.raises(UserError, match="hparams set 'transformer_dem' is unknown; did you mean"):
        run_main(demo, f"--work_dir={tmp_path}", "--hparams_set=transformer_dem")
    with pytest.raises(UserError, match="num_head: unknown; did you mean num_heads"):
        run_main(demo, f"--work_dir={tmp_path}", "--hparams=num_head=2")
    with pytest.raises(UserError, match="--hparams_set=alignment_model_demo: the demo translates,"):
        run_main(demo, f"--work_dir={tmp_path}", "--hparams_set=alignment_model_demo")


def test_it_runs_its_commands_in_order_and_says_what_they_took(monkeypatch, tmp_path, capsys):
    called = []
    monkeypatch.setattr(demo, "call", lambda command: called.append(command[2]) or 0)
    run_main(demo, f"--work_dir={tmp_path}")
    modules = ["datagen", "trainer", "decoder", "eval"]
    assert called == [f"t2t_phrase.bin.{module}" for module in modules]
    assert capsys.readouterr().out.endswith(
        "\nThe demo took 0.0 minutes (datagen 0.0, trainer 0.0, decoder 0.0, eval 0.0).\n"
        f"Its files are in {tmp_path}.\n"
    )


def test_it_stops_at_the_first_command_that_fails(monkeypatch, tmp_path):
    called = []
    monkeypatch.setattr(demo, "call", lambda command: called.append(command) or 3)
    with pytest.raises(SystemExit) as stopped:
        run_main(demo, f"--work_dir={tmp_path}")
    assert stopped.value.code == 3 and len(called) == 1

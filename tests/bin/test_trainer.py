import dataclasses
import json
import shutil
import subprocess
import sys

import forked
import pytest
from absl import app
from free_ports import free_ports
from html_page import parse
from toy_run import call
from trainer_toy import write_toy

from t2t_phrase.bin import report, trainer
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import add_command
from t2t_phrase.runs.load_model import load_model
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.writing import writing
from t2t_phrase.text.encoders import load_encoder

HPARAMS = (
    "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,batch_size=64,max_length=16,"
    "length_bucket_step=1.5"
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Return the flags of a tiny problem with data, and the folder for runs."""
    return write_toy(tmp_path_factory.mktemp("trainer"))


def flags(toy, name, *more, hparams=HPARAMS, report=""):
    return [
        "--problem=translate_trainer_toy",
        "--hparams_set=transformer_tiny",
        f"--hparams={hparams}",
        f"--data_dir={toy}",
        f"--output_dir={toy / name}",
        f"--t2t_usr_dir={toy / 'user'}",
        "--decode_hparams=beam_size=1,extra_length=2,max_input_size=4",
        f"--report={report}",
        *more,
    ]


@pytest.fixture(scope="module")
def trained(toy):
    """Train four steps; return what was printed."""
    given = ["--train_steps=4", "--local_eval_frequency=2", "--log_step_count_steps=2"]
    ended = forked.run("trainer", flags(toy, "run", *given, report="report.html"), toy)
    assert ended.code == 0, ended.err
    return ended.out


def test_a_run_from_the_command_line(toy, trained):
    assert "--hparams: batch_size: " in trained and " -> 64\n" in trained
    assert "step 4/4  loss " in trained
    assert "development set: line 1: " in trained and "cut to 4 (max_input_size)\n" in trained
    assert "step 4: dev loss " in trained and "|tok:13a|" in trained
    assert "\nfinished at step 4 of 4\nwritten: " in trained
    run = toy / "run"
    record = json.loads((run / "hparams.json").read_text())
    assert record["problem"] == "translate_trainer_toy" and record["random_seed"] == 1234
    assert record["overrides"] == HPARAMS and record["hparams"]["hidden_size"] == 16
    assert record["vocab_size"] % 8 == 0 and len(record["vocabulary"]) == 64
    assert sorted(json.loads((run / "evaluations.json").read_text())) == ["2", "4"]
    assert checkpoints.latest(run / "best") is not None
    assert load_model(run).step == 4


def test_the_run_leaves_a_page(toy, trained):
    (entry,) = json.loads((toy / "run" / "commands.json").read_text())
    assert entry["arguments"][:2] == flags(toy, "run")[:2]
    best = json.loads((toy / "run" / "best_translations.json").read_text())
    scores = json.loads((toy / "run" / "evaluations.json").read_text())
    assert best["bleu"] == max(values["bleu"] for values in scores.values())
    page = (toy / "run" / "report.html").read_text()
    assert best["signature"] in page and f"{best['bleu']:.2f} of the development set" in page
    assert page.count("<article") == len(best["lines"]) == 2
    assert "finished at step 4 of 4" in page and "--train_steps=4" in page


def test_a_page_that_cannot_be_written_is_no_failure(toy, trained, capsys):
    shutil.copytree(toy / "run", toy / "pageless")
    more = ["--train_steps=4", "--noeval_run_autoregressive"]
    call(trainer, *flags(toy, "pageless", *more, report="no/folder/page.html"))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("WARNING: the page no/folder/page.html was not written: cannot write ")


@pytest.mark.slow
def test_the_page_of_a_run_without_recorded_translations(toy, trained, capsys):
    shutil.copytree(toy / "run", toy / "older")
    for name in ("best_translations.json", "commands.json"):
        (toy / "older" / name).unlink()
    places = [f"--output_dir={toy / 'older'}", f"--data_dir={toy}"]
    places += [f"--t2t_usr_dir={toy / 'user'}", f"--report={toy / 'page.html'}"]
    call(report, *places, "--notranslate")
    assert "no translations of the development set are recorded" in (toy / "page.html").read_text()
    call(report, *places)
    told = capsys.readouterr().err
    assert "translating 2 sentences of the development set with " in told and "written: " in told
    page = (toy / "page.html").read_text()
    assert page.count("<article") == 2 and "|tok:13a|" in page
    assert "The run does not record its command" in page
    # All that averages have is a checkpoint.
    for path in (toy / "older" / "evaluations.json", *(toy / "older").glob("*tfevents*")):
        path.unlink()
    shutil.rmtree(toy / "older" / "best")
    call(report, *places)
    rows = dict(parse((toy / "page.html").read_text()).tables[0])
    assert rows["Updates"] == "4" and rows["Best checkpoint"].endswith("at update 4")


def test_other_settings_stop_with_the_difference(toy, trained):
    with pytest.raises(UserError, match="a run with different settings:\n  num_heads: 2 -> 4\n"):
        call(trainer, *flags(toy, "run", hparams=HPARAMS.replace("num_heads=2", "num_heads=4")))


@pytest.mark.slow
def test_more_steps_and_then_only_an_evaluation(toy, trained, capsys):
    more = ["--train_steps=5", "--noeval_run_autoregressive"]
    call(trainer, *flags(toy, "run", *more))
    out = capsys.readouterr().out
    assert "(step 4)" in out and out.endswith("finished at step 5 of 5\n")
    call(trainer, *flags(toy, "run", "--schedule=evaluate", "--noeval_run_autoregressive"))
    assert capsys.readouterr().out.splitlines()[-1].startswith("step 5: dev loss ")


@pytest.mark.slow
def test_an_evaluation_need_not_name_the_end_of_the_training(toy, trained, capsys):
    """The rate of this run falls until its last step, which is therefore a setting of it."""
    shutil.copytree(toy / "run", toy / "falling")
    decay = "learning_rate_schedule=constant*linear_decay"
    record = RunRecord.load(toy / "run")
    hparams = record.resolved().override(decay).to_dict()
    dataclasses.replace(record, hparams=hparams, train_steps=4).save(toy / "falling")
    given = flags(toy, "falling", "--noeval_run_autoregressive", hparams=f"{HPARAMS},{decay}")
    with pytest.raises(UserError, match="different settings:\n  train_steps: 4 -> 6\n") as error:
        call(trainer, *given, "--train_steps=6")
    assert f"--warm_start_from={toy / 'falling'}" in str(error.value)
    call(trainer, *given, "--schedule=evaluate")
    assert ": dev loss " in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.slow
def test_an_evaluation_need_not_have_the_devices_of_the_training(toy, trained, capsys):
    shutil.copytree(toy / "run", toy / "of_three")
    dataclasses.replace(RunRecord.load(toy / "run"), replicas=3).save(toy / "of_three")
    call(trainer, *flags(toy, "of_three", "--noeval_run_autoregressive", "--schedule=evaluate"))
    out = capsys.readouterr().out
    assert ": dev loss " in out.splitlines()[-1] and "shares" not in out


@pytest.mark.slow
def test_a_training_without_a_checkpoint_claims_nothing(toy, trained, capsys):
    folder = toy / "claimed"
    folder.mkdir()
    shutil.copy(toy / "run" / "hparams.json", folder)
    (folder / "model.ckpt-1.data-00000-of-00001").write_bytes(b"half")
    other = HPARAMS.replace("num_heads=2", "num_heads=4")
    steps = ["--train_steps=1", "--schedule=train"]
    call(trainer, *flags(toy, "claimed", *steps, hparams=other))
    out = capsys.readouterr().out
    assert f"{folder} holds a run that saved no checkpoint: starting over\n" in out
    assert load_model(folder).record.hparams["num_heads"] == 4
    assert not (folder / ".lock").exists()
    with pytest.raises(UserError, match="a run with different settings:\n  num_heads: 4 -> 2"):
        call(trainer, *flags(toy, "claimed", *steps))


def test_the_best_model_of_a_run_without_checkpoints_is_not_replaced(toy, trained):
    folder = toy / "best_only"
    shutil.copytree(toy / "run" / "best", folder / "best")
    shutil.copy(toy / "run" / "hparams.json", folder)
    with pytest.raises(UserError, match=rf"holds no checkpoint to resume from, but {folder}/best/"):
        call(trainer, *flags(toy, "best_only"))


def test_two_trainings_in_one_folder(toy, trained):
    with writing(toy / "run"):
        with pytest.raises(
            UserError, match=r"--output_dir=.*run: another process is writing there"
        ):
            call(trainer, *flags(toy, "run"))
        # An evaluation writes nothing.
        call(trainer, *flags(toy, "run", "--schedule=evaluate", "--noeval_run_autoregressive"))


def test_an_evaluation_of_nothing_leaves_no_folder(toy):
    with pytest.raises(UserError, match="holds no checkpoint to evaluate"):
        call(trainer, *flags(toy, "nothing", "--schedule=evaluate", "--noeval_run_autoregressive"))
    assert not (toy / "nothing").exists()


@pytest.mark.slow
def test_warm_start_in_reverse_without_evaluation(toy, trained, capsys, monkeypatch):
    def generate(problem, data_dir, tmp_dir, *, options, log):
        assert options.sampled_segmentations == 0
        log(f"generating {problem.base_name} in {data_dir} from {tmp_dir}")

    monkeypatch.setattr("t2t_phrase.data.generation.generate.generate", generate)
    call(
        trainer,
        *flags(
            toy, "warm", "--train_steps=1", "--schedule=train", f"--warm_start_from={toy / 'run'}"
        ),
        "--problem=translate_trainer_toy_rev",
        "--generate_data",
        "--tmp_dir=somewhere",
    )
    out = capsys.readouterr().out
    assert f"generating translate_trainer_toy in {toy} from somewhere\n" in out
    assert "warm start from " in out and "dev loss" not in out
    assert load_model(toy / "warm").record.problem == "translate_trainer_toy_rev"


def test_dry_run_shows_what_would_be(toy, capsys):
    call(trainer, *flags(toy, "dry", "--dry_run"))
    out = capsys.readouterr().out
    assert "encoder_layer_0/self_attention/query/kernel" in out and "16 x 16" in out
    vocabulary = load_encoder(toy / "toy.model")
    total = next(line for line in out.splitlines() if line.startswith("total"))
    embeddings = -(-vocabulary.vocab_size // 8) * 8 * 16
    assert int(total.split()[1].replace(",", "")) > embeddings
    assert "3 batch shapes" in out and "     4 x 16" in out
    assert "one update of 4 x 16 tokens: " in out and "GiB of main memory" in out
    assert not (toy / "dry").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("--problem=translate_trainer_to", "did you mean translate_trainer_toy"),
        ("--model=transformr", "did you mean transformer"),
        ("--hparams_set=transformer_tin", "did you mean transformer_tiny"),
        ("--hparams=num_head=4", "did you mean num_heads"),
        ("--warm_start_from=/nosuch/run", "/nosuch/run"),
        ("--warm_start_vocab=map", "--warm_start_vocab requires --warm_start_from"),
        (
            "--eval_early_stopping_metric=bleu",
            "--eval_early_stopping_metric requires --eval_early_stopping_steps",
        ),
        ("--worker_gpu=99", "--worker_gpu=99: TensorFlow finds"),
        ("--eval_early_stopping_steps=9 --schedule=train", "does not evaluate"),
        (
            "--eval_early_stopping_steps=9 --eval_early_stopping_metric=bleu "
            "--noeval_run_autoregressive",
            "computes no BLEU",
        ),
        (
            "--hparams_set=alignment_model_demo --eval_early_stopping_steps=9 "
            "--eval_early_stopping_metric=bleu",
            "there is no BLEU, since an alignment model predicts",
        ),
        ("--decode_hparams=beam=4", "did you mean beam_size"),
        ("--decode_hparams=beam=4 --schedule=train", "did you mean beam_size"),
        ("--hparams=max_length=70000,batch_size=70000", "max_length: must be at most 65,536"),
    ],
)
def test_mistakes_are_named_and_leave_no_folder(toy, change, message):
    with pytest.raises(UserError, match=message):
        call(trainer, *flags(toy, "wrong"), *change.split())
    assert not (toy / "wrong").exists()


@pytest.mark.parametrize(
    ("given", "unused", "reason"),
    [
        ("--schedule=train", ["eval_steps", "decode_hparams"], "does not evaluate"),
        ("--noeval_run_autoregressive", ["decode_hparams"], "does not translate"),
        ("--schedule=evaluate", [], ""),
    ],
)
def test_options_of_evaluations_that_do_nothing_are_named(toy, monkeypatch, given, unused, reason):
    """BLEU is not all that an evaluation computes."""
    lines = []
    monkeypatch.setattr(trainer, "train", lambda *a: trainer.log_unused_flags(lines.append))
    required = [flag for flag in flags(toy, "unused", given) if "decode_hparams" not in flag]
    call(trainer, *required)
    assert lines == []
    call(trainer, *required, "--eval_steps=3", "--decode_hparams=beam_size=2")
    assert lines == [f"--{name} is not used: {given} {reason}" for name in unused]


def test_required_flags(toy):
    with pytest.raises(app.UsageError, match="--hparams_set is required"):
        call(trainer, "--problem=translate_trainer_toy")
    with pytest.raises(app.UsageError, match=r"--problem is required for a new run, and .* none"):
        call(trainer, f"--data_dir={toy}", f"--output_dir={toy / 'misspelt'}")


def test_registry_help_lists_all_names(toy, capsys):
    call(trainer, "--registry_help=all", f"--t2t_usr_dir={toy / 'user'}")
    lines = capsys.readouterr().out.splitlines()
    described = dict(line.strip().partition("  ")[::2] for line in lines if line[:2] == "  ")
    assert described["translate_trainer_toy"].strip() == "Copies sentences of a few words."
    expected = "Encoder-decoder Transformer as tensor2tensor computes it."
    assert described["transformer"].strip() == expected
    expected = "`luong_base` with an encoder that reads backwards."
    about, _, summary = described["luong_base_reverse"].strip().partition("  ")
    assert summary.strip() == expected and about.endswith("M, 37,000 subwords")


def test_a_run_is_resumed_without_its_settings(toy, trained, capsys):
    shutil.copytree(toy / "run", toy / "again")
    call(
        trainer,
        f"--output_dir={toy / 'again'}",
        f"--data_dir={toy}",
        f"--t2t_usr_dir={toy / 'user'}",
        "--train_steps=6",
        "--noeval_run_autoregressive",
        "--report=",
    )
    out = capsys.readouterr().out
    assert out.startswith(
        f"settings of the run in {toy / 'again'}: --problem=translate_trainer_toy"
    )
    assert f"--hparams={HPARAMS}" in out and out.endswith("finished at step 6 of 6\n")
    # The next one resumes this command, not the first.
    (toy / "again" / "commands.json").unlink()
    add_command(toy / "again", ["--train_steps=4"], log=print)
    add_command(toy / "again", ["--train_steps=6"], log=print)
    given = [f"--data_dir={toy}", "--noeval_run_autoregressive", "--report="]
    call(trainer, f"--output_dir={toy / 'again'}", f"--t2t_usr_dir={toy / 'user'}", *given)
    out = capsys.readouterr().out
    assert "--train_steps=6" in out and "finished at step 6 of 6\n" in out


def test_the_run_keeps_its_log_and_its_vocabulary(toy, trained):
    lines = (toy / "run" / "train.log").read_text().splitlines()
    assert lines[0].endswith(" -> 64") or "--hparams: " in lines[0]
    assert any("finished at step 4 of 4" in line for line in lines)
    kept = (toy / "run" / "vocab.joint").read_bytes()
    assert kept == (toy / "toy.model").read_bytes()
    assert (toy / "run" / "best" / "vocab.joint").read_bytes() == kept


@pytest.mark.slow
def test_a_run_that_is_too_short_for_its_rate_is_warned_of(toy, trained, capsys):
    call(trainer, *flags(toy, "short", "--train_steps=1", "--schedule=train"))
    assert "WARNING: --train_steps=1 is low for this learning-rate" in capsys.readouterr().out


def test_registry_help_with_a_word(toy, capsys):
    call(trainer, "--registry_help=LUONG_BASE_REV")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Hparams sets:"
    # The first has the word in its description.
    names = [line.split()[0] for line in lines[1:]]
    assert names == ["luong_base_dropout", "luong_base_reverse"]
    with pytest.raises(
        UserError, match="no name or description contains it; did you mean luong_base_reverse"
    ):
        call(trainer, "--registry_help=luong_base_reversed")


@pytest.mark.slow
def test_two_workers_are_started_and_one_goes_on(toy):
    given = ["--local_eval_frequency=2", "--log_step_count_steps=2", "--worker_timeout=60"]
    command = [sys.executable, "-m", "t2t_phrase.bin.cluster", "--hosts=localhost,localhost"]
    command += [f"--port={free_ports(2)[0]}", "--"]
    ended = subprocess.run(
        [*command, *flags(toy, "two", "--train_steps=2", *given)], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "[0] saved " in ended.stdout and "[1] saved" not in ended.stdout
    assert ended.stdout.count("finished at step 2 of 2\n") == 1
    assert RunRecord.load(toy / "two").replicas == 2
    alone = forked.run("trainer", flags(toy, "two", "--train_steps=4", *given), toy)
    assert alone.code == 0, alone.err
    assert "the run began on 2 devices: each of 1 now computes 2 shares" in alone.out
    assert checkpoints.latest(toy / "two").endswith("model.ckpt-4")

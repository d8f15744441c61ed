"""t2t-phrase-compare, with trainings and translations that only write files."""

import json
import pathlib
import subprocess
import sys

import pytest
from toy_run import call

from t2t_phrase.bin import compare
from t2t_phrase.comparison import steps
from t2t_phrase.comparison.recipe import Recipe
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import Problem
from t2t_phrase.features import Feature
from t2t_phrase.runs import checkpoints

SETS = ["transformer_tiny", "transformer_small"]


@pytest.fixture
def flags(tmp_path, monkeypatch):
    """Flags of a comparison, whose commands write what the real ones would."""

    def command(arguments, output):
        del output
        module = arguments[2].rpartition(".")[2]
        given = dict(a.removeprefix("--").split("=", 1) for a in arguments[3:] if "=" in a)
        calls.append(module)
        if given.get("hparams_set") == "transformer_small" and failing:
            return 1
        if module == "trainer":
            pathlib.Path(given["output_dir"]).mkdir(exist_ok=True)
            (pathlib.Path(given["output_dir"]) / "model.ckpt-5.index").touch()
        elif module == "avg":
            pathlib.Path(given["output_path"]).mkdir()
            (pathlib.Path(given["output_path"]) / "checkpoint").touch()
        else:
            pathlib.Path(given["decode_to_file"]).write_text("ein haus .\ndie katze\n")
        return 0

    calls, failing = [], []
    monkeypatch.setattr(steps, "call", command)
    monkeypatch.setattr(checkpoints, "count_weights", lambda folder: 1_000_000)
    monkeypatch.setattr(Problem, "record_files", lambda *a: ["x"])
    monkeypatch.setattr(Problem, "raw_text", lambda *a: (["a house .", "the cat"], ["", ""]))
    monkeypatch.setattr(
        Problem, "raw_references", lambda *a: [["ein haus .", "die katze schlaeft"]]
    )
    given = ["--problem=translate_ende_multi30k", f"--data_dir={tmp_path}/data", "--train_steps=5"]
    given += [f"--output_dir={tmp_path}/out", f"--hparams_sets={','.join(SETS)}"]
    return given, calls, failing


def test_the_table_has_a_row_for_each_set(flags, tmp_path, capsys):
    given, calls, _ = flags
    call(
        compare,
        *given,
        "--seeds=1,2",
        "--metrics=ter,bleu",
        "--tokenize=none",
        "--lowercase",
        "--local_eval_frequency=2",
        "--num_last_checkpoints=3",
    )
    assert calls == ["trainer", "avg", "decoder"] * 4
    content = json.loads((tmp_path / "out" / "table.json").read_text())
    assert [row["set"] for row in content["rows"]] == SETS and content["seeds"] == [1, 2]
    assert content["signatures"] == [
        "TER `nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0`",
        "BLEU `nrefs:1|case:lc|eff:no|tok:none|smooth:exp|version:2.6.0`",
    ]
    assert "--local_eval_frequency=2" in content["commands"][0]
    output = capsys.readouterr().out
    assert (tmp_path / "out" / "table.md").read_text() in output
    assert "$ t2t-phrase-trainer --problem=translate_ende_multi30k" in output


def test_the_development_set_has_its_own_table(flags, tmp_path, monkeypatch):
    given, calls, _ = flags
    call(compare, *given)
    monkeypatch.setattr(Recipe, "has_trained", lambda *a: True)
    monkeypatch.setattr(Recipe, "check_same", lambda *a: None)
    made = (tmp_path / "out" / "table.md").read_text()
    call(compare, *given, "--split=dev", "--report_only")
    assert calls == [*["trainer", "avg", "decoder"] * 2, *["decoder"] * 2]
    content = json.loads((tmp_path / "out" / "table_dev.json").read_text())
    assert [row["set"] for row in content["rows"]] == SETS
    assert "development set of 2 sentences" in (tmp_path / "out" / "table_dev.md").read_text()
    assert (tmp_path / "out" / "table.md").read_text() == made


@pytest.mark.parametrize(("problem", "tokenizer"), [("", "13a"), ("_moses", "none")])
def test_bleu_is_computed_as_the_problem_says(flags, tmp_path, problem, tokenizer):
    call(compare, f"{flags[0][0]}{problem}", *flags[0][1:])
    (signature,) = json.loads((tmp_path / "out" / "table.json").read_text())["signatures"]
    assert f"|tok:{tokenizer}|" in signature


def test_sets_may_have_changes_of_their_own(flags, tmp_path, capsys):
    given, calls, _ = flags
    changed = "transformer_tiny:optimizer_options=[adam_epsilon=1e-8,clipnorm=1.0]+num_heads=1"
    call(compare, *given[:-1], f"--hparams_sets=transformer_tiny,{changed}")
    assert calls == ["trainer", "avg", "decoder"] * 2
    content = json.loads((tmp_path / "out" / "table.json").read_text())
    assert [row["set"] for row in content["rows"]] == ["transformer_tiny", changed]
    output = capsys.readouterr().out
    assert "'--hparams=optimizer_options=[adam_epsilon=1e-8,clipnorm=1.0],num_heads=1'" in output
    assert "`SET:FIELD=VALUE`: the set with this change" in output


def test_there_is_no_report_on_nothing(flags):
    given, calls, _ = flags
    with pytest.raises(
        UserError, match="no such run is finished; leave out --report_only to train"
    ):
        call(compare, *given, "--report_only")
    assert calls == []


def test_one_failure_does_not_stop_the_others(flags, tmp_path, capsys):
    given, _, failing = flags
    failing.append(True)
    with pytest.raises(UserError, match="failed: transformer_small-1234") as found:
        call(compare, *given)
    assert found.value.exit_code == 1  # that of the trainer here
    content = json.loads((tmp_path / "out" / "table.json").read_text())
    assert [row["set"] for row in content["rows"]] == SETS[:1]
    assert "t2t-phrase-trainer failed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--metrics=bleu,blue", "'blue' is unknown; did you mean bleu"),
        ("--metrics=ter,ter", "ter is given twice"),
        ("--test_sentences=500", "--test_sentences: only the grammar has sets of any size"),
        ("--metrics=", "--metrics= names no metric; known: bleu, chrf,"),
        ("--tokenize=31a", "tokenize '31a' is unknown"),
        ("--ngrams=33", "order 33 is out of range; choose 1 to 32"),
        ("--by_length=3,2", "lengths 3,2"),
        ("--by_length=x", "--by_length: 'x' is not a number"),
        ("--seeds=1,01", "--seeds: 1 is given twice"),
        ("--decode_hparams=beam_sise=3", "beam_size"),
        ("--contrastive=nowhere.json", "nowhere.json"),
        ("--local_eval_frequency=3", "--num_last_checkpoints=5: .* give at most 2, or a smaller"),
        ("--num_last_checkpoints=6", "the last 5 are kept; give at most 5$"),
        ("--hparams=hiden_size=3", "hidden_size"),
        ("--hparams_sets=alignment_model_demo", "alignment_model_demo cannot be compared"),
        ("--hparams_sets=transformer_tiny,mgsa_syntax_demo", "mgsa_syntax_demo: there are no data"),
        ("--hparams_sets=transformer_tini", "transformer_tiny"),
        ("--hparams_sets=transformer_tiny:hiden_size=3", "transformer_tiny:.*: .*hidden_size"),
        ("--hparams_sets=transformer_tiny,transformer_tiny", "'transformer_tiny' is given twice"),
    ],
)
def test_mistakes_are_reported_before_hours_of_training(flags, tmp_path, flag, message):
    given, calls, _ = flags
    given = [f for f in given if not f.startswith(flag.partition("=")[0] + "=")]
    with pytest.raises((UserError, KeyError), match=message):
        call(compare, *given, flag)
    assert calls == [] and list(tmp_path.iterdir()) == []


def test_pairs_of_the_other_direction_are_refused(flags):
    given, calls, _ = flags
    with pytest.raises(UserError, match="English into German, but the model translates de to en"):
        call(compare, *given, "--problem=translate_ende_multi30k_rev", "--contrastive=grammar")
    assert calls == []


def test_contrastive_pairs_without_a_models_features_are_refused(flags, tmp_path):
    given, calls, _ = flags
    error = {"type": "kind", "contrastive": "dogs run"}
    entry = {"source": "the house", "reference": "a cat", "errors": [error]}
    pairs = tmp_path / "x.json"
    pairs.write_text(json.dumps([entry]))
    parsed = [*given[:-1], f"--contrastive={pairs}", "--hparams_sets=mgsa_syntax_demo"]
    message = r"--contrastive: mgsa_.*'levels', .* the file .*json\.trees"
    with pytest.raises(UserError, match=message):
        call(compare, *parsed)
    assert calls == [] and [path.name for path in tmp_path.iterdir()] == ["x.json"]
    trees = Feature(name="levels", side="source", stream="trees")
    pathlib.Path(f"{pairs}.trees").touch()
    compare.check_contrastive(str(pairs), [trees])
    compare.check_contrastive("grammar", [trees])
    with pytest.raises(UserError, match="the target feature 'tags'"):
        compare.check_contrastive("grammar", [Feature(name="tags", side="target", stream="tags")])


@pytest.mark.slow
def test_tensorflow_starts_without_messages(flags):
    """They would be the first lines of every comparison."""
    given, _, _ = flags
    command = [sys.executable, "-m", "t2t_phrase.bin.compare", *given, "--decode_hparams=x=1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == "error: DecodeHParams: x: unknown\n"

import json
import re

import pytest
from absl import app
from toy_run import WORDS, call, make_toy_run

from t2t_phrase.bin import probe
from t2t_phrase.config import UserError
from t2t_phrase.probing.corpus import SPLITS, make_corpus
from t2t_phrase.runs import checkpoints

QUICK = (
    "--probe_hparams=max_epochs=1,hidden_units=[8],learning_rates=[0.001],"
    "scratch_learning_rates=[0.0005],batch_size=32"
)
TINY = "--hparams=hidden_size=16,filter_size=16,num_heads=2"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Sentences in the past or present, of words that the toy's vocabulary knows."""
    path = tmp_path_factory.mktemp("trees") / "toy.en.trees"
    lines = []
    for i, noun in enumerate(WORDS):
        for j, other in enumerate(WORDS[:6]):
            verb = "(VBD slept)" if (i + j) % 2 else "(VBZ sleeps)"
            lines.append(f"(ROOT (S (NP (NN {noun}) (NN {other})) (VP {verb}) (. .)))")
    path.write_text("".join(f"{line}\n" for line in [*lines, "", lines[0]]))
    return path


@pytest.mark.slow
def test_all_encoders_in_one_table(toy, trees, tmp_path, capsys):
    target = tmp_path / "found.json"
    call(
        probe,
        f"--output_dir={toy.output_dir}",
        "--hparams_sets=transformer_demo",
        TINY,
        "--encoder_layers=1",
        f"--data_dir={toy.data_dir}",
        f"--t2t_usr_dir={toy.user_dir}",
        f"--trees_file={trees}",
        "--tasks=tense",
        QUICK,
        f"--json_to_file={target}",
    )
    captured = capsys.readouterr()
    corpus = make_corpus([(line, None) for line in trees.read_text().split("\n")], [], name="f")
    counts = {split: len(corpus.splits[split]) for split in SPLITS}
    printed = captured.out.split("\n")
    lines = [line for line in printed if line.startswith("tense: ")]
    assert [line.split(", ")[3] for line in lines] == [
        *("majority", "boundaries", "transformer_tiny", "transformer_tiny", "transformer_demo"),
    ]
    assert f"%, of {counts['test']} sentences, " in lines[0]
    table = printed[printed.index("| accuracy | encoder | tense |") :]
    assert [line.split("|")[1:3] for line in table[2:7]] == [
        [" majority ", "  "],
        [" boundaries ", "  "],
        [" `transformer_tiny` ", " untrained "],
        [" `transformer_tiny` ", f" {toy.output_dir} "],
        [" `transformer_demo` ", " from scratch "],
    ]
    assert f"| p against `transformer_tiny`, {toy.output_dir} | encoder | tense |" in table
    assert f"sentences are the words of {trees}" in captured.err
    assert "stopped at epoch 1" in captured.err and "model.ckpt-30 (step 30)" in captured.err
    found = json.loads(target.read_text())
    assert found["sentences"] == counts and found["trees"] == str(trees)
    repeated = len(WORDS) * 6 + 1 - sum(counts.values())
    assert found["left_out"] == {"without words": 1, "repeated": repeated}
    settings = ["baseline", "baseline", "baseline", "frozen", "scratch"]
    assert [r["setting"] for r in found["results"]] == settings
    assert found["results"][3]["checkpoint"] == f"{toy.output_dir}/model.ckpt-30"
    assert f"| {100 * found['results'][4]['accuracy']:.2f} ± " in table[6]


def test_text_beside_the_trees_is_read(toy, trees, tmp_path, capsys):
    copied = tmp_path / "x.trees"
    copied.write_text(trees.read_text())
    lines = trees.read_text().split("\n")[:-1]
    words = [[part.split()[-1].strip(")") for part in line.split(")") if part] for line in lines]
    texts = [" ".join(row).replace(" .", ".") for row in words]
    (tmp_path / "x").write_text("".join(f"{text}\n" for text in texts))
    runs = f"--output_dir={toy.output_dir},{toy.output_dir}/best"
    flags = [runs, *toy.flags[1:], f"--trees_file={copied}"]
    options = ["--tasks=pos", "--sentences=40", "--baselines=word_type"]
    call(probe, *flags, *options, QUICK.replace("max", "word_states=mean,max"))
    captured = capsys.readouterr()
    assert f"the sentences are those of {tmp_path}/x\n" in captured.err
    rows = captured.out.split("\n\n")[0].split("\n")[-4:]
    assert [row.split("|")[1].strip() for row in rows[:2]] == ["majority", "word type"]
    assert [row.split("|")[2].strip() for row in rows[2:]] == runs.partition("=")[2].split(",")
    assert "model.ckpt-20 (step 20)" in captured.err
    (tmp_path / "x").write_text("a\n")
    with pytest.raises(UserError, match=r"x has 1 line for the \d+ trees of .*x\.trees"):
        call(probe, *flags)
    (tmp_path / "x").write_text("".join(f"{text}\n" for text in ["another", *texts[1:]]))
    with pytest.raises(UserError, match=r"x\.trees:1: word 1 of the tree is"):
        call(probe, *flags)


@pytest.mark.slow
def test_the_grammar_is_the_default(toy, capsys):
    flags = [f"--output_dir={toy.output_dir}", *toy.flags[1:]]
    options = ["--sentences=60", "--tasks=spc", "--seeds=1,2", "--baselines=", "--pool_runs"]
    call(probe, *flags, *options, QUICK.replace("[0.001]", "[0.001,0.1]"))
    captured = capsys.readouterr()
    assert captured.err.count(" train, ") == 1 and captured.out.count("spc: ") == 3
    # The first seed tries both learning rates, the second one has the better one.
    assert captured.err.count("stopped at epoch") == 3
    assert captured.out.count("learning rate 0.1") in (0, 2)
    # Two trials of one epoch, then each seed in full.
    longer = QUICK.replace("[0.001]", "[0.001,0.1],choice_epochs=1").replace(
        "max_epochs=1", "max_epochs=2"
    )
    call(probe, *flags, *options, longer)
    stops = re.findall("seed (.), .* stopped at epoch (.)", capsys.readouterr().err)
    assert stops == [("1", "1"), ("1", "1"), ("1", "2"), ("2", "2")]
    for flag in ("text_file", "feature_files"):
        with pytest.raises(app.UsageError, match=f"--{flag} is only used with --trees_file"):
            call(probe, *flags, f"--{flag}=levels=x")


def test_the_grammar_is_not_given_to_encoders_of_german(toy):
    sets = ["--hparams_sets=transformer_tiny", f"--data_dir={toy.data_dir}", "--tasks=spc"]
    with pytest.raises(UserError, match="English, but encoders of translate_ende_grammar_rev read"):
        call(probe, *sets, "--problem=translate_ende_grammar_rev")


def test_mistakes_are_found_before_anything_is_loaded(toy, trees, tmp_path, monkeypatch):
    def loaded(*args, **kwargs):
        raise AssertionError("loaded")

    monkeypatch.setattr(checkpoints, "restore", loaded)
    run = [f"--output_dir={toy.output_dir}", *toy.flags[1:], f"--trees_file={trees}"]
    for arguments, message in (
        ([], "--output_dir=RUN,... or --hparams_sets=SET,... is required"),
        ([*run, "--hparams=num_heads=4"], "--hparams is only used with --hparams_sets"),
        ([*run, "--encoder_layers=2"], "--encoder_layers is only used with --hparams_sets"),
        ([*run, "--tss_classes=1"], "--tss_classes=1: one class leaves nothing"),
    ):
        with pytest.raises(app.UsageError, match=message):
            call(probe, *arguments)
    for arguments, message in (
        ([*run, "--tasks=pos,tence"], "--tasks: 'tence' is unknown; did you mean tense"),
        ([*run, "--tasks="], "--tasks= names no task"),
        ([*run, "--seeds=1,x"], "--seeds: 'x' is not an integer from 0"),
        ([*run, "--seeds=1,01"], "--seeds: 1 is given twice"),
        ([*run, "--hparams_sets=a,a"], "--hparams_sets: 'a' is given twice"),
        ([*run, "--seeds="], "--seeds= names no seed"),
        ([*run, "--probe_hparams=patience=0"], "patience: must be from 1"),
        ([*run, "--probe_hparams=learning_rates=[]"], "learning_rates: must be one or more"),
        (
            [*run, "--probe_hparams=max_epochs=2,choice_epochs=3"],
            "choice_epochs: must be from 0 to max_epochs=2, got 3",
        ),
        ([*run, "--baselines=words"], "--baselines: 'words' is unknown"),
        ([*run, "--probe_hparams=pacience=1"], "did you mean patience"),
        ([*run, f"--json_to_file={trees}"], "would overwrite the input"),
        ([*run, f"--json_to_file={tmp_path}/no/x"], "cannot write"),
        (["--hparams_sets=transformer_tin"], "did you mean transformer_tiny"),
        (["--hparams_sets=transformer_tiny"], "--problem is required"),
        (["--hparams_sets=transformer_tiny", "--problem=translate_ende_grammar"], "--data_dir is"),
        (["--output_dir=nowhere"], "nowhere"),
    ):
        with pytest.raises(UserError, match=message):
            call(probe, *arguments)


def test_mistakes_that_only_the_data_show(toy, trees, tmp_path):
    run = [f"--output_dir={toy.output_dir}", *toy.flags[1:]]
    bad = tmp_path / "bad.trees"
    for content, message in (
        ("", "is empty: there is nothing to probe"),
        ("(S (NP (NN a))\n", r"bad\.trees:1: the brackets do not match"),
        (trees.read_text(), "every sentence of the training split is active"),
        ("(S (NN a) (NN b))\n", "the train split of 1 sentence has no label"),
    ):
        bad.write_text(content)
        with pytest.raises(UserError, match=message):
            call(probe, *run, f"--trees_file={bad}", "--tasks=voice")
    with pytest.raises(UserError, match=r"no encoder reads such a feature .*that they read: none"):
        call(probe, *run, f"--trees_file={trees}", f"--feature_files=levels={trees}")
    with pytest.raises(UserError, match="--problem=translate_other"):
        call(probe, *run, f"--trees_file={trees}", "--problem=translate_other")
    with pytest.raises(UserError, match="--data_dir is needed: the vocabulary of translate_toy"):
        call(probe, run[0], run[2], f"--trees_file={trees}")

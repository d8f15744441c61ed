"""`t2t_phrase.load`, `generate_data` and `train`."""

import json
import re
import shutil
import signal

import numpy as np
import pytest

import t2t_phrase
from t2t_phrase.config import UserError
from t2t_phrase.decoding import prepared_search, scoring
from t2t_phrase.runs.commands import add_command, last_value, read_commands
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.training.early_stopping import EarlyStopping
from t2t_phrase.training.loop import Outcome

WORDS = {"the": "das", "house": "haus", "is": "ist", "old": "alt", "red": "rot", "small": "klein"}
# The first half of an emoji, as a text is cut that is not taken for characters.
HALF, PAIR = "the \ud83d house", ("old", "alt")
TINY = (
    "num_hidden_layers=1,hidden_size=32,filter_size=64,num_heads=2,batch_size=256,max_length=32,"
    "attention_dropout=0,relu_dropout=0,layer_prepostprocess_dropout=0,"
    "learning_rate_schedule=constant,learning_rate_constant=0.003"
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    sources = [f"the {a} house is {b}" for a in ("old", "red", "small") for b in ("old", "red")]
    for split in ("train", "dev"):
        lines = sources * (20 if split == "train" else 1)
        (folder / f"{split}.src").write_text("\n".join(lines) + "\n")
        targets = [" ".join(WORDS[word] for word in line.split()) for line in lines]
        (folder / f"{split}.tgt").write_text("\n".join(targets) + "\n")
    return folder


@pytest.fixture(scope="module")
def trained(corpus):
    lines = []
    data_dir = str(corpus / "data")
    t2t_phrase.generate_data(
        "translate_text", data_dir=data_dir, tmp_dir=str(corpus), vocab_size=290, log=lines.append
    )
    loop = t2t_phrase.LoopOptions(train_steps=200, local_eval_frequency=100)
    model = t2t_phrase.train(
        "translate_text",
        "transformer_tiny",
        data_dir=data_dir,
        output_dir=str(corpus / "run"),
        hparams=TINY,
        loop=loop,
        log=lines.append,
    )
    return model, lines


def test_training_from_python_learns_the_task(corpus, trained):
    model, lines = trained
    assert model.translate(["the old house is red", "the red house is old"]) == [
        "das alt haus ist rot",
        "das rot haus ist alt",
    ]
    assert any(line.startswith("step 200: dev loss") for line in lines)
    assert "step 200: dev loss" in (corpus / "run" / "train.log").read_text()


def test_the_run_records_the_command_that_resumes_it(corpus, trained):
    (command,) = read_commands(corpus / "run")
    given = dict(argument.split("=", 1) for argument in command.arguments)
    assert given["--hparams"] == TINY and given["--problem"] == "translate_text"
    assert (given["--train_steps"], given["--local_eval_frequency"]) == ("200", "100")
    assert given["--schedule"] == "continuous_train_and_eval"
    assert given["--eval_early_stopping_steps"] == "0" and "--warm_start_from" not in given


def train_tiny(corpus, folder, **options):
    t2t_phrase.train(
        "translate_text",
        "transformer_tiny",
        data_dir=str(corpus / "data"),
        output_dir=str(folder),
        hparams=TINY,
        log=lambda line: None,
        **options,
    )


@pytest.mark.parametrize(
    ("asked", "expected"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit), (signal.SIGHUP, SystemExit)],
)
def test_a_training_that_was_stopped_returns_no_model(
    corpus, trained, tmp_path, monkeypatch, asked, expected
):
    outcome = Outcome(7, "signal", asked)
    monkeypatch.setattr("t2t_phrase.training.loop.Trainer.train", lambda trainer: outcome)
    with pytest.raises(expected) as caught:
        train_tiny(corpus, tmp_path / "run")
    assert expected is KeyboardInterrupt or caught.value.code == 128 + asked
    assert not (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize(
    ("asked", "steps"), [({}, 0), ({"eval_steps": 100}, 100), ({"eval_steps": 7}, 7)]
)
def test_scores_of_the_development_set_remain_comparable(
    corpus, trained, tmp_path, monkeypatch, asked, steps
):
    shutil.copytree(corpus / "run", tmp_path / "run")
    flags = ("--eval_steps=0", "--decode_hparams=beam_size=1")
    add_command(tmp_path / "run", flags, log=print)
    seen = []
    monkeypatch.setattr(
        "t2t_phrase.api.training.dev_bleu", lambda run, hparams, log: seen.append((run, hparams))
    )
    loop = t2t_phrase.LoopOptions(train_steps=200, local_eval_frequency=100)
    train_tiny(corpus, tmp_path / "run", loop=loop, **asked)
    ((run, hparams),) = seen
    assert (run.eval_steps, hparams.beam_size) == (steps, 1)
    assert last_value(read_commands(tmp_path / "run"), "eval_steps") == str(steps)


def test_a_run_without_bleu_remains_so(corpus, trained, tmp_path, monkeypatch):
    shutil.copytree(corpus / "run", tmp_path / "run")
    add_command(tmp_path / "run", ("--noeval_run_autoregressive",), log=print)
    monkeypatch.setattr("t2t_phrase.api.training.dev_bleu", None)
    loop = t2t_phrase.LoopOptions(train_steps=200, local_eval_frequency=100)
    train_tiny(corpus, tmp_path / "run", loop=loop)
    said = (tmp_path / "run" / "train.log").read_text()
    assert f"settings of the run in {tmp_path / 'run'}: --eval_run_autoregressive=false" in said
    switch = last_value(read_commands(tmp_path / "run"), "eval_run_autoregressive", switch=True)
    assert switch == "false"


def test_early_stopping_needs_its_score(corpus, trained, tmp_path):
    stopping = EarlyStopping(steps=1, metric="bleuu")
    loop = t2t_phrase.LoopOptions(train_steps=1, early_stopping=stopping)
    with pytest.raises(UserError, match="evaluate=False, does not evaluate"):
        train_tiny(corpus, tmp_path / "run", evaluate=False, loop=loop)
    assert not (tmp_path / "run").exists()


def test_a_run_is_loaded_without_its_data(corpus, trained):
    model = t2t_phrase.load(corpus / "run")
    (beams,) = model.nbest(["the old house is red"], "beam_size=3,return_beams=true")
    assert len(beams) == 3 and beams[0].text == "das alt haus ist rot"
    best = t2t_phrase.load([corpus / "run", corpus / "run" / "best"])
    assert best.translate(["", "the old house is red"]) == ["", "das alt haus ist rot"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (None, "path: expected a run or a list of runs, got None"),
        (["run", None], "path: expected the path of a run, got None"),
    ],
)
def test_a_path_that_is_none_is_named(path, message):
    with pytest.raises(UserError, match=message):
        t2t_phrase.load(path)


def test_scores_prefer_the_right_translation(trained):
    model, _ = trained
    source = "the old house is red"
    right, wrong = model.score([(source, "das alt haus ist rot"), (source, "rot ist das haus")])
    assert wrong < right < 0


def test_long_texts_are_scored_whole_and_cut_with_a_note_for_translation(trained, capsys):
    model, _ = trained
    long = " ".join(["house"] * 1100)
    source, target = model._scorer.encode([(long, long)])
    assert source.cut == target.cut == [] and len(source.ids[0]) == source.lengths[0] > 1024
    length = len(model.vocabularies.source.encode("the old house is red")) + 1
    model.translate(["red", "the old house is red"], "beam_size=1,max_input_size=5")
    said = capsys.readouterr().err
    assert said == f"line 2: {length} tokens, cut to 5 (max_input_size)\n"


def test_scores_of_later_calls_compile_nothing(trained, monkeypatch):
    model, _ = trained
    found = model.score([PAIR])
    monkeypatch.setattr(scoring, "compiled", lambda *_, **__: pytest.fail("compiled"))
    assert model.score([PAIR]) == found


@pytest.mark.slow
def test_another_seed_samples_as_anew_but_compiles_nothing(trained, monkeypatch):
    model, _ = trained
    options = "sampling_temp=3.0,num_samples=2,return_beams=true,extra_length=4,random_seed="

    def drawn(seed):
        found = model.nbest(["the old house is red"], f"{options}{seed}")
        return [hypothesis.text for hypothesis in found[0]]

    first = drawn(5)
    model._translators.clear()
    drawn(6)
    monkeypatch.setattr(prepared_search, "compiled", lambda *_, **__: pytest.fail("compiled"))
    assert drawn(5) == first
    assert len({tuple(drawn(seed)) for seed in (5, 6, 7)}) > 1


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("texts: .*; write ['old']", lambda model: model.translate("old")),
        ("prefixes: .*; write ['a']", lambda model: model.translate(["old"], prefixes="a")),
        ("(source, target), got 'old'", lambda model: model.score("old")),
        ("(source, target), got None", lambda model: model.score(None)),
        ("(source, target), got 'ab'", lambda model: model.score(["ab"])),
        ("(source, target), got 'old'", lambda model: model.score(PAIR)),
        ("(source, target), got ('a', 'b', 'c')", lambda model: model.score([("a", "b", "c")])),
        ("(source, target), got ('a', None)", lambda model: model.score([("a", None)])),
        ("texts 1: expected a string, got b'abc'", lambda model: model.translate([b"abc"])),
        ("texts 2: expected a string, got None", lambda model: model.translate(["red", None])),
        ("texts: expected a list of strings, got None", lambda model: model.translate(None)),
        ("prefixes 1: expected", lambda model: model.translate(["a"], prefixes=[None])),
    ],
)
def test_one_text_is_no_list(trained, message, task):
    with pytest.raises(UserError, match=re.escape(message).replace(r"\.\*", ".*")):
        task(trained[0])


def test_options_of_training_are_known(corpus, tmp_path):
    def train(problem, **options):
        t2t_phrase.train(
            problem,
            "transformer_tiny",
            data_dir=str(tmp_path),
            output_dir=str(tmp_path / "run"),
            **options,
        )

    with pytest.raises(UserError, match="random_sed is unknown; did you mean random_seed"):
        train("translate_text", random_sed=1)
    with pytest.raises(UserError, match=r"train_steps belongs in loop=LoopOptions\(train_steps="):
        train("translate_text", train_steps=5)
    with pytest.raises(UserError, match="train: model is unknown"):
        train("translate_text", model="transformer")
    with pytest.raises(UserError, match="train: saves is unknown"):
        train("translate_text", saves=False)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "__init__.py").write_text(
        "from t2t_phrase import registry\n"
        "from t2t_phrase.data.sources.local_problem import LocalProblem\n\n\n"
        "@registry.problems.register\n"
        "class TranslateOfTheUser(LocalProblem):\n"
        '    """A problem of a plug-in."""\n'
        '    languages = ("en", "de")\n'
    )
    # The problem is known; its data are missing.
    with pytest.raises(UserError, match="t2t-phrase-datagen"):
        train("translate_of_the_user", t2t_usr_dir=str(tmp_path / "own"))


def test_data_of_a_problem_of_the_user(corpus, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text(
        "from t2t_phrase import registry\n"
        "from t2t_phrase.data.sources.local_problem import LocalProblem\n\n\n"
        "@registry.problems.register\n"
        "class TranslateByThePlugin(LocalProblem):\n"
        '    """A problem of a plug-in."""\n'
        '    languages = ("src", "tgt")\n'
        '    optional_splits = ("test",)\n'
    )
    t2t_phrase.generate_data(
        "translate_by_the_plugin",
        data_dir=str(tmp_path / "data"),
        tmp_dir=str(corpus),
        t2t_usr_dir=str(tmp_path / "mine"),
        vocab_size=290,
        log=str,
    )
    assert (tmp_path / "data" / "translate_by_the_plugin-manifest.json").exists()


@pytest.mark.parametrize(
    ("place", "task"),
    [
        ("line 2", lambda model: model.translate(["red", HALF])),
        ("line 2", lambda model: model.translate(["red", HALF], "write_alignments=true")),
        ("source line 1", lambda model: model.score([(HALF, "rot")])),
        ("target line 2", lambda model: model.score([("red", "rot"), ("red", HALF)])),
        ("prefix:1", lambda model: model.translate(["red"], prefixes=[HALF])),
        (
            "terms of text 1:2",
            lambda model: model.translate(["red"], terms=[[PAIR, ("red", HALF)]]),
        ),
        ("terms of text 1:1", lambda model: model.translate(["red"], terms=[[(HALF, "rot")]])),
        ("source line 1", lambda model: model.attention(HALF)),
        ("target line 1", lambda model: model.attention("red", HALF)),
    ],
)
def test_half_of_a_character_is_refused_with_its_place(trained, place, task):
    with pytest.raises(UserError) as refused:
        task(trained[0])
    assert str(refused.value) == f"{place}: \\ud83d alone is only half of a character"


def test_attention_is_that_of_one_sentence(trained):
    for texts in ((["red"],), ("red", ["rot"])):
        with pytest.raises(UserError, match=r"^(source|target): expected a string, got \['r"):
            trained[0].attention(*texts)


@pytest.mark.parametrize(
    ("options", "terms", "message"),
    [
        ("shortlist_best=5", (), "shortlist_best=5: only used with --lexicon_file"),
        ("alignment_layers=[1]", (), "is only used with write_alignments=true"),
        ("alignment_threshold=0.5", (), "is only used with --alignment_model_dir"),
        ("", [("ab", "cd")], r"terms of text 1: expected a list of \(source, target\), got"),
        ("", [[("red", None)]], r"terms of text 1: expected a list of \(source, target\), got"),
        ("", ["red"], r"terms of text 1: expected a list of \(source, target\), got 'red'"),
    ],
)
def test_options_and_terms_are_not_ignored_or_misread(trained, options, terms, message):
    with pytest.raises(UserError, match=message):
        trained[0].translate(["red"], options, terms=terms)


@pytest.mark.slow
def test_samples_are_several_and_sorted(trained):
    model, _ = trained
    options = "sampling_temp=3,beam_size=5,return_beams=true"
    (found,) = model.nbest(["the old house is red"], options)
    scores = [hypothesis.score for hypothesis in found]
    assert len(found) == 5 and scores == sorted(scores, reverse=True)
    assert len({hypothesis.text for hypothesis in found}) > 1
    assert model.nbest(["the old house is red"], options) == [found]


def test_a_kept_vocabulary_that_was_changed_is_refused(corpus, trained, tmp_path):
    shutil.copytree(corpus / "run", tmp_path / "run")
    other = train_subwords(["x y z"], vocab_size=270)
    (tmp_path / "run" / "vocab.joint").write_bytes(other)
    with pytest.raises(UserError, match=r"vocab\.joint is damaged"):
        t2t_phrase.load(tmp_path / "run")


def test_the_run_is_recorded_as_by_the_command(corpus, trained):
    record = json.loads((corpus / "run" / "hparams.json").read_text())
    assert record["overrides"] == TINY and record["hparams_set"] == "transformer_tiny"


def test_files_are_translated_and_scored_as_strings_are(trained, tmp_path):
    model, _ = trained
    lines = ["the old house is red", "", "the red house is old"]
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("".join(f"{line}\n" for line in lines))
    outcome = model.translate_file(source, target, "beam_size=2")
    assert (outcome.lines, outcome.kept) == (3, 0)
    expected = model.translate(lines, "beam_size=2")
    assert target.read_text().split("\n")[:-1] == expected
    pairs = [("the old house is red", "das alt haus ist rot"), ("the house", "haus")]
    source.write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    model.score_file(source, tmp_path / "scores")
    found = [-float(line) for line in (tmp_path / "scores").read_text().split()]
    assert found == pytest.approx(model.score(pairs), abs=1e-4)
    with pytest.raises(UserError, match="nowhere"):
        model.translate_file(tmp_path / "nowhere", target)


def test_attention_of_a_pair_sums_to_one(trained, tmp_path):
    model, _ = trained
    sentence = "the old house is red"
    found = model.attention(sentence)
    assert found.text == model.translate([sentence])[0]
    assert found.source[-1].text == found.target[-1].text
    found.save_weights(tmp_path / "weights.npz")
    weights = np.load(tmp_path / "weights.npz")
    assert weights["cross_layer1"].shape[-2:] == (len(found.target), len(found.source))
    np.testing.assert_allclose(weights["cross_layer1"].sum(-1), 1, atol=1e-5)


def test_texts_without_terms_need_no_beam(trained):
    model, _ = trained
    texts = ["the old house is red", "the red house is old"]
    expected = model.translate(texts, "beam_size=1")
    assert model.translate(texts, "beam_size=1", terms=[[], []]) == expected
    with pytest.raises(UserError, match="terms: 1 lists for 2 texts"):
        model.translate(texts, "beam_size=1", terms=[[]])
    with pytest.raises(UserError, match=r"required terms .* need beam search"):
        model.translate(texts, "beam_size=1", terms=[[("house", "haus")], []])

import json

import numpy as np
import pytest
from absl import app
from insights_toy import PAIRS, flags_of_files, with_levels, with_model, with_phrases
from matplotlib.figure import Figure
from toy_run import call, make_toy_run

from t2t_phrase import load
from t2t_phrase.bin import insights
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import Problem
from t2t_phrase.insights import pictures, sentence, statistics
from t2t_phrase.insights.corpus import check_statistics
from t2t_phrase.insights.tables import format_statistics
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.runs import checkpoints
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.annotations.phrases import Phrases


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def toy(plain, tmp_path_factory):
    return with_phrases(plain, tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def parsed(plain, tmp_path_factory):
    """The same with a model that looks up the phrases of trees."""
    return with_model(plain, tmp_path_factory.mktemp("parsed"), "phrase_representation_parse_demo")


@pytest.fixture(scope="module")
def levels(plain, tmp_path_factory):
    return with_levels(plain, tmp_path_factory.mktemp("levels"))


@pytest.fixture
def files(tmp_path):
    return flags_of_files(tmp_path)


def test_statistics_of_files(toy, files, tmp_path, capsys):
    target = tmp_path / "stats.json"
    call(insights, *toy.flags, "--stats", *files, f"--stats_file={target}")
    captured = capsys.readouterr()
    ids = [tuple([*toy.encoder.encode(side), 1] for side in pair) for pair in PAIRS if pair[0]]
    expected = statistics.attention_statistics(toy.model, ids)
    assert captured.out == format_statistics(expected) + "\n"
    assert "\n\ncross-attention: from tokens, 2-grams to tokens, 2-grams\n" in captured.out
    assert "left out: 1 line without words on both sides" in captured.err
    assert "3 sentence pairs" in captured.err and f"written to {target}" in captured.err
    found = json.loads(target.read_text())
    assert (found["step"], found["pairs"], found["problem"]) == (7, 3, "translate_toy")
    assert list(found["attentions"]) == ["encoder", "decoder", "cross"]
    (layer,) = found["attentions"]["cross"]
    tokens = sum(len(target) for _, target in ids)
    assert layer["positions"] == tokens and layer["queries"] == [tokens, tokens - len(ids)]
    mass = layer["mass"]["quadrants"]
    assert mass["phrase-to-token"] + mass["phrase-to-phrase"] == pytest.approx(1)
    assert sum(layer["strongest"]["quadrants"].values()) == pytest.approx(1)


@pytest.mark.slow
def test_statistics_as_one_table(toy, files, tmp_path):
    target = tmp_path / "stats.csv"
    call(insights, *toy.flags, "--stats", *files, f"--stats_file={target}")
    header, *rows = [line.split(",") for line in target.read_text().splitlines()]
    ids = [tuple([*toy.encoder.encode(side), 1] for side in pair) for pair in PAIRS if pair[0]]
    expected = statistics.attention_statistics(toy.model, ids)[-1]
    rows = [row for row in rows if row[0] == "cross"]
    assert [row[:3] for row in rows] == [
        ["cross", "1", measure] for measure in ("mass", "strongest", "focus")
    ]
    for row in rows[:2]:
        shares = expected.quadrants(row[2])
        cells = dict(zip(header, row, strict=True))
        found = {name: float(cells[name]) for name in shares}
        assert {n: found[n] for n in shares} == pytest.approx(
            {n: 100 * share for n, share in shares.items()}, abs=0.006
        )


def test_statistics_of_the_development_set(toy, monkeypatch, capsys):
    seen = []

    def raw_text(problem, data_dir, split):
        seen.append((problem.name, data_dir, split))
        return [pair[0] for pair in PAIRS], [pair[1] for pair in PAIRS]

    monkeypatch.setattr(Problem, "raw_text", raw_text)
    call(insights, *toy.flags, "--stats")
    assert seen == [("translate_toy", str(toy.data_dir), "dev")]
    assert "3 sentence pairs" in capsys.readouterr().err


@pytest.mark.slow
def test_pictures_of_a_pair(toy, tmp_path, capsys):
    folder = tmp_path / "new" / "pictures"
    call(
        insights,
        *toy.flags,
        f"--heat_maps={folder}",
        "--source=the house",
        "--target=dogs run far",
        "--heads=mean,1",
        "--attentions=cross,encoder",
    )
    names = [f"{a}_layer1_{h}.png" for a in ("cross", "encoder") for h in ("head1", "mean")]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in folder.iterdir())
    error = capsys.readouterr().err
    assert f"4 pictures written to {folder}" in error and "translation" not in error


def test_pictures_of_words_and_raw_weights(toy, tmp_path, capsys):
    call(
        insights,
        *toy.flags,
        f"--heat_maps={tmp_path / 'svg'}",
        "--source=the house",
        "--target=dogs run far",
        "--attentions=cross",
        "--format=svg",
        "--merge_subwords",
        f"--weights_file={tmp_path / 'pair.npz'}",
    )
    (picture,) = (tmp_path / "svg").iterdir()
    assert picture.name == "cross_layer1_mean.svg" and "<svg" in picture.read_text()
    stored = np.load(tmp_path / "pair.npz")
    source, target = (list(stored[side]) for side in ("source", "target"))
    assert source[-1] == target[-1] == "<EOS>"
    # From and to tokens and bigrams.
    assert stored["cross_layer1"].shape == (2, 2 * len(target), 2 * len(source))
    np.testing.assert_allclose(stored["cross_layer1"][:, : len(target)].sum(axis=-1), 1, atol=1e-5)
    assert "weights written to" in capsys.readouterr().err


def test_pictures_of_the_models_own_translation(toy, tmp_path, monkeypatch, capsys):
    drawn = []

    def draw(weights, maps, source, target, **options):
        drawn.extend([weights, target])
        yield pictures.Picture("one", Figure())

    monkeypatch.setattr(sentence, "draw", draw)
    call(
        insights,
        *toy.flags,
        f"--heat_maps={tmp_path}",
        "--source=the house",
        "--attentions=cross",
        "--decode_hparams=beam_size=2,extra_length=3",
    )
    weights, target = drawn
    source = [*toy.encoder.encode("the house"), 1]
    assert 0 < len(target) <= len(source) + 3
    assert np.shape(weights["cross"][0]) == (1, 2, 2 * len(target), 2 * len(source))
    error = capsys.readouterr().err
    assert "1 picture written" in error and (tmp_path / "one.png").exists()
    text = error.split("translation: ")[1].split("\n")[0]
    given = dict(flag.lstrip("-").split("=", 1) for flag in toy.flags)
    model = load(given["output_dir"], data_dir=given["data_dir"])
    assert text == model.translate(["the house"], "beam_size=2,extra_length=3")[0]


@pytest.mark.slow
def test_pictures_of_source_phrases(parsed, tmp_path, monkeypatch, capsys):
    folder, real, memberships = tmp_path / "maps", pictures.draw, []

    def draw(*args, partitions, **options):
        memberships.append(partitions["phrases"])
        return real(*args, partitions=partitions, **options)

    monkeypatch.setattr(sentence, "draw", draw)
    tree = "(S (NP (DT the) (NN house)) (VP (VBZ is) (JJ old)))"
    flags = [*parsed.flags, f"--heat_maps={folder}", "--source=the house is old"]
    chosen = ["--attentions=decoder_phrases,pooling", "--parser=stanza"]
    call(insights, *flags, f"--feature=phrases={tree}", *chosen)
    names = ["decoder_phrases_layer1_mean.png", "pooling_layer1.png", "pooling_layer2.png"]
    assert sorted(path.name for path in folder.iterdir()) == names
    said = capsys.readouterr().err
    assert "translation: " in said
    assert "--parser=stanza: not used, since --feature=phrases=... gives the trees" in said
    ((ids, starts),) = parsed.encoder.encode_with_starts(["the house is old"])
    numbers = Phrases().encode(
        Sentence("the house is old", ids, starts), Phrases().read("the house is old", tree)
    )
    tokens_in_phrases = memberships[0].sum(axis=1)
    assert tokens_in_phrases.sum() == len(ids) + 1
    assert np.count_nonzero(tokens_in_phrases) == numbers[-1] + 1
    assert tokens_in_phrases[0] == numbers.count(1)


@pytest.mark.slow
def test_pictures_of_granularities_and_of_the_layer_after_them(levels, tmp_path, monkeypatch):
    figures, real = {}, pictures.draw

    def draw(*args, **options):
        for picture in real(*args, **options):
            figures[picture.name] = picture.figure
            yield picture

    monkeypatch.setattr(sentence, "draw", draw)
    tree = "(S (NP (DT the) (NN house)) (VP (VBZ is) (JJ old)))"
    flags = [*levels.flags, f"--heat_maps={tmp_path}", "--source=the house is old", "--target=a"]
    call(insights, *flags, f"--feature=levels={tree}", "--attentions=encoder", "--heads=mean,1")
    names = [f"encoder_layer{layer}_{head}" for layer in (1, 2) for head in ("head1", "mean")]
    assert sorted(path.stem for path in tmp_path.iterdir()) == names
    columns = {
        name: [
            (ax.texts[-1].get_text().split("\n")[1], [t.get_text() for t in ax.get_xticklabels()])
            for ax in figure.axes[:-1]
        ]
        for name, figure in figures.items()
    }
    segments = ("level_1", ["the house", "is old", "<EOS>"])
    tokens = columns["encoder_layer2_mean"][0]
    assert tokens[0] == "tokens" and tokens[1][0] == "the" and tokens[1][-1] == "<EOS>"
    assert columns == {
        "encoder_layer1_mean": [tokens, segments],
        "encoder_layer1_head1": [segments],
        "encoder_layer2_mean": [tokens],
        "encoder_layer2_head1": [tokens],
    }
    for name in names:
        for ax in figures[name].axes[:-1]:
            np.testing.assert_allclose(ax.images[0].get_array().sum(axis=1), 1, atol=1e-5)


@pytest.mark.slow
def test_models_of_trees_have_statistics(levels, files, tmp_path, capsys):
    trees = tmp_path / "trees"
    lines = ["(S (NP (DT the) (NN house)) (VP (VBZ is) (JJ old)))", "", "(S (NNS dogs) (VBP run))"]
    trees.write_text("".join(f"{line}\n" for line in [*lines, "(DT a)"]))
    flags = [*levels.flags, "--stats", *files]
    call(insights, *flags, f"--feature_files=levels={trees}")
    out = capsys.readouterr().out
    assert "encoder self-attention: from tokens to tokens, level_1\n" in out
    assert "  layer  1-to-1  1-to-level_1\n" in out
    with pytest.raises(UserError, match=r"source feature 'levels'.*but it has no file"):
        call(insights, *flags)
    beside = trees.rename(tmp_path / "source.en.trees")
    with pytest.raises(UserError, match=r"would overwrite the input .*source\.en\.trees"):
        call(insights, *flags, f"--stats_file={beside}")


@pytest.mark.slow
def test_models_of_trees_want_a_tree_that_fits(toy, parsed, files, tmp_path):
    maps = [f"--heat_maps={tmp_path / 'maps'}", "--source=the house"]
    with pytest.raises(UserError, match=r"reads the feature 'phrases': give --feature='phrases=LI"):
        call(insights, *parsed.flags, *maps)
    with pytest.raises(UserError, match=r"house"):
        call(insights, *parsed.flags, *maps, "--feature=phrases=(S (NN house))")
    with pytest.raises(
        UserError, match=r"--feature=phrases=\.\.\.: the model reads no such feature"
    ):
        call(insights, *toy.flags, *maps, "--feature=phrases=(S (DT the) (NN house))")
    assert not (tmp_path / "maps").exists()


def test_a_plain_model_has_statistics_and_pictures(plain, files, tmp_path, capsys):
    call(insights, *plain.flags, "--stats", *files)
    out = capsys.readouterr().out
    assert out.startswith("encoder self-attention: from tokens to tokens\n\n  focus (mean over")
    maps = [f"--heat_maps={tmp_path / 'maps'}", "--source=a", "--target=a cat"]
    call(insights, *plain.flags, *maps)
    assert len(list((tmp_path / "maps").iterdir())) == 3


def test_a_model_without_attention_has_no_statistics():
    with pytest.raises(UserError, match=r"run 7 has no attention; --stats needs it"):
        check_statistics(EncoderDecoder(), "run 7")


def test_mistakes_are_found_before_the_model_is_loaded(toy, files, tmp_path, monkeypatch):
    def loaded(*args, **kwargs):
        raise AssertionError("loaded")

    monkeypatch.setattr(checkpoints, "restore", loaded)
    source, references = files
    maps = f"--heat_maps={tmp_path / 'maps'}"
    for arguments, message in (
        ([], "--stats, --heat_maps=FOLDER or --html=FILE is needed"),
        (["--stats", source], "--insights_from_file and --references_file belong together"),
        ([maps], "--heat_maps needs the --source sentence"),
        ([maps, "--source= "], "--heat_maps needs the --source sentence"),
        ([maps, "--source=a", *files], "--insights_from_file is only used with --stats or --html"),
        ([maps, "--source=a", "--stats_file=x"], "--stats_file is only used with --stats"),
        (["--stats", "--target=a"], "--target is only used with --heat_maps or --html"),
        (["--html=page.html"], "--html needs --insights_from_file, or one --source sentence"),
        (["--html=page.html", "--source=a", source], "explains --insights_from_file or --source"),
        (["--html=page.html", "--target=a", source], "--target is of one --source sentence"),
        (["--html=page.html", "--feature=a=b", source], "--feature is of one --source sentence"),
        (["--html=page.html", source, "--references_file="], "--references_file= names no file"),
        (
            ["--html=page.html", "--source=a", "--layers=1"],
            "--layers is only used with --heat_maps",
        ),
        (["--html=page.html", "--source=a", references], "--references_file needs --insights_from"),
        ([maps, "--source=a", "--compare_output_dir=x"], "--compare_output_dir is only used with"),
        (["--stats", "--heads=mean"], "--heads is only used with --heat_maps"),
        (["--stats", "--feature_files=a=b"], "--feature_files is only used with --insights_from"),
        (["--html=x", "--source=a", "--feature_files=a=b"], "; give --feature for one --source"),
        (["--stats", "--parser=stanza"], "--parser: the features of the development set are read"),
        ([maps, "--source=a", "--target="], "--target has no words; leave it out"),
        ([maps, "--source=a", "--heads="], "--heads= chooses nothing to draw; leave it out"),
        ([maps, "--source=a", "--layers="], "--layers= chooses nothing to draw; leave it out"),
    ):
        with pytest.raises(app.UsageError, match=message):
            call(insights, *toy.flags, *arguments)
    with pytest.raises(UserError, match=r"cannot read .*nowhere"):
        call(insights, *toy.flags, "--stats", "--insights_from_file=nowhere", references)
    with pytest.raises(UserError, match=r"cannot write .*/no/x.json"):
        call(insights, *toy.flags, "--stats", f"--stats_file={tmp_path}/no/x.json")
    with pytest.raises(UserError, match=r"source.en would overwrite the input .*source.en"):
        written = source.replace("--insights_from_file", "--stats_file")
        call(insights, *toy.flags, "--stats", source, references, written)
    run = toy.output_dir
    for output in (f"{run}/hparams.json", f"{run}/model.ckpt-7.index"):
        with pytest.raises(UserError, match=f"{output} would overwrite the input"):
            call(insights, *toy.flags, "--stats", source, references, f"--stats_file={output}")
    both = [f"--stats_file={tmp_path}/x", f"--html={tmp_path}/./x"]
    with pytest.raises(UserError, match="--stats_file and --html name the same file; name two"):
        call(insights, *toy.flags, "--stats", source, references, *both)
    for options, message in (
        ("alignment_weight=0.5", "is only used with --alignment_model_dir"),
        ("shortlist_best=5", "is not used by t2t-phrase-insights; leave it out"),
        ("return_beams=true", "return_beams=True: is not used by t2t-phrase-insights"),
    ):
        with pytest.raises(UserError, match=message):
            call(insights, *toy.flags, maps, "--source=a", f"--decode_hparams={options}")
    tree = tmp_path / "x.trees"
    tree.touch()
    stats = ["--stats", source, references, f"--feature_files=phrases={tree}"]
    for arguments in (
        [*stats, f"--stats_file={tree}"],
        [*stats, f"--html={tree}"],
        [*stats, maps, "--source=a", f"--weights_file={tree}"],
    ):
        with pytest.raises(UserError, match=r"x\.trees would overwrite the input .*x\.trees"):
            call(insights, *toy.flags, *arguments)
    short = tmp_path / "short.de"
    short.write_text("a\n")
    with pytest.raises(UserError, match=r"source.en has 4 lines and .*short.de has 1; the lines"):
        call(insights, *toy.flags, "--stats", source, f"--references_file={short}")
    empty = tmp_path / "empty"
    empty.write_text("")
    both = [f"--insights_from_file={empty}", f"--references_file={empty}"]
    with pytest.raises(UserError, match=r"empty is empty: there is nothing to look at"):
        call(insights, *toy.flags, "--stats", *both)


def test_mistakes_that_only_the_model_shows(toy, tmp_path):
    maps = [f"--heat_maps={tmp_path / 'maps'}", "--source=a"]
    # Before the statistics, which may take a while.
    with pytest.raises(UserError, match="--heads=2: the model has heads 0 to 1"):
        call(insights, *toy.flags, "--stats", *maps, "--heads=2")
    for feature, message in (
        (["x"], "--feature=x: expected NAME=LINE"),
        (["x=1", "x=1"], "--feature=x=...: given twice"),
        (["x=1"], "--feature=x=...: the model reads no such feature"),
    ):
        with pytest.raises(UserError, match=message):
            call(insights, *toy.flags, *maps, *(f"--feature={option}" for option in feature))
    with pytest.raises(UserError, match="--parser=stanza: the model reads no trees"):
        call(insights, *toy.flags, *maps, "--parser=stanza")
    assert not (tmp_path / "maps").exists()
    (tmp_path / "maps").write_text("")
    with pytest.raises(UserError, match=r"cannot write .*maps: File exists"):
        call(insights, *toy.flags, *maps)
    blank = tmp_path / "blank"
    blank.write_text("\n\n")
    both = [f"--insights_from_file={blank}", f"--references_file={blank}"]
    with pytest.raises(UserError, match="no line has words on both sides"):
        call(insights, *toy.flags, "--stats", *both)

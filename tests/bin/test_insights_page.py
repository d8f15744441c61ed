import json
import re

import pytest
from insights_toy import PAIRS, flags_of_files, with_levels, with_model, with_phrases
from toy_run import call, make_toy_run

from t2t_phrase.bin import insights
from t2t_phrase.config import UserError
from t2t_phrase.runs import load_ensemble
from t2t_phrase.runs import load_model as loading


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def toy(plain, tmp_path_factory):
    return with_phrases(plain, tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def levels(plain, tmp_path_factory):
    return with_levels(plain, tmp_path_factory.mktemp("levels"))


@pytest.fixture
def files(tmp_path):
    return flags_of_files(tmp_path)


def document_of(path):
    text = path.read_text()
    return json.loads(re.search(r'id="document">(.*?)</script>', text, re.DOTALL)[1])


def test_a_page_without_lines_that_the_vocabulary_drops(toy, tmp_path, capsys):
    source = tmp_path / "source.txt"
    source.write_text("\u2581\nthe house\n\n")
    page = tmp_path / "page.html"
    options = "--decode_hparams=beam_size=2,extra_length=2,max_input_size=1"
    call(insights, *toy.flags, f"--html={page}", f"--insights_from_file={source}", options)
    assert "left out: 2 lines without words" in capsys.readouterr().err
    (shown,) = document_of(page)["sentences"]
    assert shown["source"] == "the house"
    assert shown["explanations"][0]["notes"][0].startswith("source cut to 1 of ")


@pytest.mark.slow
def test_a_page_of_two_models(toy, levels, files, tmp_path, capsys):
    page, trees = tmp_path / "page.html", tmp_path / "trees"
    lines = ["(S (NP (DT the) (NN house)) (VP (VBZ is) (JJ old)))", "", "(S (NNS dogs) (VBP run))"]
    trees.write_text("".join(f"{line}\n" for line in [*lines, "(DT a)"]))
    call(
        insights,
        *toy.flags,
        f"--html={page}",
        f"--compare_output_dir={levels.output_dir}",
        *files,
        f"--feature_files=levels={trees}",
        "--decode_hparams=beam_size=2,extra_length=2",
    )
    error = capsys.readouterr().err
    assert "left out: 1 line without words" in error and "3 sentences\n" in error
    assert f"kB written to {page}" in error
    document = document_of(page)
    assert [model["about"] for model in document["models"]] == [
        "phrase_interleaved_convkv_1_2_demo, step 7", "mgsa_syntax_demo, step 7",
    ]  # fmt: skip
    kept = [pair for pair in PAIRS if pair[0]]
    assert [(s["source"], s["reference"]) for s in document["sentences"]] == kept
    for shown in document["sentences"]:
        first, second = shown["explanations"]
        assert [len(own["candidates"]) for own in (first, second)] == [2, 2]
        assert [name for name, _ in second["partitions"]] == ["level_1"]
        assert [one["name"] for one in first["maps"]] == ["encoder", "decoder", "cross"]


@pytest.mark.slow
def test_a_target_to_draw_does_not_change_a_page_of_a_file(toy, files, tmp_path):
    page = tmp_path / "page.html"
    sentence = [f"--heat_maps={tmp_path / 'maps'}", "--source=a cat", "--target=dogs run"]
    choice = ["--attentions=cross", "--decode_hparams=beam_size=2,extra_length=2"]
    call(insights, *toy.flags, f"--html={page}", *files, *sentence, *choice)
    shown = document_of(page)["sentences"]
    assert all(own["is_own"] for one in shown for own in one["explanations"]) and len(shown) == 3


@pytest.mark.slow
def test_both_models_of_a_page_compute_in_the_same_type(plain, tmp_path, monkeypatch):
    words, jumps = (
        with_model(plain, tmp_path / name, f"alignment_{name}_demo")
        for name in ("assisted", "model")
    )
    types = []
    load_model = loading.load_model
    for module in (loading, load_ensemble):
        monkeypatch.setattr(
            module,
            "load_model",
            lambda *a, **k: types.append(k["dtype_policy"]) or load_model(*a, **k),
        )
    call(
        insights,
        *words.flags,
        f"--alignment_model_dir={jumps.output_dir}",
        f"--html={tmp_path / 'page.html'}",
        "--source=a cat",
        "--decode_hparams=beam_size=2,extra_length=2",
        "--dtype_policy=mixed_bfloat16",
    )
    assert types == ["mixed_bfloat16"] * 2
    (model,) = document_of(tmp_path / "page.html")["models"]
    assert model["about"].endswith("with alignment_model_demo, step 7")


def test_a_model_that_cannot_translate_wants_translations(plain, files, tmp_path):
    model = with_model(plain, tmp_path / "words", "alignment_assisted_demo")
    (tmp_path / "links").write_text("0-0\n" * len(PAIRS))
    links = f"--feature_files=alignment={tmp_path}/links"
    for more in ([links], []):
        with pytest.raises(UserError, match=r"words: .*; or give translations to explain"):
            call(insights, *model.flags, f"--html={tmp_path}/page.html", files[0], *more)
    given = [*model.flags, f"--html={tmp_path}/page.html", "--source=a cat"]
    with pytest.raises(UserError, match=r"words: .*--alignment_model_dir; or give translations"):
        call(insights, *given)
    with pytest.raises(UserError, match=r"alignment=LINE', or, with --html, --alignment_model_dir"):
        call(insights, *given, "--target=cats")


def test_a_page_of_one_sentence(toy, tmp_path, capsys):
    page = tmp_path / "page.html"
    call(insights, *toy.flags, f"--html={page}", "--source=the house", "--target=dogs run")
    (shown,) = document_of(page)["sentences"]
    (explanation,) = shown["explanations"]
    assert (explanation["target"], explanation["is_own"]) == ("dogs run", False)
    assert "1 sentence\n" in capsys.readouterr().err
    with pytest.raises(UserError, match=r"--alignment_model_dir=x: no model here reads alignments"):
        call(insights, *toy.flags, f"--html={page}", "--source=a", "--alignment_model_dir=x")
    with pytest.raises(UserError, match=r"cannot write .*/no/x.html"):
        call(insights, *toy.flags, f"--html={tmp_path}/no/x.html", "--source=a")

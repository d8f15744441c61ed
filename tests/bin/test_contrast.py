import json
import types

import pytest
from absl import app
from toy_run import call, make_toy_run

from t2t_phrase.bin import contrast
from t2t_phrase.config import UserError
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.evaluation.contrastive import accuracies, as_json, as_text, grammar_pairs
from t2t_phrase.features import PHRASES, Feature


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def scorer(toy):
    return Scorer(toy.model, toy.vocabularies)


@pytest.mark.slow
def test_decisions_are_those_of_the_models_scores(toy, scorer, tmp_path, capsys):
    call(contrast, *toy.flags, "--sentences=12", f"--json_to_file={tmp_path}/counts.json")
    pairs = grammar_pairs(12).pairs
    scores = {}
    for pair in pairs:
        for target in (pair.reference, pair.contrastive):
            (scores[pair.sentence, pair.source, target],) = scorer.score([(pair.source, target)])
    expected = accuracies(pairs, scores)
    captured = capsys.readouterr()
    assert captured.out == as_text(expected) + "\n"
    assert 0 < expected.overall.right < expected.overall.total
    assert json.loads((tmp_path / "counts.json").read_text()) == as_json(expected)
    assert "model.ckpt-30 (step 30)" in captured.err and "translations scored" in captured.err


def test_lingeval_is_scored_alike(toy, scorer, tmp_path, capsys):
    source, lines = "the house is old", ["a cat sleeps", "dogs run far away", "dogs run"]
    errors = [{"type": f"kind{i}", "contrastive": line} for i, line in enumerate(lines[1:])]
    entry = {"source": source, "reference": lines[0], "errors": errors}
    (tmp_path / "x.json").write_text(json.dumps([entry]))
    call(contrast, *toy.flags, f"--contrastive_file={tmp_path}/x.json")
    reference, *others = scorer.score([(source, line) for line in lines])
    printed = capsys.readouterr().out.splitlines()
    for row, other in zip(printed[1:3], others, strict=True):
        assert row.split()[1:3] == [str(int(reference > other)), "1"]


def test_mistakes_are_told_before_the_model_is_loaded(toy, tmp_path):
    with pytest.raises(app.UsageError, match="--output_dir"):
        call(contrast, "--sentences=1")
    with pytest.raises(UserError, match="cannot read"):
        call(contrast, "--output_dir=nowhere", f"--contrastive_file={tmp_path}/absent.json")
    with pytest.raises(UserError, match="cannot write"):
        call(contrast, "--output_dir=nowhere", f"--json_to_file={tmp_path}/no/x.json")
    for flag in ("contrastive_file", "json_to_file"):
        with pytest.raises(app.UsageError, match=f"--{flag}= names no file"):
            call(contrast, "--output_dir=nowhere", f"--{flag}=")
    pairs = tmp_path / "pairs.json"
    pairs.write_text("[]")
    (tmp_path / "link").symlink_to(pairs)
    given = ["--output_dir=nowhere", f"--contrastive_file={pairs}"]
    with pytest.raises(UserError, match="would overwrite the input"):
        call(contrast, *given, f"--json_to_file={tmp_path}/link")
    assert pairs.read_text() == "[]"
    with pytest.raises(app.UsageError, match="--sentences is only used with the built-in grammar"):
        call(contrast, *given, "--sentences=3")
    with pytest.raises(app.UsageError, match="--parser are only used with --contrastive_file"):
        call(contrast, *toy.flags, "--parser=stanza")


def test_the_grammars_own_trees_cut_its_sentences():
    examined = grammar_pairs(20)
    cut = contrast.texts_of_sources((PHRASES,), examined)["phrases"]
    for source, phrases in zip(examined.sources, cut, strict=True):
        assert "".join(phrases.split()) == "".join(source.split())
    assert any("\t" in phrases for phrases in cut)


def test_contrastive_translations_have_no_target_features():
    tags = Feature(name="tags", side="target", stream="tags")
    with pytest.raises(UserError, match="reads the target feature 'tags', which contrastive"):
        contrast.texts_of_sources((tags,), grammar_pairs(2))


def test_the_grammars_pairs_are_not_for_the_other_direction(monkeypatch):
    record = types.SimpleNamespace(problem="translate_ende_multi30k_rev")
    trained = types.SimpleNamespace(members=[types.SimpleNamespace(record=record)])
    monkeypatch.setattr(contrast, "load", lambda: (trained, None))
    with pytest.raises(UserError, match="the model translates de to en; give a file"):
        call(contrast, "--output_dir=nowhere", "--sentences=2")
    for name in ("", "mine", "translate_ende_multi30k", "translate_text", "translate_text_rev"):
        contrast.check_direction(name)

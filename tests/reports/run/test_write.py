"""The translations that a page makes if the run records none."""

from types import SimpleNamespace

import pytest
from toy_run import make_toy_run

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.reports.run.facts import RunFacts
from t2t_phrase.reports.run.write import with_translations
from t2t_phrase.runs.commands import Command
from t2t_phrase.runs.history import History
from t2t_phrase.runs.load_model import load_model
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.text.encoders import make_encoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.vocabularies import Vocabularies


def facts_of(toy, problem, *arguments):
    command = Command("2026-01-01 00:00:00", "0.1.0", arguments)
    return RunFacts(
        folder=toy.output_dir,
        data_dir=toy.data_dir,
        record=RunRecord.load(toy.output_dir),
        problem=problem,
        manifest=None,
        scores=History(),
        scalars={},
        best=None,
        translations=None,
        commands=[command],
        saved=30,
        parameters=None,
        log=[],
        began="",
    )


def problem_with(vocabularies, lines):
    return SimpleNamespace(
        bleu_tokenize="13a",
        raw_text=lambda *_: (lines, lines),
        raw_references=lambda *_: [lines],
        raw_features=lambda *_: {},
        vocabularies=lambda _: vocabularies,
    )


def test_the_options_are_those_of_the_run(tmp_path, monkeypatch):
    toy = make_toy_run(tmp_path)
    problem = problem_with(toy.vocabularies, toy.lines[:8])
    monkeypatch.setattr("t2t_phrase.runs.problem.get_problem", lambda _: problem)
    facts = facts_of(toy, problem, "--decode_hparams=max_length=4")
    found = with_translations(facts, log=print).translations.lines
    plain = with_translations(facts_of(toy, problem), log=print).translations.lines
    model = load_model(toy.output_dir / "best").model
    translator = Translator(model, toy.vocabularies, DecodeHParams(max_length=4))
    expected = [beams[0].text for beams in translator.translate(toy.lines[:8])]
    assert list(found) == expected and found != plain


def test_another_vocabulary_than_that_of_the_run_is_refused(tmp_path, monkeypatch):
    toy = make_toy_run(tmp_path)
    other = make_encoder(train_subwords([line[::-1] for line in toy.lines], vocab_size=300))
    problem = problem_with(Vocabularies(other, other), ["the house"])
    monkeypatch.setattr("t2t_phrase.runs.problem.get_problem", lambda _: problem)
    with pytest.raises(UserError, match=r"is not the one that the model was trained with"):
        with_translations(facts_of(toy, problem), log=print)

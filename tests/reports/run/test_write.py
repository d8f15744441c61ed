"""The translations that a page makes if the run records none."""

from types import SimpleNamespace

import pytest
from toy_run import make_toy_run

from t2t_phrase.config import UserError
from t2t_phrase.reports.run.write import with_translations
from t2t_phrase.text.encoders import make_encoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.vocabularies import Vocabularies


def test_another_vocabulary_than_that_of_the_run_is_refused(tmp_path, monkeypatch):
    toy = make_toy_run(tmp_path)
    problem = SimpleNamespace(
        raw_text=lambda *_: (["the house"], ["the house"]),
        raw_references=lambda *_: [["the house"]],
        raw_features=lambda *_: {},
        vocabularies=lambda _: Vocabularies(other, other),
    )
    other = make_encoder(train_subwords([line[::-1] for line in toy.lines], vocab_size=300))
    monkeypatch.setattr("t2t_phrase.runs.vocabulary.get_problem", lambda _: problem)
    facts = SimpleNamespace(
        folder=toy.output_dir, data_dir=toy.data_dir, problem=problem, best=None
    )
    with pytest.raises(UserError, match=r"is not the one that the model was trained with"):
        with_translations(facts, log=print)

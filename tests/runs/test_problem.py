import re

import pytest
from run_records import small_record

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.reports.run.facts import read_facts
from t2t_phrase.runs.load_model import TrainedModel
from t2t_phrase.runs.problem import problem_of
from t2t_phrase.runs.vocabulary import run_vocabularies

SAID = re.escape(
    "problem translate_mine is unknown; the run was trained with --t2t_usr_dir=/mine, which "
    "registers it: give that flag"
)


def record(problem="translate_mine_rev", t2t_usr_dir="/mine"):
    return small_record(problem=problem, t2t_usr_dir=t2t_usr_dir)


def test_the_problem_is_that_of_the_record_in_its_direction():
    assert problem_of(record("translate_text_rev"), "translate_ende_wmt16").reversed
    assert problem_of(record(""), "translate_text").name == "translate_text"


def test_a_problem_of_a_folder_of_the_user_names_the_folder():
    with pytest.raises(UserError, match=SAID):
        problem_of(record())


def test_without_such_a_folder_near_names_are_suggested(monkeypatch):
    with pytest.raises(registry.UnknownNameError, match="did you mean translate_text"):
        problem_of(record("translate_txt", t2t_usr_dir=""))
    with pytest.raises(registry.UnknownNameError, match="did you mean translate_text"):
        problem_of(record(""), "translate_txt")
    monkeypatch.setattr(registry, "user_folders", lambda: ["/mine"])
    with pytest.raises(registry.UnknownNameError, match="'translate_mine' is unknown"):
        problem_of(record())


def test_whoever_needs_the_problem_of_a_run_names_the_folder(tmp_path):
    trained = TrainedModel(None, record(), f"{tmp_path}/model.ckpt-1", 1)
    with pytest.raises(UserError, match=SAID):
        run_vocabularies(trained, data_dir=str(tmp_path))
    record().save(tmp_path)
    with pytest.raises(UserError, match=SAID):
        read_facts(tmp_path, tmp_path, log=print)

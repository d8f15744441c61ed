"""The commands that repeat a run."""

import pathlib
from types import SimpleNamespace

import pytest

from t2t_phrase.reports.run.commands import repeating
from t2t_phrase.runs.commands import Command


def facts_of(arguments, *, tokenize="13a", t2t_usr_dir=""):
    return SimpleNamespace(
        problem=SimpleNamespace(base_name="mine", reversed=False, bleu_tokenize=tokenize),
        record=SimpleNamespace(t2t_usr_dir=t2t_usr_dir),
        manifest=SimpleNamespace(splits={"test": {"text": ["mine-test.en", "mine-test.de"]}}),
        best=SimpleNamespace(metric="bleu"),
        folder=pathlib.Path("run"),
        data_dir=pathlib.Path("data"),
        commands=[Command("2026-01-01 00:00:00", "0.1.0", tuple(arguments))],
    )


@pytest.mark.parametrize("others", [True, False])
def test_the_test_set_is_scored_as_the_development_set_was(others):
    if others:
        facts = facts_of(["--decode_hparams=beam_size=5"], tokenize="none", t2t_usr_dir="/own")
    else:
        facts = facts_of([])
    datagen, _, decoder, score = repeating(facts)[0]
    assert ("--t2t_usr_dir=/own" in datagen and "--t2t_usr_dir=/own" in decoder) == others
    assert ("--decode_hparams=beam_size=5" in decoder) == others
    assert ("--tokenize=none" in score) == others
    assert "--reference=data/mine-test.de" in score

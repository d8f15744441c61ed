"""The library works without the grammar, and says what is missing where it is needed."""

import sys

import pytest

import t2t_phrase_grammar
from t2t_phrase import grammar, registry
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import get_problem
from t2t_phrase.evaluation import contrastive


def test_the_names_are_those_of_the_package():
    for name in t2t_phrase_grammar.__all__:
        assert getattr(grammar, name) is getattr(t2t_phrase_grammar, name)


def test_without_the_package_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "t2t_phrase_grammar", None)
    registry.discover()
    for needs_it in (
        lambda: get_problem("translate_ende_grammar").inputs_at_hand(""),
        lambda: contrastive.grammar_pairs(1),
        lambda: list(grammar.generate("test", 1)),
    ):
        with pytest.raises(UserError, match="needs the package t2t_phrase_grammar"):
            needs_it()

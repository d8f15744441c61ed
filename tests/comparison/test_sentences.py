"""The sentences that are compared."""

import pytest

import t2t_phrase_grammar as grammar
from t2t_phrase.comparison.sentences import sentences_of
from t2t_phrase.config import UserError


@pytest.fixture
def grammar_problem(monkeypatch):
    """The grammar problem, with a test set that is not read from files."""
    from t2t_phrase.data.problem import get_problem

    def get(name):
        problem = get_problem(name)
        pairs = list(grammar.generate("test", 20, seed=problem.seed))
        columns = [pair.source for pair in pairs], [pair.target for pair in pairs]
        kept = columns[::-1] if problem.reversed else columns
        monkeypatch.setattr(problem, "raw_text", lambda data_dir, split: kept, raising=True)
        return problem

    return get


def test_the_grammar_is_tested_on_more_sentences_of_its_test_split(grammar_problem, tmp_path):
    problem = grammar_problem("translate_ende_grammar")
    found = sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=30)
    pairs = list(grammar.generate("test", 30, seed=problem.seed))
    assert found.source.read_text().splitlines() == [pair.source for pair in pairs]
    assert found.references == [[pair.target for pair in pairs]]
    assert found.facts == [pair.facts.renderings for pair in pairs]
    trees = found.source.with_suffix(".trees").read_text().splitlines()
    assert trees == [pair.tree for pair in pairs]
    before = found.source.stat().st_mtime_ns
    sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=30)
    assert found.source.stat().st_mtime_ns == before


def test_the_development_set_is_drawn_from_its_own_split(monkeypatch, tmp_path):
    from t2t_phrase.data.problem import get_problem

    problem = get_problem("translate_ende_grammar")
    pairs = list(grammar.generate("dev", 20, seed=problem.seed))
    kept = [pair.source for pair in pairs], [pair.target for pair in pairs]
    monkeypatch.setattr(problem, "raw_text", lambda data_dir, split: {"dev": kept}[split])
    found = sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=10, split="dev")
    assert found.source == tmp_path / "dev-10.en" and "of the dev split" in found.description
    assert found.source.read_text().splitlines() == kept[0][:10]
    assert found.references == [kept[1][:10]]


def test_the_other_direction_has_no_phenomena(grammar_problem, tmp_path):
    problem = grammar_problem("translate_ende_grammar_rev")
    found = sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=10)
    pairs = list(grammar.generate("test", 10, seed=problem.seed))
    assert found.source.read_text().splitlines() == [pair.target for pair in pairs]
    assert found.references == [[pair.source for pair in pairs]] and found.facts is None


def test_data_of_another_grammar_are_refused(grammar_problem, tmp_path, monkeypatch):
    problem = grammar_problem("translate_ende_grammar")
    other = list(grammar.generate("test", 5, seed=problem.seed + 1))
    kept = [pair.source for pair in other], [pair.target for pair in other]
    monkeypatch.setattr(problem, "raw_text", lambda data_dir, split: kept)
    with pytest.raises(UserError, match="regenerate the data with t2t-phrase-datagen"):
        sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=10)

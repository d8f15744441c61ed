"""Baselines on a few trees whose answers are counted by hand."""

import itertools

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.probing.baselines import (
    BOUNDARIES,
    MAJORITY,
    WORD_TYPE,
    choose_baselines,
    predictions,
)
from t2t_phrase.probing.classes import task_data
from t2t_phrase.probing.corpus import ProbeCorpus, make_corpus
from t2t_phrase.probing.tasks import TASKS

TRAIN = [
    "(S (NP (DT the) (NN run)) (VP (VBZ is) (ADJP (JJ long))))",
    "(S (NP (DT the) (NN house)) (VP (VBZ is) (ADJP (JJ red))))",
    "(S (VP (VB run)))",
    "(S (NP (DT a) (NN run)) (VP (VBZ stops)))",
    "(S (NP (DT a) (NN cat)) (VP (VBZ sleeps)))",
]
TEST = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ is) (ADJP (JJ red))))",
    "(S (NP (DT a) (NN run)) (VP (VBZ barks)))",
]


def corpus():
    tasks = [TASKS["tss"], TASKS["pos"]]

    def of(trees):
        made = make_corpus([(tree, None) for tree in trees], tasks, name="f")
        found = sorted(itertools.chain(*made.splits.values()), key=lambda one: one.line)
        assert len(found) == len(trees)
        return found

    return ProbeCorpus({"train": of(TRAIN), "dev": of(TEST), "test": of(TEST)}, {})


def labels(name, task):
    made = corpus()
    data = task_data(TASKS[task], made)
    found = predictions(name, data, made)
    return found and [[data.classes[n] for n in numbers] for numbers in found]


def test_majority_and_word_types():
    assert labels(MAJORITY, "tss") == [["NP-VP"], ["NP-VP"]]
    assert labels(WORD_TYPE, "tss") is None
    # "run" is a noun twice and a verb once; "dog" and "barks" never occurred.
    made = corpus()
    most = task_data(TASKS["pos"], made).classes[0]
    assert labels(WORD_TYPE, "pos") == [["DT", most, "VBZ", "JJ"], ["DT", "NN", most]]


def test_boundaries():
    assert labels(BOUNDARIES, "tss") == [["NP-VP"], ["NP-VP"]]
    # The first of two words is an article four times and a verb twice; a word alone is a verb.
    assert labels(BOUNDARIES, "pos") == [["DT", "NN", "DT", "NN"], ["DT", "NN", "VBZ"]]


def test_names():
    assert choose_baselines(["untrained", "word_type"]) == ("word_type", "untrained")
    with pytest.raises(UserError, match="'word_typ' is unknown; did you mean word_type"):
        choose_baselines(["untrained", "word_typ"])

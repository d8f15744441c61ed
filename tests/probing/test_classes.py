import numpy as np
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.probing.classes import NONE, task_data
from t2t_phrase.probing.corpus import ProbeCorpus, ProbeSentence
from t2t_phrase.probing.tasks import TASKS


def corpus(task: str, **splits) -> ProbeCorpus:
    made = {
        split: [ProbeSentence("x", "(S x)", 1, ("x",), (0,), {task: label}) for label in labels]
        for split, labels in splits.items()
    }
    return ProbeCorpus(made, {})


def test_classes_are_those_of_the_training_split_by_frequency():
    given = corpus("voice", train=["b", "a", "a", "c", None], dev=["a", "x"], test=["b", "a", None])
    data = task_data(TASKS["voice"], given)
    assert data.classes == ("a", "b", "c")
    assert [of.tolist() for of in data.labels["train"]] == [[1], [0], [0], [2], [NONE]]
    # A class that training lacks is never right, and counts.
    assert [of.tolist() for of in data.labels["dev"]] == [[0], [3]]
    assert data.shares("test")[0] == 1 / 2
    assert (data.size("train"), data.size("dev"), data.size("test")) == (4, 2, 2)
    assert data.skipped == 2
    assert data.describe() == (
        "voice: 4/2/2 sentences, 3 classes: a 50.0%, b 25.0%, c 25.0%; 2 sentences left out: no "
        "verb in a main clause"
    )


def test_words():
    given = corpus(
        "pos", train=[("N", "V", None), ("N",)], dev=[("V", "N")], test=[("X", "N", "N")]
    )
    data = task_data(TASKS["pos"], given)
    assert [of.tolist() for of in data.labels["train"]] == [[0, 1, NONE], [0]]
    assert data.shares("test")[0] == pytest.approx(2 / 3)
    assert data.labels["test"][0].dtype == np.int32
    assert "3/2/3 words, 2 classes" in data.describe() and "1 word left out" in data.describe()


def test_rare_sequences_are_one_class():
    train = ["A"] * 5 + ["B"] * 4 + ["C", "D", "E"]
    given = corpus("tss", train=train, dev=["A", "D"], test=["E", "never", "B"])
    data = task_data(TASKS["tss"], given, tss_classes=3)
    assert data.classes == ("A", "B", "OTHER")
    assert [of.tolist() for of in data.labels["test"]] == [[2], [2], [1]]
    assert len(task_data(TASKS["tss"], given, tss_classes=5).classes) == 5
    assert len(task_data(TASKS["tss"], given).classes) == 5
    # The most frequent class is the majority, also where that is OTHER.
    many = corpus("tss", train=["A", "A", *"BCDE"], dev=["A"], test=["B", "C", "A"])
    data = task_data(TASKS["tss"], many, tss_classes=2)
    assert data.classes == ("OTHER", "A") and data.shares("test")[0] == pytest.approx(2 / 3)


def test_what_cannot_be_probed_is_refused():
    with pytest.raises(UserError, match="every sentence of the training split is active, so there"):
        task_data(
            TASKS["voice"], corpus("voice", train=["active"], dev=["active"], test=["active"])
        )
    for missing in ("train", "dev", "test"):
        splits = {"train": ["a", "b"], "dev": ["a"], "test": ["a"], missing: [None]}
        with pytest.raises(UserError, match=f"the {missing} split of 1 sentence has no label"):
            task_data(TASKS["tense"], corpus("tense", **splits))

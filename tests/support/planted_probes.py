"""Sentences of random ids whose labels are a function of their tokens, for probes."""

from __future__ import annotations

import numpy as np

from t2t_phrase.decoding.sides import EncodedSide
from t2t_phrase.probing.classes import TaskData
from t2t_phrase.probing.corpus import SPLITS
from t2t_phrase.probing.inputs import EncoderInputs
from t2t_phrase.probing.tasks import TASKS
from t2t_phrase.special_ids import EOS_ID

VOCAB_SIZE = 16
SIZES = {"train": 96, "dev": 32, "test": 64}


def draw(rng: np.random.Generator) -> list[int]:
    """Return 2 to 7 ids, of which most are odd or most are even."""
    count, share = rng.integers(2, 8), rng.choice([0.1, 0.9])
    ids = 2 * rng.integers(2, VOCAB_SIZE // 2, count) + (rng.random(count) < share)
    return [int(i) for i in ids]


def most_are(row: np.ndarray) -> np.ndarray:
    """Return [1] if more than half of the numbers are 1, or else [0]."""
    return np.array([row.mean() > 0.5], "int32")


def planted(unit: str, *, shuffled: bool = False) -> tuple[dict, TaskData]:
    """Return the inputs of each split and a task.

    The label of a word is whether its id is odd; that of a sentence, whether most of its ids are.
    Every word is a token.

    Args:
        unit: "word" or "sentence".
        shuffled: draw labels that have nothing to do with the sentences instead, two thirds 0.
    """
    rng, noise = np.random.default_rng(5), np.random.default_rng(6)
    inputs, labels = {}, {}
    for split in SPLITS:
        sentences = [draw(rng) for _ in range(SIZES[split])]
        ids = [[*sentence, EOS_ID] for sentence in sentences]
        side = EncodedSide("source", ids, [len(row) for row in ids], [], {}, {})
        inputs[split] = EncoderInputs(side, [list(range(len(s))) for s in sentences])
        odd = [np.array(sentence, "int32") % 2 for sentence in sentences]
        right = odd if unit == "word" else [most_are(row) for row in odd]
        if shuffled:
            right = [(noise.random(len(row)) > 2 / 3).astype("int32") for row in right]
        labels[split] = right
    task = TASKS["pos" if unit == "word" else "voice"]
    return inputs, TaskData(task, ("even", "odd"), labels, 0)

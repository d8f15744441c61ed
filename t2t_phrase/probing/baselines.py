"""Predictions that need no encoder: from the word alone, or from the boundaries of segments."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from t2t_phrase.config import UserError, nearest, shown
from t2t_phrase.probing.classes import NONE, TaskData
from t2t_phrase.probing.corpus import ProbeCorpus, ProbeSentence
from t2t_phrase.text.trees.tree_levels import tree_levels
from t2t_phrase.text.trees.trees import read_tree

MAJORITY, WORD_TYPE, BOUNDARIES, UNTRAINED = "majority", "word_type", "boundaries", "untrained"
BASELINES = (WORD_TYPE, BOUNDARIES, UNTRAINED)
# Number of levels of the models that read boundaries.
_LEVELS = 3
Keys = Callable[[ProbeSentence, TaskData], Sequence[Hashable]]


def choose_baselines(names: Sequence[str]) -> tuple[str, ...]:
    """Return the baselines with these names.

    Raises:
        UserError: a baseline is unknown.
    """
    for name in names:
        if name not in BASELINES:
            raise UserError(
                f"--baselines: {shown(name)} is unknown"
                f"{nearest(name, BASELINES) or '; known: ' + ', '.join(BASELINES)}"
            )
    return tuple(name for name in BASELINES if name in names)


def predictions(name: str, data: TaskData, corpus: ProbeCorpus) -> list[np.ndarray] | None:
    """Return the predictions for the test split; None: the baseline does not apply to the task.

    Each label is predicted from a key, such as the word: as the most frequent label of the key in
    the training split, or the most frequent label of the whole split if the key is absent.

    Args:
        name: name of the baseline.
        data: the task, with the labels of `corpus`.
        corpus: the sentences.
    """
    if name == MAJORITY:
        keys: Keys = _nothing
    elif name == BOUNDARIES:
        keys = _boundaries
    elif data.task.unit == "word":
        keys = _word_types
    else:
        return None
    counts: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for sentence, labels in zip(corpus.splits["train"], data.labels["train"], strict=True):
        for key, label in zip(keys(sentence, data), labels.tolist(), strict=True):
            if label != NONE:
                counts[key][label] += 1
    # Ties go to the more frequent class, which has the lower number.
    best = {key: min(found, key=lambda n: (-found[n], n)) for key, found in counts.items()}
    return [
        np.array(
            [
                best.get(key, 0)
                for key, label in zip(keys(sentence, data), labels.tolist(), strict=True)
                if label != NONE
            ],
            "int32",
        )
        for sentence, labels in zip(corpus.splits["test"], data.labels["test"], strict=True)
    ]


def _nothing(sentence: ProbeSentence, data: TaskData) -> Sequence[Hashable]:
    return [None] * (len(sentence.words) if data.task.unit == "word" else 1)


def _word_types(sentence: ProbeSentence, data: TaskData) -> Sequence[Hashable]:
    del data
    return sentence.words


def _boundaries(sentence: ProbeSentence, data: TaskData) -> Sequence[Hashable]:
    """Return the sizes of the segments of a sentence, or each word's place in its segments.

    The segments are those of `tree_levels`, measured in words: of level 1 for a sentence, and of
    each of the first three levels for a word.
    """
    levels = [word.level for word in tree_levels(read_tree(sentence.tree))]
    if data.task.unit == "sentence":
        return [tuple(size for _, size in dict.fromkeys(_segments(levels, 1)))]
    places = []
    for level in range(1, _LEVELS + 1):
        segments = _segments(levels, level)
        places.append([(word - start, size) for word, (start, size) in enumerate(segments)])
    return list(zip(*places, strict=True))


def _segments(levels: Sequence[int], level: int) -> list[tuple[int, int]]:
    """Return, for each word, the first word and the size of its segment."""
    starts = [i for i, begins in enumerate(levels) if begins <= level]
    return [
        (start, end - start)
        for start, end in itertools.pairwise([*starts, len(levels)])
        for _ in range(start, end)
    ]

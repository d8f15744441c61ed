"""Checks the side lines of sentence pairs, in several processes if there are many pairs."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.workers import in_order
from t2t_phrase.data.sources.corpus import Pair
from t2t_phrase.data.sources.side_files import text_column
from t2t_phrase.features import OTHER, Feature
from t2t_phrase.text.annotations.base import annotation_of
from t2t_phrase.text.annotations.labels import LabelAnnotation

# Pairs that are checked at a time.
_BATCH = 500
# Batches checked in this process before workers are started, which takes seconds.
_BATCHES_HERE = 10


class Checked(NamedTuple):
    """Pairs whose side lines have been read.

    Attributes:
        pairs: the pairs.
        misfits: messages about lines that do not fit, with file and line.
        labels: how often each label occurs, for each feature that has labels.
    """

    pairs: Sequence[Pair]
    misfits: Sequence[str]
    labels: dict[str, collections.Counter[str]]


def check_all(
    pairs: Iterator[Pair], streams: Sequence[str], features: Sequence[Feature], *, workers: int
) -> Iterator[Checked]:
    """Check pairs in order, batch by batch.

    Args:
        pairs: pairs with clean texts.
        streams: names of the lines in `Pair.side`.
        features: the features made from the streams.
        workers: number of processes; 1: this process.

    Raises:
        UserError: a worker process was killed.
    """
    batches = iter(lambda: list(itertools.islice(pairs, _BATCH)), [])
    tasks = ((batch, streams, features) for batch in batches)
    here = None if workers == 1 or not features else _BATCHES_HERE
    yield from itertools.starmap(check, itertools.islice(tasks, here))
    yield from in_order(check, tasks, workers=workers)


def check(pairs: Sequence[Pair], streams: Sequence[str], features: Iterable[Feature]) -> Checked:
    """Read the side lines of pairs."""
    annotations = [(feature, annotation_of(feature)) for feature in features]
    misfits = []
    labels: dict[str, collections.Counter[str]] = {}
    for pair in pairs:
        for feature, annotation in annotations:
            stream = streams.index(feature.side_stream)
            own, other = (pair.texts[text_column(s)] for s in (feature.side, OTHER[feature.side]))
            try:
                text = annotation.read(own or "", pair.side[stream], other)
            except UserError as error:
                misfits.append(f"{pair.side_names[stream]}:{pair.line}: {error}")
                continue
            if isinstance(annotation, LabelAnnotation):
                labels.setdefault(feature.name, collections.Counter()).update(
                    annotation.labels(text)
                )
    return Checked(pairs, misfits, labels)

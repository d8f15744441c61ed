"""Annotations whose integers stand for labels, which datagen collects in a vocabulary."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from typing import ClassVar

from t2t_phrase.text.annotations.base import Annotation


class LabelAnnotation(Annotation):
    """An annotation that cannot encode before it is given its vocabulary of labels.

    Datagen counts the labels of the training set, writes the most frequent ones to a file, and
    gives them to `with_labels`.
    """

    most_labels: ClassVar[int]  # in the vocabulary

    def __init__(self) -> None:
        self.classes: dict[str, int] = {}

    @property
    @abc.abstractmethod
    def first_class(self) -> int:
        """The integer of the first label."""

    @abc.abstractmethod
    def labels(self, text: str) -> Iterable[str]:
        """Return the labels in a text form, each as often as it counts."""

    def with_labels(self, labels: Sequence[str]) -> LabelAnnotation:
        """Return an annotation of this type that encodes these labels in their order."""
        annotation = type(self)()
        annotation.classes = {label: i for i, label in enumerate(labels, start=self.first_class)}
        return annotation

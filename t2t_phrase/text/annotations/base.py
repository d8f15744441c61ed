"""The protocol of annotations: the text form of a feature, and its integers."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.features import Feature
from t2t_phrase.io.line_counts import counted

if TYPE_CHECKING:
    import tensorflow as tf


class Sentence(NamedTuple):
    """A sentence and its tokens, EOS excluded.

    Attributes:
        text: natural text.
        ids: ids of its tokens.
        starts: where each token begins in `text`, in bytes of UTF-8.
        is_whole: whether this is all of the sentence, see `cut`.
    """

    text: str
    ids: Sequence[int]
    starts: Sequence[int]
    is_whole: bool = True

    def cut(self, tokens: int | None) -> Sentence:
        """Return the sentence up to its first `tokens` tokens; None: all of it."""
        if tokens is None or len(self.ids) <= tokens:
            return self
        text = self.text.encode()[: self.starts[tokens]].decode() if self.starts else self.text
        return Sentence(text, self.ids[:tokens], self.starts[:tokens], is_whole=False)


class Annotation(abc.ABC):
    """The text form of a feature, one string for each sentence, and its conversion to integers.

    Registered by `registry.annotation_types.register`, under the name that `Feature.annotation`
    gives. Two forms exist: the *line* of a file next to the corpus, such as a tree, and the
    *text* that translators and SavedModels take, which `read` makes from the line.

    Attributes:
        needs_other: whether `read`, `encode` and `end` need the other side; without it, they raise
            a UserError.
    """

    needs_other: ClassVar[bool] = False

    def read(self, sentence: str, line: str, other: str | None = None) -> str:
        """Return the text form of a line of the file next to the corpus.

        Args:
            sentence: the annotated sentence, in natural text.
            line: the line, without its line feed.
            other: the sentence of the other side, where it is known.

        Raises:
            UserError: the line is malformed or does not fit the sentence.
        """
        del sentence, other
        return line

    @abc.abstractmethod
    def encode(self, own: Sentence, text: str, other: Sentence | None = None) -> list[int]:
        """Return one integer for each token of `own`, EOS excluded.

        Args:
            own: the sentence of the feature's side.
            text: the text form.
            other: the sentence of the other side, where it is known.

        Raises:
            UserError: the text does not fit the sentence.
        """

    @abc.abstractmethod
    def end(self, numbers: Sequence[int], other: Sentence | None = None) -> int:
        """Return the integer of EOS, which follows tokens with these numbers.

        Args:
            numbers: the integers of the tokens before EOS.
            other: the sentence of the other side, where it is known.
        """

    def encode_in_graph(
        self, texts: tf.Tensor, starts: tf.RaggedTensor, annotations: tf.Tensor
    ) -> tf.RaggedTensor:
        """Do the same as `encode` for a batch inside a TensorFlow graph.

        Args:
            texts: (B,) string, the sentences.
            starts: (B, None) int, where each token begins, in bytes.
            annotations: (B,) string, the text forms.

        Returns:
            (B, None) ragged int32, as long as `starts`.

        Raises:
            NotImplementedError: this annotation cannot be served.
        """
        raise NotImplementedError

    def end_in_graph(self, numbers: tf.RaggedTensor) -> tf.Tensor:
        """Return (B,) int32: the integer of EOS for each sentence, see `end`."""
        raise NotImplementedError


def annotation_of(feature: Feature) -> Annotation:
    """Return the annotation in which a feature is written.

    Raises:
        UnknownNameError: the name of the annotation is not registered.
    """
    if feature.annotation not in registry.annotation_types:
        # Not everything at once: models need TensorFlow, whose import takes seconds.
        registry.import_modules(registry.ANNOTATIONS)
    if feature.annotation not in registry.annotation_types:
        registry.discover()
    annotation: Annotation = registry.annotation_types[feature.annotation]()
    return annotation


def read_annotations(
    feature: Feature,
    sentences: Sequence[str],
    lines: Sequence[str],
    name: str,
    *,
    first: int = 0,
    others: Sequence[str] | None = None,
) -> list[str]:
    """Return the text form of a feature for each sentence, from lines in its file form.

    Args:
        feature: the feature.
        sentences: the sentences of its side.
        lines: one line for each sentence.
        name: name of the file of the lines, for messages.
        first: number of the first line in that file, from 0.
        others: the sentences of the other side, where they are known.

    Raises:
        UserError: the numbers of lines and sentences differ, or a line does not fit its sentence;
            the message names the line.
    """
    if len(lines) != len(sentences):
        has = counted(len(lines), "line")
        raise UserError(f"{name} has {has} for {counted(len(sentences), 'sentence')}")
    annotation, texts = annotation_of(feature), []
    for place, (sentence, line) in enumerate(zip(sentences, lines, strict=True)):
        try:
            texts.append(annotation.read(sentence, line, others[place] if others else None))
        except UserError as error:
            raise UserError(f"{name}:{first + place + 1}: {error}") from error
    return texts

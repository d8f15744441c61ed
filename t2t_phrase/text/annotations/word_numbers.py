"""One integer for each word of a sentence, such as its case, part of speech or data source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from t2t_phrase import registry
from t2t_phrase.config import UserError, shown
from t2t_phrase.io.line_counts import counted
from t2t_phrase.text.annotations.base import Annotation, Sentence
from t2t_phrase.text.visible import spans_of_tokens

if TYPE_CHECKING:
    import tensorflow as tf

_INTEGER = "-?[0-9]{1,10}"


def word_numbers(sentence: str, text: str) -> list[int]:
    """Return the integers of `text`, one for each word of the sentence.

    Args:
        sentence: words separated by blanks.
        text: integers separated by blanks, such as "3 1 -1".

    Raises:
        UserError: a field is not a 32-bit integer, or the numbers of integers and words differ.
    """
    fields = text.split()
    for field in fields:
        if not re.fullmatch(_INTEGER, field) or not -(2**31) <= int(field) < 2**31:
            raise UserError(f"{shown(field)} is not a 32-bit integer; expected one for each word")
    words = len(sentence.split())
    if len(fields) != words:
        given = counted(len(fields), "integer")
        raise UserError(f"{given} for the {counted(words, 'word')} of {shown(sentence)}")
    return [int(field) for field in fields]


@registry.annotation_types.register
class WordNumbers(Annotation):
    """One integer for each word, such as "3 1 1"; integers and words are separated by blanks.

    Every token has the integer of the word of its first visible character; EOS has 0.
    """

    def read(self, sentence: str, line: str, other: str | None = None) -> str:
        """Return the line with single spaces between the integers.

        Raises:
            UserError: a field is not an integer, or the numbers of integers and words differ.
        """
        del other
        return " ".join(map(str, word_numbers(sentence, line)))

    def encode(self, own: Sentence, text: str, other: Sentence | None = None) -> list[int]:
        """Return the integer of each token's word.

        Raises:
            UserError: a field is not an integer, or the numbers of integers and words differ.
        """
        del other
        numbers = word_numbers(own.text, text)
        return [numbers[i] for i in spans_of_tokens(own.text, own.starts, own.text.split())]

    def end(self, numbers: Sequence[int], other: Sentence | None = None) -> int:
        """Return 0, the integer of EOS."""
        del numbers, other
        return 0

    def encode_in_graph(
        self, texts: tf.Tensor, starts: tf.RaggedTensor, annotations: tf.Tensor
    ) -> tf.RaggedTensor:
        """Do the same as `encode` for a batch inside a TensorFlow graph.

        Raises:
            InvalidArgumentError: the integers do not fit the words; raised when the graph runs.
        """
        from t2t_phrase.text.in_graph.word_numbers import word_numbers as in_graph

        return in_graph(texts, starts, annotations, pattern=_INTEGER)

    def end_in_graph(self, numbers: tf.RaggedTensor) -> tf.Tensor:
        """Return (B,) int32 zeros, the integers of EOS."""
        import tensorflow as tf

        return tf.zeros(tf.shape(numbers.row_lengths()), tf.int32)

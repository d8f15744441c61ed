"""Phrases of a sentence: a partition of its tokens, such as the one made from its parse tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from t2t_phrase import registry
from t2t_phrase.config import UserError, shown
from t2t_phrase.text.annotations.base import Annotation, Sentence
from t2t_phrase.text.visible import spans_of_tokens

if TYPE_CHECKING:
    import tensorflow as tf


def phrase_numbers(text: str, starts: Sequence[int], phrases: Sequence[str]) -> list[int]:
    """Return the number, from 1, of the phrase that each token belongs to.

    A token belongs to the phrase of its first visible character; a token that is only a blank, to
    the phrase of the next token. Phrases in which no token begins are not counted, so the numbers
    have no gaps.

    Args:
        text: the sentence.
        starts: where each token begins, in bytes of UTF-8, ascending.
        phrases: the sentence cut into phrases.

    Raises:
        UserError: the phrases do not spell the sentence.
    """
    if "".join("".join(phrases).split()) != "".join(text.split()):
        raise UserError(
            f"the phrases {shown(' | '.join(phrases))} do not spell the sentence {shown(text)}"
        )
    numbers: list[int] = []
    last = -1
    for phrase in spans_of_tokens(text, starts, phrases):
        numbers.append(numbers[-1] + (phrase != last) if numbers else 1)
        last = phrase
    return numbers


@registry.annotation_types.register
class Phrases(Annotation):
    """The sentence with tabs between its phrases, such as `the dog<TAB>can not<TAB>swim`.

    Blanks beside the tabs do not matter. The integers are the numbers of `phrase_numbers`; EOS is a
    phrase of its own. In a file next to the corpus, each line is a constituency tree in Penn
    brackets, which is cut into phrases by Algorithm 1 of Xu et al. (2020), see `tree_phrases`.
    """

    def read(self, sentence: str, line: str, other: str | None = None) -> str:
        """Return the sentence cut into the phrases of its tree, with tabs between them.

        Raises:
            UserError: the line is not a tree, or its words do not spell the sentence.
        """
        del other
        # NLTK takes long to import, and models without phrases do not need it.
        from t2t_phrase.text.trees.cut_by_tree import cut_by_tree

        return "\t".join(cut_by_tree(sentence, line))

    def encode(self, own: Sentence, text: str, other: Sentence | None = None) -> list[int]:
        """Return the number of each token's phrase.

        Raises:
            UserError: the phrases do not spell the sentence.
        """
        del other
        return phrase_numbers(own.text, own.starts, text.split("\t"))

    def end(self, numbers: Sequence[int], other: Sentence | None = None) -> int:
        """Return the number of EOS, which is a phrase of its own."""
        del other
        return numbers[-1] + 1 if numbers else 1

    def encode_in_graph(
        self, texts: tf.Tensor, starts: tf.RaggedTensor, annotations: tf.Tensor
    ) -> tf.RaggedTensor:
        """Do the same as `encode` for a batch inside a TensorFlow graph.

        Raises:
            InvalidArgumentError: phrases do not spell their sentence; raised when the graph runs.
        """
        from t2t_phrase.text.in_graph.phrase_numbers import phrase_numbers as in_graph

        return in_graph(texts, starts, annotations)

    def end_in_graph(self, numbers: tf.RaggedTensor) -> tf.Tensor:
        """Return (B,) int32: the number of EOS for each sentence."""
        import tensorflow as tf

        # Numbers ascend from 1; a sentence without tokens has none.
        return tf.reduce_max(tf.pad(numbers.to_tensor(0), [(0, 0), (0, 1)]), axis=1) + 1

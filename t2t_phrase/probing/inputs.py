"""The encoder inputs of a split's sentences, and the token that stands for each word."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from t2t_phrase.decoding.sides import EncodedSide, encode_side, tokenize
from t2t_phrase.features import Feature
from t2t_phrase.probing.corpus import ProbeSentence
from t2t_phrase.probing.word_tokens import word_ends, word_tokens
from t2t_phrase.text.annotations.base import read_annotations
from t2t_phrase.text.vocabularies import Encoder


@dataclasses.dataclass(frozen=True)
class EncoderInputs:
    """The sentences of a split as integers.

    Attributes:
        side: ids and features, EOS included.
        words: for each sentence, the number of the first token of each word.
        ends: likewise, one more than the number of its last token; None: the first token stands for
            the word.
    """

    side: EncodedSide
    words: list[list[int]]
    ends: list[list[int]] | None = None


def encoder_inputs(
    sentences: Sequence[ProbeSentence],
    encoder: Encoder,
    features: Sequence[Feature],
    *,
    name: str,
    files: dict[str, Sequence[str]] | None = None,
    whole_words: bool = False,
) -> EncoderInputs:
    """Encode sentences and the source features that a model reads, and nothing else.

    Args:
        sentences: the sentences of a split.
        encoder: the source vocabulary.
        features: the source features that the model reads.
        name: name of the file of trees, for messages.
        files: by feature, the lines of its file, one for each tree; without a file, the lines are
            the trees.
        whole_words: whether all tokens of a word stand for it, or its first token alone.

    Raises:
        UserError: a line does not fit its sentence.
    """
    tokenized = tokenize(encoder, [sentence.text for sentence in sentences], starts=True)
    texts = {
        feature.name: _texts(feature, sentences, name, (files or {}).get(feature.name))
        for feature in features
    }
    side = encode_side("source", tokenized, features, texts, keep_empty=True)
    words = [
        word_tokens(sentence.text, tokens.starts, sentence.starts)
        for sentence, tokens in zip(sentences, tokenized, strict=True)
    ]
    if not whole_words:
        return EncoderInputs(side, words)
    ends = [word_ends(firsts, len(ids) - 1) for firsts, ids in zip(words, side.ids, strict=True)]
    return EncoderInputs(side, words, ends)


def _texts(
    feature: Feature, sentences: Sequence[ProbeSentence], name: str, lines: Sequence[str] | None
) -> list[str]:
    found: list[str] = []
    for sentence in sentences:
        line = sentence.tree if lines is None else lines[sentence.line - 1]
        found += read_annotations(feature, [sentence.text], [line], name, first=sentence.line - 1)
    return found

"""From aligned tokens to links between words."""

from __future__ import annotations

from collections.abc import Sequence

from t2t_phrase.special_ids import EOS_ID, PAD_ID
from t2t_phrase.text.alignments.pharaoh import Link
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.encoders import SpellingEncoder, StoredEncoder
from t2t_phrase.text.visible import spans_of_tokens
from t2t_phrase.text.vocabularies import Encoder

# The word of a token in a text without words.
NO_WORD = -1


def word_links(
    positions: Sequence[int], words: Sequence[int], source_words: Sequence[int]
) -> tuple[Link, ...]:
    """Return the links between words that follow from those between tokens, in ascending order.

    A target word is linked to each source word that one of its tokens is aligned with. Tokens that
    are aligned with the source's EOS give no link.

    Args:
        positions: the source position of each target token, EOS left out.
        words: the word that each of these tokens is in.
        source_words: the word that each source token is in, EOS left out.
    """
    return tuple(
        sorted(
            {
                (source_words[position], word)
                for position, word in zip(positions, words, strict=True)
                if position < len(source_words) and word != NO_WORD
            }
        )
    )


def words_of_sentence(sentence: Sentence) -> list[int]:
    """Return the word, from 0, that the first visible character of each token is in."""
    return spans_of_tokens(sentence.text, sentence.starts, sentence.text.split())


def words_of_text(encoder: Encoder, text: str, ids: Sequence[int]) -> list[int]:
    """Return the word that each token of a text is in.

    Args:
        encoder: the encoder that made the tokens.
        text: a sentence.
        ids: the tokens of the text without blanks at its ends; they may be cut, without EOS.
    """
    text = text.strip()
    if isinstance(encoder, SpellingEncoder):
        ((whole, starts),) = encoder.encode_with_starts([text])
        return words_of_sentence(Sentence(text, whole, starts))[: len(ids)]
    return words_of_ids(encoder, ids)


def words_of_ids(encoder: Encoder, ids: Sequence[int]) -> list[int]:
    """Return the word of the decoded text that each token is in.

    A token that adds nothing visible, such as a boundary between words, is in the word that follows
    it, or in the last one. If nothing is visible, all tokens are in NO_WORD.

    Args:
        encoder: of any kind; only its `decode` is used.
        ids: without EOS and padding.
    """
    count = len(encoder.decode(ids).split())
    if not count:
        return [NO_WORD] * len(ids)
    words: list[int] = []
    seen, blank = "", 0
    # Only the last word is decoded again with each token, except by tensor2tensor's subwords, which
    # put blanks between words only where they meet. `before` counts the words before `begin`.
    begin = before = 0
    separate = isinstance(encoder, SpellingEncoder)
    for end in range(1, len(ids) + 1):
        text = encoder.decode(ids[begin:end])
        visible = "".join(text.split())
        if visible == seen:
            blank += 1
            continue
        total = before + len(text.split())
        words += [min(max(total, 1), count) - 1] * (blank + 1)
        if separate and total > before + 1:
            begin = end - 1
            text = encoder.decode(ids[begin:end])
            before = total - len(text.split())
            visible = "".join(text.split())
        seen, blank = visible, 0
    return words + [count - 1] * blank


def pieces_of_ids(encoder: Encoder, ids: Sequence[int]) -> list[str]:
    """Return each token as the vocabulary spells it, or else the text of the token alone."""
    if isinstance(encoder, StoredEncoder):
        return encoder.pieces(ids)
    return [encoder.decode([token]) for token in ids]


def tokens_of_row(row: Sequence[int]) -> list[int]:
    """Return the tokens of a hypothesis before EOS and padding."""
    tokens = list(row)
    if EOS_ID in tokens:
        return tokens[: tokens.index(EOS_ID)]
    while tokens and tokens[-1] == PAD_ID:
        tokens.pop()
    return tokens

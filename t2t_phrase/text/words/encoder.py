"""Conversion between text and word ids; words not in the vocabulary become `<unk>`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.special_ids import EOS_ID, PAD_ID, UNK_ID

SPECIAL = ("<pad>", "<EOS>", "<unk>")
# The beginning of every file.
HEADER = "".join(f"{word}\n" for word in SPECIAL).encode()


class WordEncoder:
    """Encodes words, which are separated by blanks: tokenise the text first.

    Every word has exactly one id, so ids and words correspond one to one. (SentencePiece, with
    model_type="word", merges adjacent unknown words into one piece.) The special words have no
    meaning in text: a `<pad>` there is an unknown word.

    Args:
        model_bytes: the vocabulary in UTF-8, one word a line, as `train_words` makes it; the number
            of the line, from 0, is the id.

    Raises:
        UserError: the bytes are not such a vocabulary.
    """

    file_ending = "txt"

    def __init__(self, model_bytes: bytes) -> None:
        self.model_bytes = model_bytes
        try:
            self.words = model_bytes.decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError as error:
            raise UserError(f"the vocabulary is not UTF-8: {error}") from error
        if tuple(self.words[: len(SPECIAL)]) != SPECIAL:
            raise UserError(f"the vocabulary does not begin with the lines {', '.join(SPECIAL)}")
        known = enumerate(self.words[len(SPECIAL) :], start=len(SPECIAL))
        self._ids = {word: i for i, word in known}
        if len(self._ids) != len(self.words) - len(SPECIAL):
            raise UserError("the vocabulary lists a word twice")

    @property
    def vocab_size(self) -> int:
        """Number of words, including the special ones."""
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`, without EOS."""
        return [self._ids.get(word, UNK_ID) for word in text.split()]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return `[encode(text) for text in texts]`."""
        return [self.encode(text) for text in texts]

    def encode_with_starts(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Return the ids of each text and the byte offsets (UTF-8) at which they begin."""
        return [(self.encode(text), _starts(text)) for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the words of `ids` up to the first EOS.

        Pad ids are skipped; ids beyond the vocabulary (a model's vocabulary may be padded) give
        `<unk>`.
        """
        words = []
        for token in ids:
            if token == EOS_ID:
                break
            if token != PAD_ID:
                words.append(self._word(token))
        return " ".join(words)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the word of every id, including special ones."""
        return [self._word(token) for token in ids]

    def token_bytes(self) -> list[bytes]:
        """Return the text of each token, with a blank before it; b"" for special ones."""
        own = self.words[len(SPECIAL) :]
        return [b""] * len(SPECIAL) + [f" {word}".encode() for word in own]

    def _word(self, token: int) -> str:
        return self.words[token if 0 <= token < len(self.words) else UNK_ID]


def _starts(text: str) -> list[int]:
    starts = []
    at = offset = 0
    for match in re.finditer(r"\S+", text):
        offset += len(text[at : match.start()].encode())
        at = match.start()
        starts.append(offset)
    return starts

"""tensor2tensor's subword format, `vocab.*.subwords`, for imported models and their fine-tuning.

New vocabularies are built with SentencePiece.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.special_ids import EOS_ID, PAD_ID

_ESCAPES = "\\_u;0123456789"
_ESCAPED = re.compile(r"\\u|\\\\|\\([0-9]+);")
_UNPRINTABLE = "\u3013"
# Its vocabularies begin with padding and EOS, usually in quotes.
_BEGINNING = re.compile(rb"(['\"]?)<pad>_?\1[^\S\n]*\n(['\"]?)<EOS>_?\2[^\S\n]*\n")


class T2TSubwords:
    """Encodes and decodes like tensor2tensor's SubwordTextEncoder.

    Text is split between alphanumeric and other characters, and single spaces between words are
    dropped. Each token is escaped, ends in "_", and is segmented from left to right into the
    longest pieces in the vocabulary.

    No token stands for unknown words: every text can be spelt.

    Args:
        pieces: all pieces in the order of their ids; the first two are padding and EOS.
        model_bytes: content of the file with these pieces; None: as tensor2tensor writes it.

    Raises:
        UserError: the pieces cannot spell the escapes, so they are not such a vocabulary.
    """

    file_ending = "subwords"

    def __init__(self, pieces: Iterable[str], *, model_bytes: bytes | None = None) -> None:
        self._pieces = tuple(pieces)
        if model_bytes is None:
            model_bytes = "".join(f"'{piece}'\n" for piece in self._pieces).encode()
        self.model_bytes = model_bytes
        self._ids = {piece: i for i, piece in enumerate(self._pieces) if piece}
        missing = [char for char in _ESCAPES if char not in self._ids]
        if missing:
            raise UserError(
                f"the vocabulary lacks {' '.join(missing)}, which every subword vocabulary of "
                "tensor2tensor contains"
            )
        self._longest = max(map(len, self._pieces))
        self._alphabet = {char for piece in self._pieces for char in piece}
        self._token_ids = functools.lru_cache(maxsize=2**16)(self._encode_token)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> T2TSubwords:
        """Read a vocabulary file with one piece per line, usually in quotes.

        Raises:
            UserError: the file cannot be read or is not such a vocabulary.
        """
        try:
            with open(path, "rb") as file:
                model_bytes = file.read()
        except OSError as error:
            raise UserError(f"cannot read the vocabulary {path}: {error.strerror}") from error
        try:
            return cls.of_file(model_bytes)
        except UserError as error:
            raise UserError(f"{path}: {error}") from error

    @classmethod
    def of_file(cls, model_bytes: bytes) -> T2TSubwords:
        """Return the encoder of a file's content, see `load`.

        Raises:
            UserError: this is not such a vocabulary.
        """
        try:
            lines = model_bytes.decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError as error:
            raise UserError("the vocabulary is not UTF-8") from error
        return cls((_unquoted(line.rstrip()) for line in lines), model_bytes=model_bytes)

    @property
    def vocab_size(self) -> int:
        """Number of pieces, including the special ones."""
        return len(self._pieces)

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`, without EOS."""
        return [i for token in split_tokens(text) for i in self._token_ids(token)]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return `[encode(text) for text in texts]`."""
        return [self.encode(text) for text in texts]

    def encode_with_starts(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Refuse: only features need starts, and tensor2tensor's models read no features.

        Raises:
            UserError: always.
        """
        raise UserError(
            "tensor2tensor's own subwords cannot be aligned with the text, so features cannot be "
            "carried over to them; train with a vocabulary made by t2t-phrase-datagen"
        )

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids` up to the first EOS; padding and unknown ids are skipped."""
        pieces = []
        for i in ids:
            if i == EOS_ID:
                break
            if i != PAD_ID and 0 <= i < len(self._pieces):
                pieces.append(self._pieces[i])
        tokens = [_unescaped(token) for token in "".join(pieces).split("_")]
        return join_tokens([token for token in tokens if token])

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the piece of every id as in the vocabulary, such as "house_"; "" if unknown."""
        return [self._pieces[i] if 0 <= i < len(self._pieces) else "" for i in ids]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the pieces alone: the cache cannot be pickled."""
        return functools.partial(type(self), model_bytes=self.model_bytes), (self._pieces,)

    def _encode_token(self, token: str) -> tuple[int, ...]:
        escaped = token.replace("\\", "\\\\").replace("_", "\\u")
        known = (c if c in self._alphabet and c != "\n" else _number(c) for c in escaped)
        return tuple(self._longest_matches("".join(known) + "_"))

    def _longest_matches(self, text: str) -> Iterable[int]:
        start = 0
        while start < len(text):
            for end in range(min(len(text), start + self._longest), start, -1):
                if text[start:end] in self._ids:
                    yield self._ids[text[start:end]]
                    start = end
                    break
            else:
                # A character that occurs only within longer pieces is escaped by its number, too.
                yield from self._longest_matches(_number(text[start]))
                start += 1


def is_t2t_vocabulary(model_bytes: bytes) -> bool:
    """Return whether the content of a file is a vocabulary of tensor2tensor's subwords."""
    return _BEGINNING.match(model_bytes) is not None


def split_tokens(text: str) -> list[str]:
    """Split `text` between alphanumeric and other characters; drop spaces between words."""
    runs = ["".join(run) for _, run in itertools.groupby(text, _is_alphanumeric)]
    inner = [run for run in runs[1:-1] if run != " "]
    return runs[:1] + inner + runs[1:][-1:]


def join_tokens(tokens: list[str]) -> str:
    """Undo `split_tokens`: insert a space between two alphanumeric tokens."""
    text = ""
    for i, token in enumerate(tokens):
        if i and _is_alphanumeric(tokens[i - 1][0]) and _is_alphanumeric(token[0]):
            text += " "
        text += token
    return text


@functools.lru_cache(maxsize=2**16)
def _is_alphanumeric(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN"


def _number(char: str) -> str:
    return f"\\{ord(char)};"


def _unescaped(token: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[1] is None:
            return "_" if match[0] == "\\u" else "\\"
        # Longer numbers are not characters, and Python refuses to parse thousands of digits.
        code = int(match[1]) if len(match[1]) < 8 else 0x110000
        # Half of a surrogate pair is not a character and could not be written to a file.
        return chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else _UNPRINTABLE

    return _ESCAPED.sub(replace, token)


def _unquoted(line: str) -> str:
    for quote in "'\"":
        if line.startswith(quote) and line.endswith(quote):
            return line[1:-1]
    return line

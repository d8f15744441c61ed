"""Conversion between text and subword ids by a SentencePiece model with T2T's special ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2, sentencepiece_pb2

from t2t_phrase.config import UserError
from t2t_phrase.special_ids import EOS_ID, PAD_ID, UNK_ID

# SentencePiece's blank, in its pieces.
BLANK = "\u2581"
_BYTES = 256
# The name of the rules of `train_subwords`, which only make all white space blanks.
WHITESPACE_ONLY = "whitespace"
# Its classes are made at run time.
_MODEL: Any = sentencepiece_model_pb2


class SubwordEncoder:
    """Encodes text without loss except for blanks: `decode(encode(x)) == " ".join(x.split())`.

    A model that others have trained may also normalise the text, see `normalizer`.

    Characters that are not in the vocabulary become their UTF-8 bytes, so `encode` never yields
    `UNK_ID`. The only exception to the rule above is U+2581, SentencePiece's own blank, which
    becomes a space.

    Args:
        model_bytes: a serialized SentencePiece model with pad 0, EOS 1, unk 2 and byte pieces, as
            `train_subwords` makes it.

    Raises:
        UserError: the bytes are not such a model.
    """

    file_ending = "model"

    def __init__(self, model_bytes: bytes) -> None:
        self.model_bytes = model_bytes
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model_bytes)
        except (RuntimeError, UnicodeDecodeError) as error:
            # UnicodeDecodeError: SentencePiece's own message quotes a piece that is not UTF-8.
            raise UserError("the vocabulary is not a SentencePiece model") from error
        ids = (self._processor.pad_id(), self._processor.eos_id(), self._processor.unk_id())
        if ids != (PAD_ID, EOS_ID, UNK_ID):
            raise UserError(
                f"the vocabulary has pad, EOS and unk at {ids}; "
                f"{(PAD_ID, EOS_ID, UNK_ID)} is expected: make it with t2t-phrase-datagen"
            )
        if sum(map(self._processor.is_byte, range(self.vocab_size))) != _BYTES:
            raise UserError(
                "the vocabulary has no pieces for single bytes, so characters that it lacks would "
                "be lost: train it with byte_fallback=True, or make it with t2t-phrase-datagen"
            )

    @property
    def normalizer(self) -> str:
        """Name of the rules by which the model changes text before encoding it; "": it does not."""
        rules = _MODEL.ModelProto.FromString(self.model_bytes).normalizer_spec
        harmless = not rules.precompiled_charsmap or rules.name == WHITESPACE_ONLY
        return "" if harmless else rules.name or "custom rules"

    @property
    def vocab_size(self) -> int:
        """Number of pieces, including the special ones."""
        return int(self._processor.get_piece_size())

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`, without EOS."""
        return list(self._processor.encode(text))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return `[encode(text) for text in texts]`, but faster."""
        return list(self._processor.encode(list(texts)))

    def encode_with_starts(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Return the ids of each text and the byte offsets (UTF-8) at which they begin."""
        # The class is made at run time.
        parse: Any = getattr(sentencepiece_pb2, "SentencePieceText").FromString  # noqa: B009
        found = []
        for serialized in self._processor.encode(list(texts), out_type="serialized_proto"):
            pieces = parse(serialized).pieces
            found.append(([piece.id for piece in pieces], [piece.begin for piece in pieces]))
        return found

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids` up to the first EOS.

        Pad ids are skipped; ids beyond the vocabulary (a model's vocabulary may be padded) count
        as unk, which is written "⁇"; invalid UTF-8 becomes U+FFFD.
        """
        return str(self._processor.decode(self._visible(ids)))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the piece of every id as in the vocabulary, such as "▁house" or "<0xE2>"."""
        size = self.vocab_size
        return [self._processor.id_to_piece(int(i) if 0 <= i < size else UNK_ID) for i in ids]

    def token_bytes(self) -> list[bytes]:
        """Return the text that each token stands for, blanks included; b"" for special ones."""
        processor = self._processor
        found = []
        for token in range(self.vocab_size):
            piece = processor.id_to_piece(token)
            if processor.is_byte(token):
                found.append(bytes([int(piece[3:5], 16)]))  # "<0xE2>"
            elif processor.is_control(token) or processor.is_unknown(token):
                found.append(b"")
            else:
                found.append(piece.replace(BLANK, " ").encode())
        return found

    def _visible(self, ids: Iterable[int]) -> list[int]:
        size = self.vocab_size
        kept = []
        for token in ids:
            if token == EOS_ID:
                break
            if token != PAD_ID:
                kept.append(int(token) if 0 < token < size else UNK_ID)
        return kept

"""The encoder of a subword or word vocabulary."""

from __future__ import annotations

import os

from t2t_phrase.config import UserError
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords, is_t2t_vocabulary
from t2t_phrase.text.words.encoder import HEADER, WordEncoder

# Encoders of the vocabularies that t2t-phrase-datagen learns. They know where tokens begin in a
# text and what each token spells, which features, dictionaries, prefixes and exports need.
SpellingEncoder = SubwordEncoder | WordEncoder
# Encoders of all vocabularies that data can have; `model_bytes` is the content of the file.
StoredEncoder = SpellingEncoder | T2TSubwords


def make_encoder(model_bytes: bytes) -> StoredEncoder:
    """Return the encoder of a list of words, tensor2tensor's subwords or a SentencePiece model.

    Raises:
        UserError: the file is neither a subword nor a word vocabulary.
    """
    if is_word_list(model_bytes):
        return WordEncoder(model_bytes)
    if is_t2t_vocabulary(model_bytes):
        return T2TSubwords.of_file(model_bytes)
    return SubwordEncoder(model_bytes)


def load_encoder(path: str | os.PathLike[str]) -> StoredEncoder:
    """Return the encoder of the vocabulary in a file.

    Raises:
        UserError: the file is missing or is not a vocabulary.
    """
    try:
        with open(path, "rb") as file:
            model_bytes = file.read()
    except OSError as error:
        raise UserError(f"cannot read the vocabulary {path}: {error.strerror}") from error
    try:
        return make_encoder(model_bytes)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def is_word_list(model_bytes: bytes) -> bool:
    """Return whether a vocabulary is a list of words."""
    return model_bytes.startswith(HEADER)

"""A vocabulary of tensor2tensor's subwords for tests."""

from __future__ import annotations

from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords

PIECES = ["<pad>_", "<EOS>_", "hou", "se_", "the_", "dog", "s_", *"thedogusaorn_\\;0123456789"]
PIECES = list(dict.fromkeys(PIECES))
# Not a multiple of 8, to which the tables of other vocabularies are padded.
assert len(PIECES) % 8


def t2t_subwords(*more: str) -> T2TSubwords:
    """Return the encoder of the pieces and some more."""
    return T2TSubwords([*PIECES, *more])

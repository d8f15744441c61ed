"""Sentences on which tokenisers and annotations go wrong, and models to try them with."""

from __future__ import annotations

import io
from typing import Any

import sentencepiece

LINES = [
    "the dog can not find ﬁre in the fire",
    "Cafe\u0301 ＡＢＣ １２ café ABC 12",
    "two  blanks\u3000wide 🙂 smile",
    "the dogs cannot find the finest cafe",
] * 3
# Each is cut by bars into pieces, which may be parts of words.
CUTS = [
    "the dog|can|not find",
    "the dogs| can|not |find",
    "ﬁre in| the fire",
    "the ﬁ|nest",
    "Cafe|\u0301 ＡＢ|Ｃ １|２",
    "two|  blanks|\u3000wide",
    "🙂🙂| smile|🙂 日本|語",
    "| the|dog|| cannot|",
    "a\x1cb\x85c| \u2028d\u00a0",
    "a\x00b| \ufeffc d\u200be",
    "a",
    "",
    "  ",
]


def foreign_model(lines: list[str], *, model_type: str = "bpe", **options: Any) -> bytes:
    """Return a SentencePiece model with our special ids and SentencePiece's defaults."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type=model_type,
        vocab_size=340,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return model.getvalue()


def normalising_model(lines: list[str]) -> bytes:
    """Return a SentencePiece model that normalises text, as most published models do."""
    return foreign_model(lines, byte_fallback=True, normalization_rule_name="nmt_nfkc")


def blank_keeping_model(lines: list[str]) -> bytes:
    """Return a SentencePiece model that has tokens for all blanks, also around a text."""
    return foreign_model(
        lines,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )

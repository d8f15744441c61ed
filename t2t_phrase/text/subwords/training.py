"""Learning a subword vocabulary: byte pair encoding or a unigram model, by SentencePiece."""

from __future__ import annotations

import collections
import io
import itertools
import pathlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from t2t_phrase.config import UserError
from t2t_phrase.text.subwords.encoder import BLANK, WHITESPACE_ONLY
from t2t_phrase.text.whitespace import WHITESPACE

# Special pieces and one piece for each byte.
RESERVED = 3 + 256


def train_subwords(
    sentences: Iterable[str],
    *,
    vocab_size: int,
    character_coverage: float = 1.0,
    model_type: Literal["bpe", "unigram"] = "bpe",
    user_defined_symbols: Sequence[str] = (),
) -> bytes:
    """Learn a vocabulary and return the serialized model for `SubwordEncoder`.

    With BPE, the order of the sentences does not matter. Nothing but blanks is normalised (see
    `normalize_whitespace`): case, accents and Unicode composition are kept.

    Args:
        sentences: read once; those longer than 65,536 bytes are left out.
        vocab_size: number of pieces, including 259 special and byte pieces. A corpus with fewer
            yields fewer.
        character_coverage: share of the text whose characters get their own pieces; rarer
            characters become bytes. Use 1 for alphabets and 0.9995 for Chinese.
        model_type: byte pair encoding, or a unigram language model (Kudo, 2018).
        user_defined_symbols: words that are always one piece, such as tags; they follow the special
            pieces and count towards `vocab_size`.

    Raises:
        UserError: there is no text, or `vocab_size` is too small for the characters.
    """
    model = io.BytesIO()
    # SentencePiece makes a RuntimeError of whatever ends the sentences, such as Ctrl-C.
    stopped: list[BaseException] = []

    def watched() -> Iterator[str]:
        try:
            yield from sentences
        except BaseException as error:
            stopped.append(error)
            raise

    with tempfile.TemporaryDirectory() as folder:
        rules = pathlib.Path(folder, "rules.tsv")
        rules.write_text("".join(f"{code:X}\t20\n" for code in WHITESPACE if code != 0x20))
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=watched(),
                model_writer=model,
                model_type=model_type,
                vocab_size=vocab_size,
                character_coverage=character_coverage,
                byte_fallback=True,
                user_defined_symbols=[BLANK + symbol for symbol in user_defined_symbols],
                pad_id=0,
                eos_id=1,
                unk_id=2,
                bos_id=-1,
                pad_piece="<pad>",
                eos_piece="<EOS>",
                normalization_rule_tsv=str(rules),
                hard_vocab_limit=False,
                max_sentence_length=65_536,
                num_threads=1,
                minloglevel=2,
            )
        except RuntimeError as error:
            if stopped:
                raise stopped[0] from None
            raise _explain(error, vocab_size, RESERVED + len(user_defined_symbols)) from error
    return _without_paths(model.getvalue())


def least_pieces(
    sentences: Iterable[str],
    *,
    character_coverage: float,
    user_defined_symbols: Sequence[str],
) -> int:
    """Return approximately the smallest `vocab_size` that `train_subwords` accepts for a text.

    Args:
        sentences: the text, with single blanks between words.
        character_coverage: as for `train_subwords`.
        user_defined_symbols: as for `train_subwords`.
    """
    counts: collections.Counter[str] = collections.Counter()
    for sentence in sentences:
        counts.update(sentence)
    uncovered = (1 - character_coverage) * counts.total()
    rarest = itertools.accumulate(sorted(counts.values()))
    left_out = sum(1 for _ in itertools.takewhile(lambda count: count <= uncovered, rarest))
    return RESERVED + len(user_defined_symbols) + len(counts) - left_out + 1


def _explain(error: RuntimeError, vocab_size: int, reserved: int) -> UserError:
    if "sentences_.empty()" in str(error):
        return UserError("the training text is empty: there are no subwords for a vocabulary")
    needed = re.search(r"required_chars\. (\d+) vs (\d+)", str(error))
    if needed or vocab_size <= reserved:
        least = needed[2] if needed else reserved + 1
        return UserError(
            f"vocab_size={vocab_size} is too small: {reserved} special and byte pieces and the "
            f"characters of the text need at least {least}"
        )
    return UserError(f"SentencePiece could not learn a vocabulary: {error}")


def _without_paths(model: bytes) -> bytes:
    # The trainer stores the name of the temporary rule file, which differs in each run.
    proto: Any = getattr(sentencepiece_model_pb2, "ModelProto")()  # noqa: B009 (made at run time)
    proto.ParseFromString(model)
    proto.normalizer_spec.name = WHITESPACE_ONLY
    proto.normalizer_spec.ClearField("normalization_rule_tsv")
    return bytes(proto.SerializeToString(deterministic=True))

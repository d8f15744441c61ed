"""Refusal of features in data with tensor2tensor's own subwords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from t2t_phrase.config import UserError

# The `vocab_type` in the options of data; such vocabularies are given, never learned.
T2T_TYPE = "t2t_subwords"


def refuse_side_files(options: Mapping[str, Any], streams: Sequence[str]) -> None:
    """Refuse a corpus whose side files would be read.

    Args:
        options: the options of the data, as in a manifest.
        streams: the streams of features that the corpus has.

    Raises:
        UserError: there are such streams, and the vocabulary is tensor2tensor's.
    """
    if streams and options["vocab_type"] == T2T_TYPE:
        raise UserError(
            f"the corpus has side files ({', '.join(streams)}), but tensor2tensor's own subwords "
            "cannot be aligned with the text, so features cannot be carried over to them; use a "
            "corpus without such files, or a vocabulary made by t2t-phrase-datagen"
        )

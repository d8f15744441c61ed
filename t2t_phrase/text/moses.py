"""Moses' tokenizer, as papers on Multi30k use it for training and BLEU."""

from __future__ import annotations

import re
from typing import Any

from t2t_phrase.config import UserError, shown

PREFIX = "moses-"
_NAME = re.compile(r"moses-[a-z]{2,3}")


def is_moses(tokenize: str) -> bool:
    """Return whether a tokenizer is Moses' tokenizer for a language, such as "moses-de"."""
    return tokenize.startswith(PREFIX)


class MosesTokenizer:
    """Normalises punctuation and tokenises with sacremoses; a tokenizer for sacreBLEU's BLEU.

    Args:
        tokenize: "moses-" and the two or three letters of the language.

    Raises:
        UserError: the package is missing, or the language is not two or three letters.
    """

    def __init__(self, tokenize: str) -> None:
        if not _NAME.fullmatch(tokenize):
            raise UserError(
                f"tokenize {shown(tokenize)}: expected moses-LANGUAGE, such as moses-de"
            )
        try:
            import sacremoses
        except ImportError as error:
            raise UserError(
                f"tokenize {tokenize!r} needs the package sacremoses: pip install "
                f"'t2t_phrase[moses]' ({error})"
            ) from error
        language = tokenize.removeprefix(PREFIX)
        self._normalizer: Any = sacremoses.MosesPunctNormalizer(language)
        self._tokenizer: Any = sacremoses.MosesTokenizer(language)
        self._name = f"{tokenize}-norm-sacremoses-{sacremoses.__version__}"

    def signature(self) -> str:
        """Return the name of the tokenizer for sacreBLEU's signature."""
        return self._name

    def __call__(self, line: str) -> str:
        """Return the tokens of a line with blanks between them."""
        line = self._normalizer.normalize(line)
        return str(self._tokenizer.tokenize(line, escape=False, return_str=True))

"""User-defined symbols: words that are always one entry of a vocabulary, such as tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from t2t_phrase.text.subwords.encoder import BLANK
from t2t_phrase.text.words.encoder import SPECIAL


def symbol_mistakes(symbols: Sequence[str]) -> Iterator[str]:
    """Yield a message for each symbol that cannot be an entry of a vocabulary."""
    for place, symbol in enumerate(symbols):
        named = f"user_defined_symbols: {symbol!r}"
        if not symbol or BLANK in symbol or symbol.split() != [symbol]:
            yield f"{named} is not a single word"
        elif symbol in SPECIAL or re.fullmatch(r"<0x[0-9A-F]{2}>", symbol):
            yield f"{named} has a meaning of its own in vocabularies"
        elif symbol in symbols[:place]:
            yield f"{named} is given twice"

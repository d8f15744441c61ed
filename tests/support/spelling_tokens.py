"""A vocabulary of few tokens that spell the same texts in many ways."""

from __future__ import annotations

from t2t_phrase.text.token_texts import TokenTexts

PIECES = ("", "", "", " ", "a", "b", " a", "ab", " ab", "b.", ".")


class FewTokens:
    """What `TokenTexts` needs of an encoder."""

    def token_bytes(self) -> list[bytes]:
        return [piece.encode() for piece in PIECES]


def few_tokens() -> TokenTexts:
    return TokenTexts(FewTokens())


def text_of(tokens: tuple[int, ...]) -> str:
    """Return the text of tokens, with single blanks and one at its beginning."""
    text = "".join(PIECES[token] for token in tokens)
    while "  " in text:
        text = text.replace("  ", " ")
    return text

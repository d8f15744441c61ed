r"""Equations of docstrings, plain text that is readable in a terminal, as LaTeX.

    x_t, W_q,h, h_{t-1}   indices
    K^T, x^2, D^-1/2      the transpose, and exponents
    h~, f^, g'            accents
    a b, a . b, a * b     products: of matrices or numbers, of vectors, of elements
    (a + b) / c           a fraction: the factors before it, back to a sum, by the one behind it
    1/2                   without spaces, a fraction of what is next to it
    a = b,  c = d         two spaces separate equations
    encoder:  a = b       a label before an equation, with two spaces
    tanh(x), alpha        words are upright, except for Greek letters

A line that is indented further continues the one above; if it begins with an equals sign, it stands
below its equals sign.
"""

from __future__ import annotations

import re
import textwrap

GREEK = frozenset({"alpha", "beta", "epsilon", "lambda", "omega", "sigma"})
FUNCTIONS = frozenset({"cos", "exp", "log", "sin", "sum", "tanh"})
# A longer sign comes before its beginning.
SIGNS = {
    "||": r"\parallel",
    "|": r"\mid",
    "<=": r"\le",
    "<": r"\lt",
    ">=": r"\ge",
    ">": r"\gt",
    "...": r"\ldots",
    "for ": r"\text{ for }",
    **{sign: sign for sign in "=+-;"},
}
SIGN = re.compile(" *({})".format("|".join(map(re.escape, SIGNS))))
COMMA = re.compile(" *,( *)")
TIMES = re.compile(r" +([.*]) +")
TIMES_SIGNS = {".": r"\cdot", "*": r"\odot"}
DIVIDED = re.compile(" +/ +")
CLOSELY_DIVIDED = re.compile("/")
SPACES = re.compile(" *")
NAME = re.compile("[A-Za-z]{2,}(?:_[A-Za-z]{3,})+")  # Of an argument.
WORD = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?")
ACCENT = re.compile(r"['~]|\^(?![\w{-])")
ACCENTS = {"~": r"\tilde", "^": r"\hat"}
INDEX = re.compile(r"_(<?\w+(?:,\w+(?:[+-]\w+)?)*|(?=\{))")
EXPONENT = re.compile(r"\^(-?(?:\d+(?:/\d+)?|[A-Za-z]+)|(?=\{))")
OPENING = re.compile(r"[(\[]")
BRACE = re.compile(r"\{")
# Printed closely, these would look like letters of their neighbours.
WORDS = re.compile(r"\\(?:mathrm|text)\{[^{}]*\}(?:_\{\w*\})?")
APART = re.compile(r"\\(?:mathrm|text|cos|exp|log|sin|tanh)\b|\[|\\left\[")
CLOSING = {"(": ")", "[": "]", "{": "}"}
LABEL = re.compile(r"([a-z][a-z, -]*:)  +(.*)")


def inline(equation: str) -> str:
    """Return an equation within a sentence as LaTeX.

    Raises:
        ValueError: it is not in the notation.
    """
    return _Reader(equation, stacked=False).equation()


def display(equations: str) -> str:
    """Return equations on lines of their own as LaTeX, aligned at their first equals signs.

    Raises:
        ValueError: they are not in the notation.
    """
    rows: list[str] = []
    for line in textwrap.dedent(equations).strip("\n").splitlines():
        if line.startswith(" ") and not line.lstrip().startswith("="):
            rows[-1] += f" {line.strip()}"
        else:
            rows.append(line.strip())
    made = [_row(row) for row in rows]
    if len(made) == 1:
        return made[0]
    aligned = r" \\ ".join(row.replace("=", "&=", 1) for row in made)
    return rf"\begin{{aligned}} {aligned} \end{{aligned}}"


def _row(row: str) -> str:
    label = LABEL.fullmatch(row)
    made = _Reader(label[2] if label else row, stacked=True).equation()
    return rf"\text{{{label[1]}}} \quad {made}" if label else made


class _Reader:
    """Reads an equation from the left to the right.

    Args:
        text: the equation.
        stacked: whether what is divided stands above its divisor.
    """

    def __init__(self, text: str, *, stacked: bool) -> None:
        self.text = text
        self.stacked = stacked
        self.place = 0

    def equation(self) -> str:
        """Return the whole text as LaTeX."""
        made = self.sequence()
        if self.place < len(self.text):
            raise self.error()
        return made

    def error(self) -> ValueError:
        """Return the error of what stands here."""
        return ValueError(f"{self.text[self.place :]!r} is unknown in the equation {self.text}")

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what matches here, and go on behind it."""
        found = pattern.match(self.text, self.place)
        self.place = found.end() if found else self.place
        return found

    def sequence(self) -> str:
        """Return what comes before the next closing bracket or the end."""
        made: list[str] = []
        product: list[str] = []  # What a fraction would divide.
        while True:
            if found := self.take(COMMA):
                made += [*product, r", \qquad" if len(found[1]) > 1 else ","]
                product = []
            elif found := self.take(TIMES):
                product.append(TIMES_SIGNS[found[1]])
            elif self.take(DIVIDED):
                product = [self.divided(product, " / ")]
            elif found := self.take(SIGN):
                made += [*product, SIGNS[found[1]]]
                product = []
            elif factor := self.factor():
                product.append(self.apart(product, factor))
                if factor.startswith(r"\sum"):
                    made += product
                    product = []
            else:
                return " ".join(made + product)

    def apart(self, product: list[str], factor: str) -> str:
        """Return a factor with the space that it needs behind those of a product."""
        before = product[-1] if product else ""
        words = WORDS.fullmatch(before)
        if words and WORDS.fullmatch(factor) and "_" not in before + factor:
            raise ValueError(f"words without a sign between them in the equation {self.text}")
        spaced = before not in ("", *TIMES_SIGNS.values()) and APART.match(factor)
        return rf"\, {factor}" if words or spaced else factor

    def factor(self) -> str:
        """Return one factor, with indices and arguments; "" if none comes."""
        self.take(SPACES)
        parts = []
        while part := self.bracket(OPENING) or self.word():
            parts.append(part + self.scripts())
        if parts and self.take(CLOSELY_DIVIDED):
            return self.divided([" ".join(parts)], "/")
        return " ".join(parts)

    def divided(self, product: list[str], sign: str) -> str:
        """Return a product divided by the factor that comes next."""
        divisor = self.factor()
        if not product or not divisor:
            raise self.error()
        if not self.stacked:
            return f"{' '.join(product)}{sign}{divisor}"
        above = _bare(product[0]) if len(product) == 1 else " ".join(product)
        return rf"\frac{{{above}}}{{{_bare(divisor)}}}"

    def bracket(self, opening: re.Pattern[str]) -> str:
        """Return what stands in brackets, with them; "" if none are opened."""
        if not (found := self.take(opening)):
            return ""
        inside = self.sequence()
        closing = CLOSING[found[0]]
        if not self.take(re.compile(rf" *{re.escape(closing)}")):
            raise self.error()
        high = self.stacked and re.search(r"\\(?:frac|sum)", inside) and closing != "}"
        return (
            rf"\left{found[0]} {inside} \right{closing}" if high else f"{found[0]}{inside}{closing}"
        )

    def word(self) -> str:
        """Return a number, letter or word with its accent; "" if none comes."""
        if found := self.take(NAME):
            return rf"\text{{{found[0]}}}"
        if not (found := self.take(WORD)):
            return ""
        if found[0] == "sqrt":
            return rf"\sqrt{{{_bare(self.bracket(OPENING))}}}"
        made = _letters(found[0])
        while accent := self.take(ACCENT):
            made = f"{made}'" if accent[0] == "'" else rf"{ACCENTS[accent[0]]} {made}"
        return made

    def scripts(self) -> str:
        """Return the indices and exponents of what was just read; "" if it has none."""
        made = ""
        while True:
            if found := self.take(INDEX):
                index = re.sub("[A-Za-z]{3,}", lambda word: _letters(word[0]), found[1])
                made += f"_{{{index}}}".replace("<", r"\lt ") if index else "_"
            elif found := self.take(EXPONENT):
                exponent = r"\top" if found[1] == "T" else found[1]
                made += f"^{{{_letters(exponent)}}}" if exponent else "^"
            else:
                return made
            if not found[1]:
                made += self.bracket(BRACE)


def _letters(word: str) -> str:
    """Return a word, which stands for itself, for a Greek letter or for a function."""
    if word in GREEK | FUNCTIONS:
        return rf"\{word}"
    return rf"\mathrm{{{word}}}" if re.fullmatch("[A-Za-z]{2,}", word) else word


def _bare(factor: str) -> str:
    """Return a factor without the round brackets around all of it, if it has them."""
    found = re.fullmatch(r"(?:\\left)?\( ?(.*?) ?(?:\\right)?\)", factor)
    depth = 0
    for sign in found[1] if found else ")":
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth < 0:
            return factor
    return found[1] if found else factor

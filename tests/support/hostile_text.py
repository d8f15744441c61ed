"""Sentences that break pages which trust their text."""

from __future__ import annotations

HOSTILE = {
    "markup": '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">',
    "closing": "</td></table></script><style>*{display:none}</style><!--",
    "quotes": "\"'`&amp; &lt; \\u003c {{ 7 * 7 }} {% raw %} {# #} ${7 * 7}",
    "math": r"$x_1$ and \alpha { } % # ~",
    "controls": "nul \x00 bell \x07 escape \x1b[31m delete \x7f next \x85 feed \x0c",
    "surrogate": "lone \ud800 and \udfff, no character \ufffe",
    "right to left": "שלום עולם \u202e abc \u202c مرحبا \u2067 x",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 é 日本語 𝔘",
    "lines": "line\u2028separator\u2029paragraph\u00a0blank",
    "long": " ".join(f"word{n}" for n in range(500)),
    "one word": "x" * 3000,
    "empty": "",
}

"""The fonts of figures with users' text."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib import font_manager

# The font that comes with matplotlib lacks Chinese, Japanese and Korean; the first of these that is
# installed fills the gap.
FAMILIES = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "Arial Unicode MS",
)


def installed_families() -> list[str]:
    """Return those of `FAMILIES` that are installed."""
    installed = set(font_manager.get_font_names())
    return [family for family in FAMILIES if family in installed]


def unknown_characters(texts: Iterable[str]) -> str:
    """Return the characters that no installed font of `FAMILIES` can draw."""
    known: set[int] = set()
    for family in installed_families():
        path = font_manager.findfont(family)
        known |= set(font_manager.get_font(path).get_charmap())
    return "".join(sorted({char for text in texts for char in text if ord(char) not in known}))


def font_notes(texts: Iterable[str]) -> list[str]:
    """Return a line about the characters that no font can draw; []: all can be drawn."""
    missing = unknown_characters(texts)
    if not missing:
        return []
    return [f"no installed font has {missing}, drawn as boxes; install one, such as Noto Sans CJK"]

"""Equations become MathML, which browsers typeset themselves: without scripts and without network.

Those of chapters are LaTeX; those of the API, from docstrings, are as in `plain_equations.py`.
Browsers need a font with mathematical metrics. Not all systems have one, so the site has its own.
"""

from __future__ import annotations

import functools
import html
import logging
import pathlib
import re
from typing import Any

import plain_equations
import ziamath
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

logger = logging.getLogger("mkdocs.hooks.typeset")

FONT = "fonts/STIXTwoMath-Regular.ttf"

# As the extension arithmatex marks them.
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)

# Where latex2mathml leaves spaces out, after a semicolon and between "log" and its argument, or has
# too much of it, below an accent.
SPACES = (
    (re.compile("<mi>;</mi>"), '<mo separator="true">;</mo>'),
    (re.compile("(<mi>(?:exp|log|tanh)</mi>)(?=<m[is])"), r'\1<mspace width="0.167em"/>'),
    (
        re.compile('<mover>(<mi>.</mi>)<mo stretchy="(?:true|false)">'),
        r'<mover accent="true">\1<mo stretchy="false">',
    ),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the font, which the package ziamath brings."""
    path = pathlib.Path(ziamath.__file__).parent / FONT
    files.append(File.generated(config, f"assets/{FONT}", abs_src_path=str(path)))
    return files


def on_page_content(content: str, page: Page, **kwargs: Any) -> str:
    """Return a page's HTML with its equations as MathML."""
    return typeset(content, plain=page.file.src_uri.startswith("api/"))


def typeset(content: str, *, plain: bool = False) -> str:
    """Return HTML with its equations as MathML.

    Args:
        content: HTML.
        plain: whether equations are those of docstrings, not LaTeX.
    """

    def made(display: str, found: re.Match[str]) -> str:
        equation = html.unescape(found[1])
        return mathml(as_latex(equation, display) if plain else equation, display)

    content = DISPLAY.sub(functools.partial(made, "block"), content)
    return INLINE.sub(functools.partial(made, "inline"), content)


def as_latex(equation: str, display: str) -> str:
    """Return an equation of a docstring as LaTeX; one that is not readable is a warning."""
    try:
        if display == "block":
            return plain_equations.display(equation)
        return plain_equations.inline(equation)
    except ValueError as error:
        logger.warning("%s", error)
        return r"\text{unknown}"


def mathml(equation: str, display: str) -> str:
    """Return an equation, in LaTeX, as MathML.

    A command that latex2mathml does not know is a warning: it fails a strict build.
    """
    latex = equation.replace("{aligned}", "{align*}")
    made = convert(latex, display=display)
    if unknown := re.search(r"\\[A-Za-z]+", made):
        logger.warning("%s is unknown in the equation %s", unknown[0], latex.strip())
    for pattern, spaced in SPACES:
        made = pattern.sub(spaced, made)
    return made

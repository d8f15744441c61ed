"""Equations become MathML, which browsers typeset themselves: without scripts and without network.

Browsers need a font with mathematical metrics. Not all systems have one, so the site has its own.
"""

from __future__ import annotations

import html
import logging
import pathlib
import re
from typing import Any

import ziamath
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

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


def on_page_content(content: str, **kwargs: Any) -> str:
    """Return a page's HTML with its equations as MathML."""
    content = DISPLAY.sub(lambda found: mathml(found[1], "block"), content)
    return INLINE.sub(lambda found: mathml(found[1], "inline"), content)


def mathml(equation: str, display: str) -> str:
    """Return an equation, in LaTeX and escaped for HTML, as MathML.

    A command that latex2mathml does not know is a warning: it fails a strict build.
    """
    latex = html.unescape(equation).replace("{aligned}", "{align*}")
    made = convert(latex, display=display)
    if unknown := re.search(r"\\[A-Za-z]+", made):
        logger.warning("%s is unknown in the equation %s", unknown[0], latex.strip())
    for pattern, spaced in SPACES:
        made = pattern.sub(spaced, made)
    return made

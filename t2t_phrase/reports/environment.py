"""The Jinja2 environment of all pages."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import jinja2
from markupsafe import Markup

from t2t_phrase.io.line_counts import counted
from t2t_phrase.reports.text import clipped, visible

TEMPLATES = pathlib.Path(__file__).with_name("templates")


@functools.cache
def environment() -> jinja2.Environment:
    """Return the environment: everything is escaped, and a name without a value is an error.

    Every value that a template prints goes through `visible`. Markup, such as the result of
    `tojson`, stays as it is. Filters besides those of Jinja2: `clipped`, see `reports.text`.
    """
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Texts in other scripts would take twice the space as escapes.
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    made.filters["clipped"] = clipped
    made.filters["counted"] = counted
    return made


def source_of(name: str) -> str:
    """Return the text of a file in `templates/`, such as a script."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

"""The page at `/`: a form that translates."""

from __future__ import annotations

import html
import importlib.resources


def form_page(name: str) -> str:
    """Return the page for a model.

    Args:
        name: the name of the model in addresses.
    """
    template = importlib.resources.files("t2t_phrase.serving").joinpath("form.html")
    return template.read_text(encoding="utf-8").replace("{{ name }}", html.escape(name))

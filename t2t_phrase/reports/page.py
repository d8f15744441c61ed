"""A page: one HTML file that loads nothing, states its size and stays below a bound."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

import t2t_phrase
from t2t_phrase.config import UserError
from t2t_phrase.io.files import write
from t2t_phrase.reports.environment import environment, source_of

# Bytes. Mail servers commonly refuse more than 10 MB, and attachments grow by a third.
BOUND = 5_000_000
# Escaping ensures that no text of a user can contain this string.
_SIZE = "<!--size of the page-->"
_THEME = "theme.js"


def render(
    template: str, *, scripts: Sequence[str] = (), submits: bool = False, **values: Any
) -> str:
    """Return the HTML of a page.

    Args:
        template: name of a file in `templates/`, which extends `base.html`.
        scripts: names of JavaScript files in that folder, run at the end of the page. A content
            security policy with their hashes blocks all others, and `onclick` and the like.
        submits: whether forms may be sent to the server that the page comes from.
        **values: for the template.

    Raises:
        jinja2.UndefinedError: a value of the template is missing.
    """
    sources = [source_of(name) for name in (_THEME, *scripts)]
    hashes = " ".join(f"'sha256-{_digest(source)}'" for source in sources)
    html = (
        environment()
        .get_template(template)
        .render(
            **values,
            scripts=[Markup(source) for source in sources],
            policy=f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
            f"base-uri 'none'; form-action '{'self' if submits else 'none'}'; "
            f"script-src {hashes}",
            size=Markup(_SIZE),
            bound=size_text(BOUND),
            version=t2t_phrase.__version__,
        )
    )
    size = len(html.encode("utf-8", "replace"))
    return html.replace(_SIZE, size_text(size), 1)


def fitted(make: Callable[[int], str], count: int, *, bound: int = BOUND) -> str:
    """Return a page with as many of `count` items as fit into `bound` bytes.

    Args:
        make: returns the page with the first n items; the page should state what is left out.
        count: number of items.
        bound: the largest size of the page.

    Raises:
        UserError: the page is too large without any item.
    """
    while True:
        html = make(count)
        size = len(html.encode("utf-8", "replace"))
        if size <= bound:
            return html
        if not count:
            raise UserError(
                f"the page would be {size_text(size)}, above the limit of {size_text(bound)}; "
                "show less on it"
            )
        # As many as fit if all have the mean size, and a little fewer.
        count = min(count - 1, int(count * bound / size * 0.95))


def write_page(path: str | os.PathLike[str], html: str) -> None:
    """Write a page completely or not at all.

    Raises:
        WriteError: the disk is full, or the file is not writable.
    """
    write(path, html.encode("utf-8", "replace"))


def size_text(size: int) -> str:
    """Return a number of bytes as "12 kB" or "3.4 MB", in powers of ten."""
    return f"{size / 1e6:.1f} MB" if size >= 999_500 else f"{max(1, round(size / 1e3))} kB"


def _digest(source: str) -> str:
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()

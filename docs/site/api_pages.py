"""A page of the API for each entry of the navigation below `api/`, and links to these pages."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

FOLDER = "api/"
SOURCE_LINK = re.compile(r"\]\(([\w./]+)\.py\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each `TITLE: api/MODULE.md` of the navigation, made from docstrings."""
    for uri, title in entries(config.nav).items():
        text = f"# {title}\n\n`{_module(uri)}`\n\n::: {_module(uri)}\n"
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **kwargs: Any) -> str:
    """Let links to source files lead to their pages of the API, which show the source."""
    pages = {_module(uri): uri for uri in entries(config.nav)}
    return SOURCE_LINK.sub(
        lambda found: f"]({documented_at(found[1], page.file.src_uri, pages) or found[0][2:-1]})",
        markdown,
    )


def documented_at(path: str, page: str, pages: dict[str, str]) -> str | None:
    """Return the link that leads from a page to the documentation of a source file.

    Args:
        path: of the file, relative to the page, without `.py`.
        page: the page that links to it.
        pages: the page of each module that has one.

    Returns:
        None if neither the module nor one that it lies in has a page.
    """
    folder = posixpath.dirname(page)
    module = posixpath.normpath(posixpath.join(folder, path)).replace("/", ".")
    parent = module
    while parent not in pages:
        parent, _, name = parent.rpartition(".")
        if not name:
            return None
    anchor = "" if parent == module else f"#{module}"
    return posixpath.relpath(pages[parent], folder or ".") + anchor


def entries(nav: Any, title: str = "") -> dict[str, str]:
    """Return the title of each page of the API in a navigation."""
    if isinstance(nav, str):
        return {nav: title} if nav.startswith(FOLDER) else {}
    parts = nav.items() if isinstance(nav, dict) else [("", item) for item in nav or ()]
    return {uri: name for key, part in parts for uri, name in entries(part, key).items()}


def _module(uri: str) -> str:
    return uri.removeprefix(FOLDER).removesuffix(".md")

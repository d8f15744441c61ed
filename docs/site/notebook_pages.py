"""Notebooks are pages, with the outputs that they were saved with, and files to download."""

from __future__ import annotations

import posixpath
import re
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

LINK = re.compile(r"(\]\([\w./]+)\.ipynb\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook."""
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        path, _ = posixpath.splitext(notebook.src_uri)
        text = page(notebook.content_string, posixpath.basename(notebook.src_uri))
        files.append(File.generated(config, f"{path}.md", content=text))
    return files


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Let links to notebooks lead to their pages."""
    return LINK.sub(r"\1.md)", markdown)


def page(notebook: str, name: str) -> str:
    """Return a notebook as Markdown, which ends with a link to the notebook.

    Args:
        notebook: the text of its file.
        name: of the file, in the folder of the page.
    """
    parts = []
    for cell in nbformat.reads(notebook, as_version=4).cells:
        if cell.cell_type == "code":
            parts += [f"```python\n{cell.source}\n```", *map(shown, cell.outputs)]
        else:
            parts.append(cell.source)
    parts.append(f'<a href="{name}" download>Download the notebook</a>')
    return "\n\n".join(parts) + "\n"


def shown(output: Any) -> str:
    """Return an output of a cell, a picture or text, as Markdown."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        return f'<img alt="Output" src="data:image/png;base64,{data["image/png"].strip()}">'
    return f"```text\n{data['text/plain'].rstrip()}\n```"

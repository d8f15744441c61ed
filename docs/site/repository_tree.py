"""The site has the folders of the repository, so that its links are those of a code host."""

from __future__ import annotations

import pathlib

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put the chapters below `docs/`, and add the pages at the top of the repository."""
    root = pathlib.Path(config.config_file_path).parent
    chapters = pathlib.Path(config.docs_dir)
    folder = chapters.relative_to(root).as_posix()
    moved = [
        _file(config, f"{folder}/{file.src_uri}", file, file.abs_src_path)
        if file.abs_src_path and chapters in pathlib.Path(file.abs_src_path).parents
        else file  # Of the theme.
        for file in files
    ]
    pages = [
        File.generated(config, path.name, abs_src_path=str(path))
        for path in sorted(root.glob("*.md"))
    ]
    return Files([*moved, *pages])


def _file(config: MkDocsConfig, uri: str, file: File, path: str) -> File:
    return File.generated(config, uri, abs_src_path=path, inclusion=file.inclusion)

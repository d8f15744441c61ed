"""Test sets in NIST's mteval SGML: a source set and a reference set by several translators."""

from __future__ import annotations

import html
import pathlib
import re
from collections.abc import Iterator

from t2t_phrase.config import UserError

_DOCUMENT = re.compile(r"<doc\b([^>]*)>(.*?)</doc>", re.DOTALL | re.IGNORECASE)
_SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE)

Documents = dict[str, list[str]]


def read_mteval(source: pathlib.Path, references: pathlib.Path) -> Iterator[tuple[str, ...]]:
    """Yield (source segment, reference 1, reference 2, ...) in the order of the source set.

    References are ordered by the `sysid` of their documents.

    Raises:
        UserError: a file cannot be read as UTF-8, has no segments or has a document twice, or a
            translator's documents do not match those of the source.
    """
    sources = _read(source)
    if len(sources) != 1:
        raise UserError(f"{source} has documents of {len(sources)} systems, not one source set")
    documents = next(iter(sources.values()))
    translations = sorted(_read(references).items())
    for translator, translated in translations:
        for name in {**documents, **translated}:
            given, found = (len(texts.get(name, [])) for texts in (documents, translated))
            if found != given:
                raise UserError(
                    f"document {name!r} has {given} segments in {source} but {found} in "
                    f"{references} by {translator!r}"
                )
    for name, segments in documents.items():
        for number, segment in enumerate(segments):
            yield (segment, *(translated[name][number] for _, translated in translations))


def _read(path: pathlib.Path) -> dict[str, Documents]:
    """Return segments by system and document; a source set's system is its file name."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise UserError(
            f"{path}:{line}: invalid UTF-8; older sets use other encodings: convert them first"
        ) from error
    systems: dict[str, Documents] = {}
    for attributes, body in _DOCUMENT.findall(text):
        system = _attribute(attributes, "sysid") or path.name
        name = _attribute(attributes, "docid")
        segments = [html.unescape(segment) for segment in _SEGMENT.findall(body)]
        documents = systems.setdefault(system, {})
        if name in documents:
            raise UserError(
                f"{path} has document {name!r} by {system!r} twice; give each document of a system "
                "its own docid"
            )
        documents[name] = segments
    if not any(segments for documents in systems.values() for segments in documents.values()):
        raise UserError(f"{path} has no <doc> with <seg> elements")
    return systems


def _attribute(attributes: str, name: str) -> str:
    value = r"""(?:"([^"]*)"|'([^']*)'|([^"'\s>]+))"""
    found = re.search(rf"\b{name}\s*=\s*{value}", attributes, re.IGNORECASE)
    return "".join(found.groups("")) if found else ""

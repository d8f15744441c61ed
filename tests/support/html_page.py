"""The content of a page, read without a browser."""

from __future__ import annotations

import dataclasses
import html.parser


@dataclasses.dataclass
class Page:
    """What stands in a page.

    Attributes:
        title: the title.
        tables: for each table its rows, for each row the texts of its cells.
        captions: of figures.
        texts: of `bdi` elements, which hold the texts of users.
        blocks: of preformatted text.
        names: of all elements.
        attributes: every attribute with a value, as (element, name, value).
    """

    title: str = ""
    tables: list[list[list[str]]] = dataclasses.field(default_factory=list)
    captions: list[str] = dataclasses.field(default_factory=list)
    texts: list[str] = dataclasses.field(default_factory=list)
    blocks: list[str] = dataclasses.field(default_factory=list)
    names: set[str] = dataclasses.field(default_factory=set)
    attributes: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)


class _Reader(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._lists: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        page = self.page
        page.names.add(tag)
        page.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "table":
            page.tables.append([])
        elif tag == "tr":
            page.tables[-1].append([])
        places = {"bdi": page.texts, "figcaption": page.captions, "pre": page.blocks}
        if tag in ("td", "th"):
            places[tag] = page.tables[-1][-1]
        if tag in places:
            places[tag].append("")
            self._lists.append((tag, places[tag]))
        elif tag == "title" and not page.title:
            self._lists.append((tag, []))

    def handle_endtag(self, tag: str) -> None:
        if self._lists and self._lists[-1][0] == tag:
            self._lists.pop()

    def handle_data(self, data: str) -> None:
        for tag, texts in self._lists:
            if tag == "title":
                self.page.title += data
            else:
                texts[-1] += data


def parse(source: str) -> Page:
    """Return the content of a page."""
    reader = _Reader()
    reader.feed(source)
    reader.close()
    return reader.page

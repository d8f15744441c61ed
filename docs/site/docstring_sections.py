"""The sections of this library's docstrings, as mkdocstrings shows them.

"Call arguments:", which Keras' layers have, are shown as other arguments are. "Returns:" holds
sentences, not names and types. Fields of dataclasses have comments. Names of classes are links.
Equations are marked, for `typeset.py`. Modules are in alphabetical order.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import griffe

RETURNS = re.compile(r"^Returns:\n((?:    .*(?:\n|\Z)|\n)+)", re.MULTILINE)

# Where symbols are not looked for; a block that is indented after an empty line is an equation,
# except in code, which is itself indented in a section such as "Example:".
LITERAL = r"^ *```[\s\S]*?^ *```|`[^`]+`|\$[^$\n]+\$"
BLOCK = r"(?<=\n\n)(?P<block>(?: {4}.*(?:\n|\Z))+)"
INDEX = r"[_^](?:\{[^{}\n]+\}|-?\w{1,3}(?!\w)(?:,\w+(?!\w))*)"
SYMBOL = rf"(?<![\w.])(?P<symbol>(?:[A-Za-z]|Conv)~?(?:{INDEX})+|[a-z]~)(?!\w)"
EQUATION = re.compile(f"{LITERAL}|{BLOCK}|{SYMBOL}", re.MULTILINE)


class DocstringSections(griffe.Extension):
    """Parses the docstrings of a package."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Parse all docstrings; a missing one, or an argument that the code lacks, is a warning."""
        for module in modules(pkg):
            below = {name for name, member in module.members.items() if is_module(member)}
            order = sorted(module.members, key=lambda name: name if name in below else "")
            module.members = {name: module.members[name] for name in order}
        classes = paths_of_classes(pkg)
        for item in definitions(pkg):
            if item.is_attribute and not item.docstring and (text := comment(item)):
                item.docstring = griffe.Docstring(text, parent=item)
            if item.docstring:
                text = item.docstring.value
                # Those of commands are shown by --help; what is indented there is a command.
                marked = text if ".bin." in item.path else with_equations(text)
                item.docstring.value = linked(marked, classes)
                item.docstring.__dict__["parsed"] = sections(item, item.docstring)
            elif not item.is_attribute and "._" not in item.path:
                griffe.logger.warning(f"{item.path}: no docstring")


def paths_of_classes(package: Any) -> dict[str, str]:
    """Return the path of each public class whose name no other class has."""
    found: dict[str, list[str]] = {}
    for item in definitions(package):
        if item.is_class and "._" not in item.path:
            found.setdefault(item.name, []).append(item.path)
    return {name: paths[0] for name, paths in found.items() if len(paths) == 1}


def with_equations(text: str) -> str:
    """Return a docstring with dollar signs around equations and around symbols with an index."""

    def mark(found: re.Match[str]) -> str:
        if found["block"]:
            return f"$$\n{textwrap.dedent(found['block']).rstrip()}\n$$\n"
        return f"${found['symbol']}$" if found["symbol"] else found[0]

    return EQUATION.sub(mark, text)


def linked(text: str, classes: dict[str, str]) -> str:
    """Return a docstring in which the names of classes are links, if they are on a page."""

    def link(found: re.Match[str]) -> str:
        if found[1] not in classes:
            return found[0]
        return f'<autoref identifier="{classes[found[1]]}" optional>{found[0]}</autoref>'

    return re.sub(r"`(\w+)`", link, text)


def comment(attribute: griffe.Attribute) -> str:
    """Return the comment behind a field of a dataclass, as a sentence; "" if it has none."""
    lines = attribute.lines if "dataclass" in getattr(attribute.parent, "labels", ()) else []
    found = re.search(r"  # (.+)$", lines[-1]) if lines else None
    return f"{found[1][0].upper()}{found[1][1:].rstrip('.')}." if found else ""


def is_module(member: griffe.Object | griffe.Alias) -> bool:
    """Whether a member of a package is a module below it, not one that it imports."""
    return not member.is_alias and member.is_module


def modules(package: Any) -> Iterator[Any]:
    """Yield a package and all modules below it."""
    yield package
    for member in package.members.values():
        if is_module(member):
            yield from modules(member)


def definitions(item: Any) -> Iterator[Any]:
    """Yield a module or class and everything that is defined in it."""
    yield item
    if item.is_module or item.is_class:
        for member in item.members.values():
            if not member.is_alias:
                yield from definitions(member)


def sections(item: griffe.Object, docstring: griffe.Docstring) -> list[griffe.DocstringSection]:
    """Return the sections of a docstring."""
    options = dict(docstring.parser_options)
    parameters = getattr(item, "parameters", ())
    if any(p.kind is griffe.ParameterKind.var_keyword for p in parameters):
        options["warn_unknown_params"] = False  # Taken from **kwargs.
    called = item.all_members.get("call") if item.is_class else item
    found = docstring.parse(docstring.parser, **options)
    return [_section(section, docstring, called) for section in found]


def _section(
    section: griffe.DocstringSection, docstring: griffe.Docstring, called: Any
) -> griffe.DocstringSection:
    if isinstance(section, griffe.DocstringSectionReturns):
        text = RETURNS.search(docstring.value)
        assert text
        value = griffe.DocstringReturn(
            name="",
            annotation=getattr(called, "returns", None),
            description=inspect.cleandoc(text[1]),
        )
        return griffe.DocstringSectionReturns([value])
    if isinstance(section, griffe.DocstringSectionAdmonition) and section.title == "Call arguments":
        return griffe.DocstringSectionParameters(
            list(_call_arguments(section.value.contents, called)), title="Call arguments:"
        )
    return section


def _call_arguments(text: str, called: Any) -> Iterator[griffe.DocstringParameter]:
    for entry in re.split(r"\n(?!\s)", text):
        name, _, description = entry.partition(":")
        known = called is not None and name in called.parameters
        if called is not None and not known:
            griffe.logger.warning(f"{called.path}: no argument {name!r}")
        parameter = called.parameters[name] if known else None
        yield griffe.DocstringParameter(
            name,
            description=inspect.cleandoc(description),
            annotation=parameter and parameter.annotation,
            value=parameter and parameter.default,
        )

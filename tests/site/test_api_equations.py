"""Every equation in a docstring that the pages of the API show is typeset."""

import html
import pathlib
import re

import pytest

griffe = pytest.importorskip("griffe")
markdown = pytest.importorskip("markdown")
yaml = pytest.importorskip("yaml")
api_pages = pytest.importorskip("api_pages")
docstring_sections = pytest.importorskip("docstring_sections")
typeset = pytest.importorskip("typeset")

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
MODULES = [uri[4:-3] for uri in api_pages.entries(SETTINGS["nav"])]
EXTENSIONS = {
    name: settings
    for entry in SETTINGS["markdown_extensions"]
    for name, settings in (entry.items() if isinstance(entry, dict) else [(entry, {})])
}
# What is left of a docstring when code and typeset equations are taken out has none of these.
SIGN_OF_AN_EQUATION = re.compile(
    r"""arithmatex | \$
    | \w[\^~] | [~^][_ ]             # exponents and accents
    | \b(?:[A-Za-z]|Conv)_[\w{]{1,3}\b  # indices
    | \b[A-Za-z]'?\ [=<>]\ [^=]      # equations
    | \b(?:cos|exp|log|max|min|sin|softmax|sqrt|sum|tanh)\( | \bsum_""",
    re.VERBOSE,
)


def documented():
    """Yield the path and the parsed docstring of what the pages show."""
    packages = {
        name: griffe.load(
            name,
            search_paths=[ROOT],
            extensions=griffe.load_extensions("dataclasses", docstring_sections.DocstringSections),
            docstring_parser="google",
            docstring_options={"warn_missing_types": False, "returns_named_value": False},
        )
        for name in ("t2t_phrase", "problems", "hparams")
    }
    for module in MODULES:
        package, _, name = module.partition(".")
        shown = packages[package][name] if name else packages[package]
        for item in docstring_sections.definitions(shown):
            if item.docstring and "._" not in item.path:
                yield item.path, item.docstring.parsed


def texts(sections):
    for section in sections:
        if isinstance(section.value, str):
            yield section.value
        elif isinstance(section.value, list):
            yield from (entry.description for entry in section.value)
        else:
            yield section.value.contents


def rendered(text):
    page = markdown.markdown(text, extensions=list(EXTENSIONS), extension_configs=EXTENSIONS)
    return typeset.typeset(page, plain=True)


def left_over(page):
    """Return the sign of an equation that is not typeset, or None."""
    text = re.sub(r"<math .*?</math>|<code.*?</code>", "code", page, flags=re.DOTALL)
    return SIGN_OF_AN_EQUATION.search(html.unescape(re.sub(r"</?\w[^>]*>", "", text)))


@pytest.mark.slow
def test_equations_of_the_api_are_typeset(caplog):
    display = inline = 0
    found = []
    for path, sections in documented():
        for text in texts(sections):
            page = rendered(text)
            display += page.count('display="block"')
            inline += page.count('display="inline"')
            if sign := left_over(page):
                found.append((path, sign[0], sign.string.strip()))
    assert not found
    assert not caplog.records
    assert display > 40 and inline > 200


@pytest.mark.parametrize(
    "text",
    ["see W_k", "with p = 1.", "x^2", "h~ is", "max(0, x)", "$$\nx\n$$ y", "Conv_n pads", "a^K_n"],
)
def test_an_equation_that_is_not_typeset_is_found(text):
    assert left_over(f"<p>{text}</p>")
    assert not left_over("<p>True = may attend</p> <code>W_k</code> <math x>x^2</math> data_dir")

"""What all pages share: escaping, size, figures, and their look and keys in a browser."""

import html.parser
import pathlib
import re
import xml.etree.ElementTree as ElementTree

import jinja2
import matplotlib
import pytest
from browser import PHONE
from hostile_text import HOSTILE

from t2t_phrase.config import UserError
from t2t_phrase.reports import page
from t2t_phrase.reports.environment import environment
from t2t_phrase.reports.figure import FAINT, INK, SERIES, VARIABLES, inline_svg, new_figure, style
from t2t_phrase.reports.page import BOUND, fitted, render, size_text, write_page
from t2t_phrase.reports.text import visible

HERE = pathlib.Path(__file__).parent


def sample_figure(label="y <b>"):
    with matplotlib.rc_context(style()):
        figure = new_figure()
        ax = figure.add_subplot()
        for series in SERIES:
            ax.plot([0, 1], [0, 1], color=series.color, marker=series.marker)
        ax.set_ylabel(label)
    return figure


@pytest.fixture
def sample(monkeypatch):
    own = jinja2.FileSystemLoader(HERE)
    loader = jinja2.ChoiceLoader([environment().loader, own])
    monkeypatch.setattr(environment(), "loader", loader)

    def make(texts=(), scripts=()):
        figure = inline_svg(sample_figure(), "sample", label="a figure")
        return render("sample.html", scripts=scripts, texts=list(texts), figure=figure)

    return make


class Texts(html.parser.HTMLParser):
    """The texts of list items, and the names of all elements."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.items, self.names, self._open = [], set(), False
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self._open = tag == "li" or (self._open and tag != "ul")
        if tag == "li":
            self.items.append("")

    def handle_endtag(self, tag):
        self._open = self._open and tag != "li"

    def handle_data(self, data):
        if self._open:
            self.items[-1] += data


def test_hostile_texts_stay_texts(sample):
    found = Texts(sample(HOSTILE.values()))
    assert found.items == [visible(text) for text in HOSTILE.values()]
    assert "img" not in found.names


def test_a_missing_value_is_an_error():
    with pytest.raises(jinja2.UndefinedError):
        environment().from_string("{{ nothing }}").render()


def test_the_page_states_its_size_and_bound(sample):
    made = sample(["x" * 200_000])
    stated = re.search(r"This page is ([\d.]+ [kM]B) \(at most 5.0 MB\)", made)
    assert stated and stated[1] == size_text(len(made.encode()))


def test_sizes_are_rounded():
    assert [size_text(n) for n in (0, 1499, 999_499, 999_500, 3_449_000)] == [
        "1 kB", "1 kB", "999 kB", "1.0 MB", "3.4 MB",
    ]  # fmt: skip


def test_items_are_left_out_until_the_page_fits():
    asked = []

    def make(count):
        asked.append(count)
        return "x" * (50 + 10 * count)

    assert fitted(make, 10, bound=150) == "x" * 150 and asked == [10]
    assert len(fitted(make, 1000, bound=150)) <= 150 and len(asked) < 20
    with pytest.raises(UserError, match="the page would be 1 kB, above the limit of 1 kB"):
        fitted(make, 10, bound=40)
    assert BOUND == page.BOUND


def test_a_page_is_a_file_in_utf8(tmp_path):
    write_page(tmp_path / "page.html", "é \ud800")
    assert (tmp_path / "page.html").read_bytes() == "é ?".encode()


def test_figures_are_text_with_the_colours_of_the_page():
    made = inline_svg(sample_figure(), "loss", label='"loss" <of> a run')
    root = ElementTree.fromstring(str(made))
    assert root.get("aria-label") == '"loss" <of> a run' and root.get("role") == "img"
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "y <b>" in texts and "0.4" in texts
    for colour, variable in VARIABLES.items():
        assert colour not in made and variable in made
    assert {INK, FAINT} < VARIABLES.keys()
    assert made == inline_svg(sample_figure(), "loss", label='"loss" <of> a run')


def test_figures_of_one_page_have_ids_of_their_own():
    ids = {}
    for name in ("a", "b"):
        made = str(inline_svg(sample_figure(), name, label=""))
        ids[name] = set(re.findall(r' id="([^"]+)"', made))
        used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', made))
        assert used and used == ids[name]
    assert not ids["a"] & ids["b"]


def test_the_page_in_a_browser(sample, browser, tmp_path):
    path = tmp_path / "sample.html"
    write_page(path, sample(HOSTILE.values()))
    browser.open(path)
    shown = browser.run("return [...document.querySelectorAll('li')].map(e => e.textContent)")
    assert shown == [visible(text) for text in HOSTILE.values()]
    assert browser.run("return window.hacked") is None
    # JSON in the page holds the texts themselves, but for what no file can.
    data = browser.run("return JSON.parse(document.getElementById('data').textContent)")
    assert data == [text.encode("utf-8", "replace").decode() for text in HOSTILE.values()]
    assert browser.overflow() == 0
    browser.open(path, PHONE)
    assert browser.overflow() == 0
    assert browser.is_quiet()


def test_other_scripts_do_not_run(sample, browser, tmp_path):
    path = tmp_path / "sample.html"
    made = sample().replace("<h2", "<script>window.hacked = 1</script><h2", 1)
    write_page(path, made.replace("<h2", '<h2 onclick="window.hacked = 1"', 1))
    browser.open(path)
    browser.run("document.querySelector('h2').click()")
    assert browser.run("return window.hacked") is None
    assert any("Content Security Policy" in message for message in browser.messages())


COLOURS = """
const style = getComputedStyle(document.body);
const line = document.querySelector("svg path[style*=series-1]");
return [style.backgroundColor, style.color, getComputedStyle(line).stroke];
"""


def test_dark_mode_by_system_and_by_key(sample, browser, tmp_path):
    path = tmp_path / "sample.html"
    write_page(path, sample(["text"]))
    browser.open(path)
    light = browser.run(COLOURS)
    browser.prefer("dark")
    dark = browser.run(COLOURS)
    assert all(a != b for a, b in zip(light, dark, strict=True))
    browser.prefer("light")
    # The first stop of the tabulator is the link to the content, the next one the switch.
    browser.press("\ue004", "\ue004")
    assert browser.run("return document.activeElement.id") == "theme"
    assert browser.run("return document.activeElement.textContent") == "Dark mode"
    browser.press("\ue007")
    assert browser.run(COLOURS) == dark
    assert browser.run("return document.activeElement.textContent") == "Light mode"
    browser.press(" ")
    assert browser.run(COLOURS) == light
    assert browser.is_quiet()


def test_paper_is_light_and_has_no_buttons(sample, browser, tmp_path):
    path = tmp_path / "sample.html"
    write_page(path, sample(["text"]))
    browser.open(path)
    light = browser.run(COLOURS)
    browser.run("document.getElementById('theme').click()")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.run(COLOURS) == light
    hidden = "return getComputedStyle(document.getElementById('theme')).display"
    assert browser.run(hidden) == "none"
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


VALUE = """
const element = document.createElement("i");
element.style.color = `var(${arguments[0]})`;
document.body.append(element);
const color = getComputedStyle(element).color;
element.remove();
return color;
"""


def contrast(browser, first, second):
    """Return WCAG's contrast ratio of two variables of the page."""
    found = []
    for name in (first, second):
        rgb = [int(n) / 255 for n in re.findall(r"\d+", browser.run(VALUE, name))[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        found.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(found) + 0.05) / (min(found) + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_lines_stand_out(sample, browser, tmp_path, scheme):
    path = tmp_path / "sample.html"
    write_page(path, sample())
    browser.open(path)
    browser.prefer(scheme)
    for ground in ("--paper", "--panel", "--added", "--removed"):
        assert contrast(browser, "--ink", ground) >= 4.5
    for text in ("--faint", "--link"):
        assert contrast(browser, text, "--paper") >= 4.5
        assert contrast(browser, text, "--panel") >= 4.5
    for variable in VARIABLES.values():
        assert contrast(browser, variable[4:-1], "--paper") >= 3

"""The page of a comparison: contents, and sorting, filtering and marking in a browser."""

import csv
import json
import re

import pytest
from browser import PHONE
from hostile_text import HOSTILE
from html_page import parse

from t2t_phrase.evaluation.sentence_scores import sentence_chrf
from t2t_phrase.reports.comparison.figures import Plot, svg_of
from t2t_phrase.reports.comparison.files import earlier_files, write_files
from t2t_phrase.reports.comparison.inputs import ComparisonInputs
from t2t_phrase.reports.comparison.page import comparison_page
from t2t_phrase.reports.comparison.sentences import sentence_rows
from t2t_phrase.reports.comparison.tables import measure
from t2t_phrase.reports.page import write_page
from t2t_phrase.reports.text import visible

TEXTS = list(HOSTILE.values())
NAMES = ["base", "<script>window.hacked = 1</script>", r"$x_1$ & \b^~"]
REFERENCES = [*TEXTS, *(f"th\ufeffe house number {n} is red and old" for n in range(30))]
SYSTEMS = {
    NAMES[0]: [line.replace("red", "blue") for line in REFERENCES],
    NAMES[1]: [line.replace("house", f"dog {n % 7} ") for n, line in enumerate(REFERENCES)],
    NAMES[2]: REFERENCES[::-1],
}


@pytest.fixture(scope="module")
def given():
    return ComparisonInputs(
        systems=SYSTEMS,
        references=[REFERENCES, REFERENCES[::-1]],
        sources=[f"Satz {line}" for line in REFERENCES],
        boundaries=(4, 9),
        orders=2,
        word_counts={"the": 5},
        resamples=20,
        exchanges=20,
    )


@pytest.fixture(scope="module")
def measured(given):
    return measure(given, log=lambda text: None)


@pytest.fixture(scope="module")
def html(given, measured):
    return comparison_page(given, measured)


def test_tables_are_those_that_were_measured(html, measured):
    tables = parse(html).tables[: len(measured.tables)]
    for shown, table in zip(tables, measured.tables, strict=True):
        assert shown == [list(map(visible, row)) for row in (table.header, *table.rows)]
    assert html.count("<svg") == 3 and "bs:20|" in html and "ar:20|" in html


def data_in(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


@pytest.mark.parametrize("name", ["_old", "a\0b", "a\udcffb"])
def test_figures_name_every_system(name):
    plot = Plot("lengths", "BLEU", ["1", "2"], "words", f"difference from {name}", {name: [1, 2]})
    assert f">{visible(name)}</text>" in svg_of(plot)


def test_sentences_are_those_of_the_files(html, given):
    data = data_in(html)
    assert data["systems"] == NAMES and len(data["sentences"]) == len(REFERENCES)
    for number, name in enumerate(NAMES):
        own = [sentence["systems"][number] for sentence in data["sentences"]]
        assert [entry["text"] for entry in own] == list(map(visible, SYSTEMS[name]))
        scores = sentence_chrf(SYSTEMS[name], given.references)
        assert [entry["chrf"] for entry in own] == [round(score, 1) for score in scores]
    last = data["sentences"][-1]
    assert last["words"] == 9 and last["source"] == f"Satz {REFERENCES[-1]}"
    # "red" at place 5 became "blue"; and of the second system, "house" at 1 became "dog 6".
    assert last["systems"][0]["from_reference"] == [[5, 6]]
    assert last["systems"][0]["from_baseline"] == []
    assert last["systems"][1]["from_baseline"] == [[1, 3], [6, 7]]


def test_no_sources_no_column_for_them():
    given = ComparisonInputs(systems={"a": ["x"], "b": ["y z"]}, references=[["x y"]])
    (row,) = sentence_rows(given)
    assert row["source"] is None and row["words"] == 2


def test_the_page_holds_as_many_sentences_as_fit(given, measured, html):
    made = comparison_page(given, measured, bound=110_000)
    count = len(data_in(made)["sentences"])
    assert len(made.encode()) <= 110_000 < len(html.encode()) and 0 < count < len(REFERENCES)
    assert f"Only the first {count} of {len(REFERENCES)} sentences are shown" in made
    assert data_in(made)["sentences"] == data_in(html)["sentences"][:count]
    assert "Only the first" not in html


def test_files_for_papers(measured, tmp_path):
    names = write_files(measured, tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert sorted(names) == sorted(path.name for path in folder.iterdir())
    assert earlier_files(folder, names) == [] and earlier_files(folder, names[1:]) == names[:1]
    for table in measured.tables:
        stored = json.loads((folder / f"{table.name}.json").read_text())
        rows = stored.get("systems") or stored["rows"]
        assert rows == [dict(zip(table.header, row, strict=True)) for row in table.rows]
        with open(folder / f"{table.name}.csv", newline="") as file:
            assert list(csv.reader(file))[: len(table.rows) + 1] == [table.header, *table.rows]
    assert (
        r"\$x\_1\$ \& \textbackslash{}b\textasciicircum{}\textasciitilde{}"
        in (folder / "scores.tex").read_text()
    )
    assert (folder / "lengths.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "ngrams.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def page(html, browser, tmp_path):
    write_page(tmp_path / "page.html", html)
    browser.open(tmp_path / "page.html")
    return browser


def column(browser, key):
    """Return the shown values of a column."""
    script = """
    const heads = [...document.querySelectorAll("#table thead th")];
    const at = heads.findIndex((head) => head.dataset.key === arguments[0]);
    return [...document.querySelectorAll("#table tbody tr:first-child")].map(
        (row) => row.cells[at].textContent);
    """
    return [float(text.replace("−", "-")) for text in browser.run(script, key)]


def click(browser, key):
    browser.run("document.querySelector(`th[data-key=${arguments[0]}] button`).click()", key)


def count(browser):
    return browser.run("return document.getElementById('count').textContent")


def enter(browser, element, value):
    script = "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
    browser.run(script + "e.dispatchEvent(new Event('input'))", element, value)


def test_sorting_by_click_and_by_key(page):
    assert column(page, "n") == list(range(1, 26))
    assert count(page) == f"Sentences 1 to 25 of {len(REFERENCES)}"
    for key in ("chrf0", "words", "difference2"):
        click(page, key)
        first = column(page, key)
        assert first == sorted(first)
        page.run("document.querySelector(`th[data-key=${arguments[0]}] button`).focus()", key)
        page.press("\ue007")
        assert column(page, key) == sorted(column(page, key), reverse=True)
        sort = "return document.querySelector('[aria-sort]').getAttribute('aria-sort')"
        assert page.run(sort) == "descending"
    page.run("document.getElementById('next').click()")
    assert len(column(page, "difference2")) == len(REFERENCES) - 25
    assert count(page) == f"Sentences 26 to {len(REFERENCES)} of {len(REFERENCES)}"
    assert page.is_quiet()


def test_filtering(page):
    enter(page, "find", "NUMBER 2")
    assert column(page, "n") == [
        n for n, (a, b) in enumerate(zip(REFERENCES, REFERENCES[::-1], strict=True), 1)
        if "number 2" in a or "number 2" in b
    ]  # fmt: skip
    found = page.run("return [...document.querySelectorAll('mark.found')].map(e => e.textContent)")
    # A text that is marked for two reasons is cut where one begins or ends.
    assert "number 2" in found and "number 2" in "".join(found)
    script = "return [...document.getElementById('within').options].map(o => o.textContent)"
    within = {title: number for number, title in enumerate(page.run(script))}
    assert set(within) == {"all texts", "the source", "the references", *NAMES}
    enter(page, "within", str(within["the source"]))
    assert column(page, "n") == [n for n, line in enumerate(REFERENCES, 1) if "number 2" in line]
    enter(page, "find", "no such text")
    assert count(page) == "No sentence matches." and column(page, "n") == []
    enter(page, "find", "")
    page.run("document.getElementById('differing').click()")
    different = [
        n for n, lines in enumerate(zip(*SYSTEMS.values(), strict=True), 1)
        if len(set(map(visible, lines))) > 1
    ]  # fmt: skip
    assert count(page).endswith(f"of {len(different)}") and column(page, "n") == different[:25]
    assert page.is_quiet()


MARKED = """
const body = [...document.querySelectorAll("#table tbody")].find(
    (b) => b.querySelector("th").textContent === String(arguments[0]));
return [...body.querySelectorAll("dd")].map(
    (d) => [...d.querySelectorAll("mark")].map((m) => m.textContent));
"""


def test_differences_are_marked(page):
    number = len(TEXTS) + 1  # "the house number 0 is red and old", with a byte order mark in it
    # Source, two references, three systems.
    assert page.run(MARKED, number)[:5] == [[], [], [], ["blue"], [f"dog {len(TEXTS) % 7}"]]
    enter(page, "mark", "from_baseline")
    assert page.run(MARKED, number)[3:5] == [[], [f"dog {len(TEXTS) % 7}", "red"]]
    enter(page, "mark", "")
    assert page.run(MARKED, number) == [[]] * 6
    assert page.is_quiet()


def test_hostile_texts_are_shown_on_any_screen(page, tmp_path):
    for size in (None, PHONE):
        page.open(tmp_path / "page.html", *[size] if size else [])
        assert page.overflow() == 0
        script = "return [...document.querySelectorAll('#table bdi.text')].map(e => e.textContent)"
        shown = page.run(script)
        for text in (*TEXTS, *(f"Satz {text}" for text in TEXTS)):
            assert visible(text) in shown
        assert page.run("return window.hacked") is None
        assert page.is_quiet()


def test_paper_names_the_columns(page):
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = "const e = document.querySelector(arguments[0]); return e.offsetHeight > 0"
    assert page.run(shown, "#table thead button") and not page.run(shown, "#controls")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.slow
def test_every_control_is_reached_by_the_keyboard(page):
    reached = []
    for _ in range(40):
        page.press("\ue004")
        reached.append(page.run("return document.activeElement.id || document.activeElement.title"))
    assert {"theme", "find", "within", "differing", "mark", "rows", "Sort by Number"} <= set(
        reached
    )

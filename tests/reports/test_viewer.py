"""The sentence viewer in a browser: its numbers, keys, choices, and hostile text."""

import json
import pathlib
import re

import numpy as np
import pytest
from browser import PHONE
from explained_models import SOURCE, TARGET, explainer, texts_of
from hostile_text import HOSTILE

from t2t_phrase.config import UserError
from t2t_phrase.insights.explanation_json import explanation_to_json, packed, thousandths
from t2t_phrase.reports.page import BOUND, write_page
from t2t_phrase.reports.viewer import (
    SCRIPTS,
    ModelCard,
    ViewedSentence,
    data_bound,
    viewer_page,
)

TEMPLATES = pathlib.Path(__file__).parents[2] / "t2t_phrase/reports/templates"
NAMES = ("mixed", "levels and tags", "local_p", "jumps")
CARDS = {name: ModelCard(f"{name} <model>", f"set of {name}, step 1") for name in NAMES}
SOURCES = (SOURCE, "the same again")


@pytest.fixture(scope="module")
def found():
    """The explanations of each model, sentence by sentence, which are all alike."""
    values = {name: explainer(name).explain(SOURCE, TARGET, texts=texts_of(name)) for name in NAMES}
    return {name: [explanation_to_json(own, bound=10**6)] * 2 for name, own in values.items()}


def page_of(found, *names, reference="ein <b>Haus</b>"):
    sentences = [
        ViewedSentence(source, [found[name][place] for name in names], reference)
        for place, source in enumerate(SOURCES)
    ]
    return viewer_page([CARDS[name] for name in names], sentences)


@pytest.fixture(scope="module")
def pages(found, tmp_path_factory):
    """Files of a page of two models, and of one of the other two."""
    folder = tmp_path_factory.mktemp("pages")
    for first, second in (NAMES[:2], NAMES[2:]):
        write_page(folder / f"{first}.html", page_of(found, first, second).html)
    return {name: folder / f"{name}.html" for name in NAMES[::2]}


def shown(browser, path, *size):
    browser.open(path, *size)
    wait(browser, "document.getElementById('viewer').dataset.shown === '0'")


def wait(browser, condition):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser.driver, 120, 0.05).until(lambda _: browser.run(f"return {condition}"))


def choose(browser, control, value):
    browser.run(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('change'))",
        control,
        value,
    )


def texts(browser, selector):
    return browser.run(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
    )


def cells(browser, panel):
    """Return the rows of the table of a model's large picture, opened on demand."""
    browser.run(
        "const d = document.querySelectorAll('.model')[arguments[0]].querySelectorAll('details');"
        "d[d.length - 1].open = true",
        panel,
    )
    wait(browser, f"document.querySelectorAll('.model')[{panel}].querySelector('.weights')")
    return browser.run(
        "const rows = document.querySelectorAll('.model')[arguments[0]]"
        ".querySelectorAll('.weights tr');"
        "return [...rows].map((row) => [...row.children].map((cell) => cell.textContent))",
        panel,
    )


@pytest.mark.slow
def test_weights_are_printed_to_the_librarys_digits(browser, pages):
    shown(browser, pages["mixed"])
    model = explainer("mixed").model
    encoder = explainer("mixed").vocabularies.source
    features = {
        name: np.array([[*encoder.encode(text), 1]], "int32")
        for name, text in (("inputs", SOURCE), ("targets", TARGET))
    }
    (weights,) = model.attention_weights(features)["encoder"]
    length = features["inputs"].shape[1]
    slots = [n * length + last for n in range(3) for last in range(n, length)]
    choose(browser, "map-0", "encoder")
    wait(browser, "document.querySelector('h4').textContent.startsWith('encoder')")
    for head in (2, None):
        name = "mean over heads" if head is None else f"head {head}"
        browser.run(
            "document.querySelector(`button[data-head='${arguments[0]}']`).click()",
            str(head).replace("None", "null"),
        )
        wait(browser, f"document.querySelector('h4').textContent.endsWith('{name}')")
        own = np.asarray(weights)[0]
        own = own.mean(axis=0) if head is None else own[head]
        _, *rows = cells(browser, 0)
        assert [row[1:] for row in rows] == [
            [f"{own[row, column]:.3f}" for column in slots] for row in slots
        ]
    assert browser.is_quiet()


def test_words_links_and_brackets_are_lit(browser, pages, found):
    shown(browser, pages["mixed"])
    explanation = found["levels and tags"][0]
    panel = "document.querySelectorAll('.model')[1]"
    tokens = [text for text, _ in explanation["source_tokens"]]
    assert (
        browser.run(
            f"return [...{panel}.querySelectorAll('.source .token')].map((e) => e.firstChild.data)"
        )
        == tokens
    )
    target = 2
    browser.run(f"{panel}.querySelectorAll('.target .token')[{target}].focus()")
    lit = browser.run(
        f"return [...{panel}.querySelectorAll('.source .token')]"
        ".flatMap((e, i) => e.classList.contains('lit') ? [i] : [])"
    )
    assert lit == [explanation["aligned"][target]]
    assert browser.run(f"return {panel}.querySelectorAll('.link.lit').length") == 1
    said = browser.run(f"return {panel}.querySelector('.says').textContent")
    probability = np.exp(explanation["log_probabilities"][target])
    assert f"probability {probability:.3f}, linked with {tokens[lit[0]]}" in said
    assert "cross-attention, layer 1, mean over heads, it attends to" in said
    # Up to the linked token of the source, and one to the left and right.
    browser.press("\ue013")
    assert browser.run(
        "return [document.activeElement.dataset.side, document.activeElement.dataset.index]"
    ) == ["source", str(lit[0])]
    assert browser.run(f"return {panel}.querySelectorAll('.bracket.lit').length") == 3
    label = browser.run("return document.activeElement.getAttribute('aria-label')")
    for name, segments in explanation["partitions"]:
        own = next(s for s in segments if s[0] <= lit[0] <= s[1])
        assert (f"{name} {own[2]}" in label) == bool(own[2])
    browser.press("\ue010")
    assert browser.run("return document.activeElement.dataset.index") == str(len(tokens) - 1)
    # On paper, links and segments are text.
    paper = browser.run(f"return {panel}.querySelector('.paper').textContent")
    for i, linked in enumerate(explanation["aligned"]):
        assert f"{explanation['target_tokens'][i][0]} - {tokens[linked]}" in paper
    assert all(f"{name}: [" in paper for name, _ in explanation["partitions"])
    brackets = texts(browser, ".model:nth-child(2) .bracket-label")
    assert len(brackets) == sum(len(segments) for _, segments in explanation["partitions"])
    assert browser.is_quiet()


def test_layers_heads_models_and_sentences_are_switched(browser, pages):
    shown(browser, pages["mixed"])
    titles = texts(browser, ".model h4")
    assert titles == ["cross-attention, layer 1, mean over heads"] * 2
    # The other model follows, as far as it has the same.
    browser.run("document.querySelector(\".model button[data-head='1']\").focus()")
    browser.press("\ue007")
    wait(browser, "document.querySelectorAll('h4')[1].textContent.endsWith('head 1')")
    browser.press("\ue014")
    wait(browser, "document.querySelectorAll('h4')[1].textContent.endsWith('head 2')")
    browser.run("document.getElementById('together').click()")
    choose(browser, "map-0", "decoder")
    wait(browser, "document.querySelector('h4').textContent.startsWith('decoder')")
    assert texts(browser, ".model h4")[1] == "cross-attention, layer 1, head 2"
    browser.run("document.getElementById('next').click()")
    wait(browser, "document.getElementById('viewer').dataset.shown === '1'")
    assert texts(browser, ".model h4") == [
        "decoder self-attention, layer 1, head 2", "cross-attention, layer 1, head 2",
    ]  # fmt: skip
    assert browser.run("return document.getElementById('next').disabled")
    choose(browser, "model", "1")
    wait(browser, "document.querySelectorAll('.model').length === 1")
    assert texts(browser, ".model h2") == ["levels and tags <model>"]
    assert browser.is_quiet()


def test_cells_are_read_with_keys_and_pointer(browser, pages):
    shown(browser, pages["local_p"])
    first = cells(browser, 0)
    browser.run("document.querySelector('.large').focus()")
    browser.press("\ue015", "\ue014")
    said = browser.run("return document.querySelectorAll('.says')[1].textContent")
    assert said.startswith(f"{first[1][0]} to {first[0][2]}: {first[1][2]} (window around ")
    assert not browser.run("return document.querySelector('.cursor').hidden")
    from selenium.webdriver.common.action_chains import ActionChains

    box = browser.run(
        "document.activeElement.blur(); const c = document.querySelector('.large canvas');"
        "c.scrollIntoView({block: 'center'}); const r = c.getBoundingClientRect();"
        "return [r.right - 10, r.bottom - 10]"
    )
    chain = ActionChains(browser.driver)
    chain.w3c_actions.pointer_action.move_to_location(*map(int, box))
    chain.perform()
    said = browser.run("return document.querySelectorAll('.says')[1].textContent")
    assert said.startswith(f"{first[-1][0]} to {first[0][-1]}: {first[-1][-1]}")
    # Its row and its column are lit among the tokens.
    assert len(texts(browser, ".model:first-child .token.lit")) == 2
    assert browser.is_quiet()


def test_choices_and_pruned_positions_are_said(browser, pages, found):
    shown(browser, pages["local_p"])
    choose(browser, "map-1", "positions")
    wait(browser, "document.querySelectorAll('h4')[1].textContent.startsWith('probability')")
    _, *rows = cells(browser, 1)
    explanation = found["jumps"][0]
    for row, position in zip(rows, explanation["aligned"], strict=True):
        assert [cell.endswith("chosen") for cell in row[1:]].index(True) == position
    assert any("pruned" in cell for row in rows for cell in row)
    tables = "document.querySelectorAll('.model')[1].querySelectorAll('details')[0]"
    browser.run(f"{tables}.open = true")
    wait(browser, f"{tables}.querySelector('table')")
    assert "probability of its jump" in browser.run(f"return {tables}.textContent")
    assert browser.is_quiet()


def test_colours_follow_the_mode(browser, pages):
    shown(browser, pages["mixed"])
    pixel = (
        "const c = document.querySelector('.large canvas');"
        "const copy = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});"
        "copy.drawImage(c, c.width / 2, c.height / 2, 1, 1, 0, 0, 1, 1);"
        "return [...copy.getImageData(0, 0, 1, 1).data]"
    )
    light = browser.run(pixel)
    browser.prefer("dark")
    wait(browser, "getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'")
    wait(browser, f"(() => {{ {pixel} }})().join() !== '{','.join(map(str, light))}'")
    dark = browser.run(pixel)
    # Paper is light, and the mode comes back.
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(pixel) == light
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(pixel) == dark
    browser.run("document.getElementById('theme').click()")
    wait(browser, f"(() => {{ {pixel} }})().join() !== '{','.join(map(str, dark))}'")
    assert browser.run(pixel) == light
    assert browser.is_quiet()


def test_a_phone_shows_everything_without_scrolling_sideways(browser, pages):
    for path in pages.values():
        shown(browser, path, PHONE)
        assert browser.overflow() == 0
        assert texts(browser, ".model h2")
    assert browser.is_quiet()


def hostile(found, text):
    """Return an explanation whose every text is hostile."""
    tokens = [[text, False], [text[:40], True], ["<EOS>", False]]
    value = json.loads(json.dumps(found["mixed"][0]))
    value.update(source=text, target=text, candidates=[[text, -1.5], ["", -2.0]])
    value["source_tokens"] = value["target_tokens"] = tokens
    value.update(log_probabilities=[-0.5] * 3, aligned=[0, 1, 7])
    value["partitions"] = [[text, [[0, 0, text], [1, 2, ""]]]]
    data = packed(thousandths([[0.25, 0.5, 0.25]] * 3))
    matrix = {"head": None, "rows": [0], "columns": [0]}
    value["groups"] = [
        {"kind": text, "labels": [t for t, _ in tokens], "spans": [0, 0, 1, 1, 2, 2]}
    ]
    value["maps"] = [
        {"name": text, "title": text, "rows": "target", "columns": "source",
         "layers": [{"matrices": [matrix], "data": data}]}
    ]  # fmt: skip
    return value


def test_hostile_texts_stay_texts(browser, found, tmp_path):
    card = ModelCard(HOSTILE["markup"], HOSTILE["closing"])
    sentences = [ViewedSentence(text, [hostile(found, text)], text) for text in HOSTILE.values()]
    made = viewer_page([card], sentences)
    assert made.sentences == len(HOSTILE) and "\x00" not in made.html
    write_page(tmp_path / "page.html", made.html)
    shown(browser, tmp_path / "page.html")
    for place in range(len(HOSTILE)):
        choose(browser, "sentence", str(place))
        wait(browser, f"document.getElementById('viewer').dataset.shown === '{place}'")
        browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
        wait(browser, "document.querySelector('.weights td')?.textContent === '0.250'")
        browser.run("document.querySelector('.target .token').focus()")
    assert not browser.run("return window.hacked || document.querySelector('img')")
    assert browser.overflow() == 0
    assert browser.is_quiet()


def test_a_page_as_large_as_that_of_a_base_model_opens_quickly(browser, found, tmp_path):
    """60 tokens a side, 6 layers, 8 heads, with quadrants, for two models."""
    rng = np.random.default_rng(0)
    tokens, units = 60, 119
    value = json.loads(json.dumps(found["mixed"][0]))
    value["source_tokens"] = value["target_tokens"] = [[f"w{i}", False] for i in range(tokens)]
    value.update(log_probabilities=[-0.1] * tokens, aligned=list(range(tokens)), partitions=[])
    value["groups"] = [
        {"kind": f"{n}-grams", "labels": [f"w{i}" for i in range(n - 1, tokens)],
         "spans": [s for i in range(n - 1, tokens) for s in (i - n + 1, i)]}
        for n in (1, 2)
    ]  # fmt: skip
    matrices = [{"head": head, "rows": [0, 1], "columns": [0, 1]} for head in (None, *range(8))]

    def layer():
        logits = rng.normal(size=(9, units, units)) * 3
        weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        return {"matrices": matrices, "data": packed(thousandths(weights))}

    value["maps"] = [
        {"name": "cross", "title": "cross-attention", "rows": "target", "columns": "source",
         "layers": [layer() for _ in range(6)]}
    ]  # fmt: skip
    made = viewer_page([CARDS["mixed"]] * 2, [ViewedSentence("w", [value] * 2)])
    write_page(tmp_path / "page.html", made.html)
    shown(browser, tmp_path / "page.html")
    assert len(texts(browser, ".overview button")) == 2 * 6 * 9
    few = browser.run(
        "const unit = {}; const found = viewer.reduced({rows: [unit, unit, unit], columns: [unit],"
        " values: [3, 9, 4], highest: 9}, 2); return [...found.values, found.rows.length]"
    )
    assert few == [9, 4, 2]
    assert browser.overflow() == 0 and browser.is_quiet()


def test_sentences_that_do_not_fit_are_left_out(found, monkeypatch):
    whole = page_of(found, "mixed")
    assert (whole.sentences, whole.left_out) == (2, 0)
    value = json.loads(json.dumps(found["mixed"][0]))
    value["maps"][0]["layers"][0]["data"] = "A" * (BOUND // 3)
    sentence = ViewedSentence("a", [value])
    made = viewer_page([CARDS["mixed"]], [sentence] * 4, left_out=3)
    assert (made.sentences, made.left_out) == (2, 5) and len(made.html) < BOUND
    assert "5 more sentences left out" in made.html
    value["maps"][0]["layers"][0]["data"] = "A" * BOUND
    with pytest.raises(UserError, match=r"first sentence alone .* limit of 5\.0 MB"):
        viewer_page([CARDS["mixed"]], [sentence])
    assert 2 * data_bound(2) < BOUND


def test_the_scripts_make_elements_of_no_text():
    for name in SCRIPTS:
        source = (TEMPLATES / name).read_text()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", source
        )

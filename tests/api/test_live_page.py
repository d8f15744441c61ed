"""A sentence is typed at `/`, translated and explained."""

import json
import re
import urllib.parse

import pytest
from browser import start_browser
from explained_models import SOURCE, explainer, texts_of
from running_server import ask, running

from t2t_phrase.api.live_page import live_page
from t2t_phrase.api.sentence_viewer import ExplainedModel
from t2t_phrase.config import UserError
from t2t_phrase.reports.viewer import ModelCard
from t2t_phrase.serving.explained import LONGEST


def explained_toy(name):
    return ExplainedModel(ModelCard("run", "set, step 1"), explainer(name))


@pytest.fixture(scope="module")
def page():
    return live_page(explained_toy("mixed"), "ende", longest=LONGEST)


@pytest.fixture(scope="module")
def browser():
    yield from start_browser()


def document(html):
    text = re.search(r'<script type="application/json" id="document">(.*?)</script>', html, re.S)[1]
    return json.loads(text)


@pytest.mark.slow
def test_the_page_has_the_translation_of_the_model(page):
    (sentence,) = document(page(f"  {SOURCE}\n"))["sentences"]
    (explanation,) = sentence["explanations"]
    assert sentence["source"] == SOURCE
    assert explanation["target"] == explainer("mixed").explain(SOURCE).target
    assert explanation["maps"]


def test_without_words_there_is_a_form_alone(page):
    for text in ("", " \n\u3000"):
        html = page(text)
        assert document(html)["sentences"] == []
        assert '<input name="text"' in html and 'id="viewer"' not in html
        assert f'maxlength="{LONGEST}"' in html


def test_what_cannot_be_explained_is_said(monkeypatch, page):
    assert '<p role="alert"><strong>a sentence without words' in page("\u2581")

    def fails(source):
        raise UserError(f"<b>{source}</b>: no")

    toy = explained_toy("mixed")
    monkeypatch.setattr(toy.explainer, "explain", fails)
    html = live_page(toy, "ende", longest=LONGEST)("a")
    assert '<p role="alert"><strong>&lt;b&gt;a&lt;/b&gt;: no</strong></p>' in html


def test_models_that_read_more_than_words_have_no_page():
    name = next(name for name in ("mixed", "levels and tags", "local_p") if texts_of(name))
    with pytest.raises(UserError, match=r"ende reads \w+, which cannot be typed"):
        live_page(explained_toy(name), "ende", longest=LONGEST)


def test_hostile_sentences_stay_text(page):
    html = page("</script><b>a</b>\0")
    assert html.count("</script>") == page("").count("</script>")
    assert "<b>" not in html and "\0" not in html


def test_a_sentence_is_typed_in_a_browser(page, browser):
    from selenium.webdriver.support.ui import WebDriverWait

    with running(page=page) as server:
        browser.driver.get_log("browser"), browser.driver.get_log("performance")
        browser.driver.get(f"{server.url}/")
        field = browser.driver.find_element("name", "text")
        field.send_keys("<i>the</i> house & ü?\n")
        shown = "document.getElementById('viewer')?.dataset.shown === '0'"
        WebDriverWait(browser.driver, 120, 0.05).until(lambda _: browser.run(f"return {shown}"))
        query = urllib.parse.urlencode({"text": "<i>the</i> house & ü?"})
        assert browser.driver.current_url == f"{server.url}/?{query}"
        assert browser.run("return document.querySelector('input[name=text]').value") == (
            "<i>the</i> house & ü?"
        )
        assert not browser.messages()
        others = {url for url in browser.requests() if not url.startswith(server.url)}
        assert not others
        assert ask(server.url, f"/?{query}").status == 200

import pytest
from browser import start_browser
from running_server import NUMBER, running, upper, wait_until

from t2t_phrase.serving.servable import Output, Servable, Signature

CUT = Output("DT_BOOL", (-1,))


@pytest.fixture(scope="module")
def browser():
    yield from start_browser()


def cutting(columns):
    return {**upper(columns), "cut": [len(text) > 3 for text in columns[0]]}


def test_the_form_translates_and_tells_what_was_cut(browser):
    outputs = {"translation": Output("DT_STRING", (-1,)), "score": NUMBER, "cut": CUT}
    signature = Signature("serving_default", ("text",), outputs, cutting)
    with running(Servable(1, {signature.name: signature})) as server:
        browser.driver.get(f"{server.url}/")
        browser.run("document.getElementById('text').value = 'one\\n\\nthree'")
        browser.run("document.querySelector('button').click()")
        items = "return [...document.querySelectorAll('li')].map(item => item.textContent)"
        wait_until(lambda: browser.run(items))
        assert browser.run(items) == ["ONE (score 3.00)", "THREE (score 5.00) (cut)"]

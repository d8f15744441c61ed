import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from running_server import ask, predict, running, wait_until

from t2t_phrase.serving.explained import LONGEST, MOST_WAITING


def page_of(text):
    return f"/?{urllib.parse.urlencode({'text': text})}"


def test_the_page_of_a_sentence():
    with running(page=lambda text: f"<p>{text or 'none'}</p>") as server:
        for text in ("a <b> & ü\0\U0001f600", "x" * LONGEST):
            answer = ask(server.url, page_of(text))
            assert answer.status == 200 and answer.body.decode() == f"<p>{text}</p>"
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert ask(server.url, "/").body == b"<p>none</p>"
        # Bytes that are not UTF-8.
        assert ask(server.url, "/?text=%ff").body.decode() == "<p>\ufffd</p>"
        answer = ask(server.url, page_of("x" * (LONGEST + 1)))
        assert answer.status == 413 and "more than 2000 characters" in answer.body["error"]


def test_pages_are_made_apart_from_predictions_and_bounded():
    gate, begun = threading.Event(), []

    def slow(text):
        begun.append(text)
        assert gate.wait(20)
        return text

    count = MOST_WAITING + 3
    with running(page=slow, timeout=2.0) as server, ThreadPoolExecutor(count) as pool:
        asked = [pool.submit(ask, server.url, page_of(str(number))) for number in range(count)]
        assert predict(server.url, {"instances": ["a"]}).status == 200
        answers = sorted((one.result() for one in asked), key=lambda a: a.status)
        assert [answer.status for answer in answers] == [429] * 3 + [504] * MOST_WAITING
        assert answers[0].body == {"error": "8 sentences are waiting to be explained"}
        assert answers[-1].body == {"error": "the sentence was not explained within 2 s"}
        # Nobody waits for the others any more.
        assert len(begun) == 1
        gate.set()
        wait_until(lambda: ask(server.url, page_of("y")).body == b"y")
        assert begun[1:] == ["y"]

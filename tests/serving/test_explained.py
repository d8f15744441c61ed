import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from running_server import PATIENCE, ask, predict, running, wait_until

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
        # Pages that are done do not count as waiting.
        for _ in range(MOST_WAITING):
            assert ask(server.url, page_of("a")).status == 200
        # Bytes that are not UTF-8.
        assert ask(server.url, "/?text=%ff").body.decode() == "<p>\ufffd</p>"
        answer = ask(server.url, page_of("x" * (LONGEST + 1)))
        assert answer.status == 413 and "more than 1000 characters" in answer.body["error"]


def test_pages_are_made_apart_from_predictions_and_bounded():
    gate, begun = threading.Event(), []

    def slow(text):
        begun.append(text)
        assert gate.wait(PATIENCE)
        return text

    count = MOST_WAITING + 3
    with running(page=slow, timeout=PATIENCE) as server, ThreadPoolExecutor(count) as pool:
        asked = [pool.submit(ask, server.url, page_of(str(number))) for number in range(count)]
        wait_until(lambda: sum(one.done() for one in asked) == 3)
        assert predict(server.url, {"instances": ["a"]}).status == 200
        gate.set()
        answers = sorted((one.result() for one in asked), key=lambda a: -a.status)
        assert [answer.status for answer in answers] == [429] * 3 + [200] * MOST_WAITING
        assert answers[0].body == {"error": "8 sentences are waiting to be explained"}
    assert len(begun) == MOST_WAITING


def test_nobody_waits_for_a_page_for_too_long():
    gate, begun, found = threading.Event(), [], []

    def slow(text):
        begun.append(text)
        assert gate.wait(PATIENCE)
        return text

    def asked(text):
        found.append(ask(server.url, page_of(text)))
        return found[-1]

    with running(page=slow, timeout=0.3) as server:
        # The thread that makes pages may take as long to begin.
        wait_until(lambda: bool(asked("0") and begun))
        asked("1")
        for answer in found:
            assert answer.status == 504
            assert answer.body == {"error": "the sentence was not explained within 0.3 s"}
        assert begun == ["0"]
        gate.set()
        wait_until(lambda: asked("y").body == b"y")
    # Nobody waited any more for the others.
    assert set(begun[1:]) == {"y"}

"""Clients that are slow, have gone, ask for too much, or are many."""

import contextlib
import http.client
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import running_server
from running_server import (
    PATIENCE,
    Gate,
    address,
    ask,
    metric,
    predict,
    raw,
    running,
    toy_servable,
    wait_until,
)

from t2t_phrase.serving.connections import limited_connection
from t2t_phrase.serving.server import allowed_connections, bind


def request_of(*texts):
    body = json.dumps({"instances": texts}).encode()
    head = b"POST /v1/models/toy:predict HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def is_answered(url, client):
    """Return whether a request is answered; not if this process, too, is so slow, or refused."""
    client.close()
    with contextlib.suppress(OSError):
        return predict(url, {"instances": ["a"]}, connection=client).status == 200
    return False


@pytest.fixture
def impatient(monkeypatch):
    """Let clients read their answers within a hundredth of the time that searches may take."""
    monkeypatch.setattr(
        "t2t_phrase.serving.server.limited_connection",
        lambda *, write_timeout, **limits: limited_connection(
            write_timeout=write_timeout / 100, **limits
        ),
    )


def test_slow_clients_are_cut_off():
    with running(read_timeout=0.3) as server:
        head = b"POST /v1/models/toy:predict HTTP/1.1\r\nHost: a\r\n"
        for parts in (
            [],
            [b"GET"],
            [head[:9], head[9:30]],
            [head, b"Content-Length: 9\r\n\r\n", b"{"],
        ):
            received = raw(server.url, *parts)
            assert received.startswith(b"HTTP/1.1 408 "), parts
            assert b"did not arrive within 0.3 s" in received
        # Also in a further request of a connection.
        client = http.client.HTTPConnection(*address(server.url), timeout=PATIENCE)
        wait_until(lambda: is_answered(server.url, client))
        client.sock.sendall(b"GET /heal")
        assert client.sock.recv(100).startswith(b"HTTP/1.1 408 ")
        client.close()
        wait_until(lambda: is_answered(server.url, client))
        client.close()


def test_who_does_not_read_the_answer_is_disconnected(impatient):
    def long(columns):
        return {"translation": [b"x" * 20_000_000], "score": [0.0]}

    with (
        running(toy_servable(run=long), timeout=50.0) as server,
        socket.create_connection(address(server.url), PATIENCE) as client,
    ):
        client.sendall(request_of("a"))
        wait_until(lambda: metric(server.url, "t2t_phrase_batch_sentences_count") == 1)
        wait_until(lambda: metric(server.url, "t2t_phrase_connections") == 1)


def test_who_leaves_a_short_answer_unread_is_disconnected(impatient, monkeypatch):
    def bind_with_a_small_buffer(host, port):
        listener = bind(host, port)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return listener

    def long(columns):
        return {"translation": [b"x" * 40_000], "score": [0.0]}

    monkeypatch.setattr(running_server, "bind", bind_with_a_small_buffer)
    with running(toy_servable(run=long), timeout=50.0) as server, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(address(server.url))
        client.sendall(request_of("a"))
        wait_until(lambda: metric(server.url, "t2t_phrase_batch_sentences_count") == 1)
        wait_until(lambda: metric(server.url, "t2t_phrase_connections") == 1)


def test_sentences_of_clients_that_have_gone_are_not_searched():
    gate = Gate()
    with running(toy_servable(run=gate), workers=1) as server, ThreadPoolExecutor(2) as pool:
        first = pool.submit(predict, server.url, {"instances": ["0"]})
        wait_until(lambda: gate.batches == [["0"]])
        with socket.create_connection(address(server.url), PATIENCE) as client:
            client.sendall(request_of("1", "2"))
            wait_until(lambda: metric(server.url, "t2t_phrase_queue_sentences") == 2)
        wait_until(lambda: metric(server.url, "t2t_phrase_connections") == 2)
        last = pool.submit(predict, server.url, {"instances": ["3"]})
        wait_until(lambda: metric(server.url, "t2t_phrase_queue_sentences") == 3)
        gate.open.set()
        assert first.result().status == last.result().status == 200
    assert gate.batches == [["0"], ["3"]]


def test_what_is_not_http_is_answered_as_json():
    with running() as server:
        for request in (
            b"GET /?text=" + b"a" * 300_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /\u00e4 HTTP/1.1\r\n\r\n".encode(),
            b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        ):
            head, body = raw(server.url, request).split(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
            assert f"Content-Length: {len(body)}".encode() in head
            assert "is not valid HTTP/1.1" in json.loads(body)["error"]


def test_a_request_cannot_keep_the_server_busy():
    path = "/v1/models/toy:predict"
    names = ",".join(f'"{number}":0' for number in range(200_000))
    with running() as server, ThreadPoolExecutor(4) as pool:
        asked = (
            f'{{{names},"x":1,"x":2}}',
            f'{{"inputs":{{{names}}}}}',
            f'{{"signature_name":"{"s" * 1_000_000}","inputs":["a"]}}',
        )
        start = time.monotonic()
        answers = pool.map(lambda body: ask(server.url, path, body.encode()), asked)
        assert [answer.status for answer in answers] == [400] * 3
        # Comparing each name with all others would take far longer.
        assert time.monotonic() - start < 60


def flood(url, count):
    """Open connections that do nothing; return how many were refused, and for what reason."""
    clients = []
    try:
        for _ in range(count):
            client = socket.create_connection(address(url), PATIENCE)
            clients.append(client)
        refused = []
        for client in clients:
            client.setblocking(False)
        end = time.monotonic() + PATIENCE
        while len(refused) < count - 20 and time.monotonic() < end:
            time.sleep(0.05)
            for client in clients:
                try:
                    received = client.recv(1000)
                except (BlockingIOError, ConnectionResetError):
                    continue
                if received:
                    refused.append(received)
        return refused
    finally:
        for client in clients:
            client.close()


def check_flood(count):
    with running(max_connections=20, read_timeout=300) as server:
        refused = flood(server.url, count)
        assert count - 20 <= len(refused) < count
        for answer in refused:
            assert answer.startswith(b"HTTP/1.1 503 ") and b"Retry-After: 1\r\n" in answer
            assert answer.endswith(b'{"error": "20 connections are already open"}')
        client = http.client.HTTPConnection(*address(server.url), timeout=PATIENCE)
        wait_until(lambda: is_answered(server.url, client))
        client.close()


def test_connections_are_bounded():
    check_flood(300)


@pytest.mark.slow
def test_ten_thousand_connections():
    needed = allowed_connections(12_000)
    if needed < 12_000:
        pytest.skip("the system does not allow as many open files")
    check_flood(10_000)

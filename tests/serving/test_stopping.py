"""How a server stops: requests that have arrived are answered."""

import http.client
import os
import signal
import socket
import threading
import time

import pytest
from running_server import (
    NAME,
    PATIENCE,
    address,
    ask,
    metric,
    predict,
    reachable,
    running,
    toy_servable,
    upper,
    wait_until,
)

from t2t_phrase.serving import connections
from t2t_phrase.serving.hparams import ServingHParams
from t2t_phrase.serving.server import TranslationServer, bind
from t2t_phrase.serving.versions import OneVersion


def keep_asking(url, stop, statuses):
    """Send request after request by one connection, opening it again where the server closed it."""
    client = http.client.HTTPConnection(*address(url), timeout=PATIENCE)
    while not stop.is_set():
        if client.sock is None:
            try:
                client.connect()
            except OSError:
                return
        answer = predict(url, {"instances": ["a"]}, connection=client)
        statuses.append(answer.status)
        if answer.headers.get("connection") == "close":
            client.close()


def test_no_accepted_request_is_lost_by_a_stop():
    def slowly(columns):
        time.sleep(0.02)
        return upper(columns)

    statuses, stop = [], threading.Event()
    with running(toy_servable(run=slowly), drain_seconds=3600.0) as server:
        threads = [
            threading.Thread(target=keep_asking, args=(server.url, stop, statuses))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(statuses) > 20)
        server.stop()
        wait_until(lambda: ask(server.url, "/readyz").status == 503)
        before = len(statuses)
        wait_until(lambda: len(statuses) > before + 20)
        # So that the server waits no longer for new requests.
        server.stop()
        wait_until(lambda: not reachable(server.url))
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
    # Those that came while the server was stopping were answered, too.
    assert set(statuses) == {200}


def test_the_first_request_of_a_connection_is_answered_by_a_server_that_has_stopped_listening(
    monkeypatch,
):
    monkeypatch.setattr(connections, "_FIRST_REQUEST_SECONDS", PATIENCE)
    with running() as server:
        client = http.client.HTTPConnection(*address(server.url), timeout=PATIENCE)
        client.connect()
        wait_until(lambda: metric(server.url, "t2t_phrase_connections") == 2)
        server.stop()
        wait_until(lambda: not reachable(server.url))
        answer = predict(server.url, {"instances": ["a"]}, connection=client)
        assert answer.status == 200
        assert answer.headers["connection"] == "close"
        client.close()


def test_a_connection_without_a_request_does_not_keep_a_server_from_stopping():
    with running() as server, socket.create_connection(address(server.url), PATIENCE) as client:
        server.stop()
        assert client.recv(1) == b""


def test_a_stop_before_the_server_listens_is_not_lost():
    listener = bind("127.0.0.1", 0)
    server = TranslationServer(
        NAME, OneVersion(toy_servable()), ServingHParams(), listener=listener, workers=1
    )
    server.stop()
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    # One after the end is no error.
    server.stop()


@pytest.mark.parametrize("ignored", [True, False])
def test_a_signal_that_the_caller_ignores_does_not_stop_a_server(ignored):
    server = TranslationServer(
        NAME,
        OneVersion(toy_servable()),
        ServingHParams(drain_seconds=3600.0),
        listener=bind("127.0.0.1", 0),
        workers=1,
    )
    statuses = []

    def interrupt():
        # It handles signals once it answers.
        wait_until(lambda: reachable(server.url))
        ask(server.url, "/readyz")
        os.kill(os.getpid(), signal.SIGINT)
        statuses.append(ask(server.url, "/readyz").status)
        server.stop()
        server.stop()

    # As shells do for what a script starts in the background.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    try:
        # Signals arrive in the main thread.
        server.run()
    finally:
        signal.signal(signal.SIGINT, before)
    thread.join(PATIENCE)
    assert statuses == [200 if ignored else 503]

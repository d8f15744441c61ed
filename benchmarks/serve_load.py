"""A server under load, compared with the decoder on the same lines.

    python benchmarks/serve_load.py --output_dir=runs/ende --data_dir=data --lines=test.en

Starts `t2t-phrase-serve` on a free port of this machine. 64 clients with one connection each
together send 20,000 requests of one sentence, each as soon as its last is answered; sentences
are the lines of the file, in random order and as often as needed. Then `t2t-phrase-decoder`
translates the same lines in the same order. Every answer must equal the decoder's.

Prints one line of JSON: requests that failed, answers that differ, percentiles of latency in
milliseconds, sentences per second of both and their ratio, and the memory of the server (MiB) after
each tenth of the requests. The exit code is 1 if a request failed, an answer differs, or memory has
grown by more than 5% in the second half.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import http.client
import itertools
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from measure import report
from script import run_script

START_SECONDS, ANSWER_SECONDS = 600, 120
MOST_GROWTH = 1.05


class Load(NamedTuple):
    """The answers that clients got, and their timing.

    Attributes:
        answers: of each line; None: the request failed.
        milliseconds: from each request to its answer.
        seconds: from the first request to the last answer.
        memory: the measurement after each tenth of the requests.
    """

    answers: list[str | None]
    milliseconds: np.ndarray
    seconds: float
    memory: list[float]


def send(
    host: str,
    path: str,
    lines: Sequence[str],
    *,
    clients: int,
    memory: Callable[[], float] = lambda: 0.0,
) -> Load:
    """Send one request for each line.

    Args:
        host: name and port.
        path: the URL's path for predictions of the model.
        lines: sentences.
        clients: connections that send at the same time.
        memory: measures the server's memory.
    """
    answers: list[str | None] = [None] * len(lines)
    milliseconds = np.full(len(lines), np.nan)
    numbers = iter(range(len(lines)))
    tenths = {len(lines) * tenth // 10 for tenth in range(1, 10)}
    lock = threading.Lock()
    measured: list[float] = []
    failures: collections.Counter[str] = collections.Counter()

    def client() -> None:
        connection = http.client.HTTPConnection(host, timeout=ANSWER_SECONDS)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                break
            if number in tenths:
                measured.append(memory())
            start = time.perf_counter()
            try:
                connection.request("POST", path, json.dumps({"instances": [lines[number]]}))
                response = connection.getresponse()
                found = json.load(response)
                if response.status == 200:
                    answers[number] = found["predictions"][0]["translation"]
                else:
                    failures[f"{response.status} {found['error']}"] += 1
            except (OSError, http.client.HTTPException) as error:
                failures[repr(error)] += 1
                connection.close()
            milliseconds[number] = 1000 * (time.perf_counter() - start)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    for reason, count in failures.most_common(5):
        print(f"{count} requests failed: {reason}", file=sys.stderr)
    return Load(answers, milliseconds, seconds, [*measured, memory()])


def summary(load: Load, expected: Sequence[str]) -> dict[str, object]:
    """Return the figures of a load, given the decoder's translations."""
    pairs = list(zip(load.answers, expected, strict=True))
    percentiles = np.percentile(load.milliseconds, [50, 95, 99])
    return {
        "requests": len(pairs),
        "failed": sum(answer is None for answer, _ in pairs),
        "different": sum(answer not in (None, wanted) for answer, wanted in pairs),
        **{f"p{p}_ms": round(ms, 1) for p, ms in zip((50, 95, 99), percentiles, strict=True)},
        "sentences_per_second": round(len(pairs) / load.seconds, 1),
        "memory_mib": [round(value) for value in load.memory],
    }


@contextlib.contextmanager
def serving(arguments: Sequence[str]) -> Iterator[tuple[str, Callable[[], float]]]:
    """Start a server of the model "load"; yield its address, and a function for its memory."""
    command = [sys.executable, "-m", "t2t_phrase", "serve", *arguments, "--port=0"]
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen([*command, "--model_name=load"], stderr=log)
        status = pathlib.Path(f"/proc/{server.pid}/status")
        try:
            for _ in range(10 * START_SECONDS):
                log.seek(0)
                said = log.read()
                if found := re.search(r"http://(\S+)", said):
                    break
                if server.poll() is not None:
                    raise SystemExit(f"the server did not start:\n{said}")
                time.sleep(0.1)
            else:
                raise SystemExit(f"the server did not start within {START_SECONDS} s")
            yield found[1], lambda: int(re.search(r"VmRSS:\s+(\d+)", status.read_text())[1]) / 1024
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(60)
        log.seek(0)
        print(log.read().splitlines()[-1], file=sys.stderr)
        if code:
            raise SystemExit(f"the server ended with exit code {code}")


def decoded(arguments: Sequence[str], lines: Sequence[str]) -> tuple[list[str], float]:
    """Return the decoder's translations, and its seconds without its start-up."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "source"), pathlib.Path(folder, "target")
        source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        files = [f"--decode_from_file={source}", f"--decode_to_file={target}"]
        command = [sys.executable, "-m", "t2t_phrase", "decoder", *arguments, *files]
        done = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
        seconds = re.search(r"target tokens in ([\d.]+) s", done.stderr)
        return target.read_text(encoding="utf-8").splitlines(), float(seconds[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output_dir", required=True, help="a run")
    parser.add_argument("--data_dir", required=True, help="folder of its vocabulary")
    parser.add_argument("--t2t_usr_dir", default="")
    parser.add_argument("--decode_hparams", default="")
    parser.add_argument("--serving_hparams", default="")
    parser.add_argument("--lines", required=True, help="file of sentences")
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=64)
    args = parser.parse_args()
    text = pathlib.Path(args.lines).read_text(encoding="utf-8").splitlines()
    if not text:
        parser.error(f"--lines={args.lines}: the file is empty")
    lines = list(itertools.islice(itertools.cycle(text), args.requests))
    random.Random(0).shuffle(lines)
    model = [f"--{name}={getattr(args, name)}" for name in ("output_dir", "data_dir")]
    model += [f"--t2t_usr_dir={args.t2t_usr_dir}", f"--decode_hparams={args.decode_hparams}"]
    with serving([*model, f"--serving_hparams={args.serving_hparams}"]) as (host, memory):
        path = "/v1/models/load:predict"
        load = send(host, path, lines, clients=args.clients, memory=memory)
    expected, seconds = decoded(model, lines)
    figures = summary(load, expected)
    report(
        benchmark="serve_load",
        clients=args.clients,
        **figures,
        decoder_sentences_per_second=round(len(lines) / seconds, 1),
        ratio=round(seconds / load.seconds, 2),
    )
    grown = load.memory[-1] > MOST_GROWTH * load.memory[(len(load.memory) - 1) // 2]
    sys.exit(bool(figures["failed"] or figures["different"] or grown))


if __name__ == "__main__":
    run_script(main)

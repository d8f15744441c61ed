"""Counters and measurements of the server, in Prometheus' format."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Bucket bounds in seconds; percentiles are interpolated between them.
_LATENCIES = (
    *(0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75),
    *(1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0),
)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """The metrics of one server.

    Args:
        waiting: returns the number of sentences in the queue.
        connections: returns the number of open connections.
        version: returns the version that answers requests.

    Attributes:
        answered: the number of requests for predictions that got an answer, errors included.
    """

    def __init__(
        self,
        waiting: Callable[[], int],
        connections: Callable[[], int],
        version: Callable[[], int],
    ) -> None:
        self.answered = 0
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "t2t_phrase_requests",
            "Requests for predictions, by signature and HTTP status.",
            ["signature", "status"],
            registry=registry,
        )
        self._latency = Histogram(
            "t2t_phrase_latency_seconds",
            "Seconds from a request to its answer, for successful predictions.",
            ["signature"],
            buckets=_LATENCIES,
            registry=registry,
        )
        self._sentences = Counter(
            "t2t_phrase_sentences", "Sentences that were searched.", registry=registry
        )
        self._tokens = Counter(
            "t2t_phrase_tokens", "Target tokens of translations, EOS included.", registry=registry
        )
        self._batches = Histogram(
            "t2t_phrase_batch_sentences",
            "Sentences that were searched together.",
            buckets=_SIZES,
            registry=registry,
        )
        self._busy = Counter(
            "t2t_phrase_search_seconds",
            "Seconds spent in searches, summed over all workers.",
            registry=registry,
        )
        for name, words, function in (
            ("t2t_phrase_queue_sentences", "Sentences that are waiting.", waiting),
            ("t2t_phrase_connections", "Open connections.", connections),
            ("t2t_phrase_version", "The version that answers requests.", version),
        ):
            Gauge(name, words, registry=registry).set_function(function)

    def note_answer(self, signature: str, status: int, seconds: float) -> None:
        """Count a request for a prediction.

        Args:
            signature: the name of its signature; empty: the request names none that exists.
            status: the HTTP status.
            seconds: the time from the request to its answer.
        """
        self.answered += 1
        self._requests.labels(signature, str(status)).inc()
        if status == 200:
            self._latency.labels(signature).observe(seconds)

    def note_batch(self, sentences: int, tokens: int, seconds: float) -> None:
        """Count a batch that was searched."""
        self._sentences.inc(sentences)
        self._tokens.inc(tokens)
        self._batches.observe(sentences)
        self._busy.inc(seconds)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' format."""
        return generate_latest(self._registry)

"""The options of the server, `--serving_hparams`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from t2t_phrase.config import HParams

# The least and the greatest value of each number.
BOUNDS: dict[str, tuple[float, float]] = {
    "max_batch_size": (1, 10_000),
    "max_batch_bytes": (1, 1 << 30),
    "batch_wait_ms": (0, 10_000),
    "workers": (0, 1000),
    "max_queue": (1, 100_000),
    "max_body": (1, 1 << 30),
    "max_connections": (1, 1_000_000),
    "timeout": (0.001, 86_400),
    "read_timeout": (0.001, 3600),
    "drain_seconds": (0, 3600),
    "watch_seconds": (0.01, 3600),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServingHParams(HParams):
    """Options for the batches, limits and times of the server."""

    max_batch_size: int = 64  # sentences searched at once
    max_batch_bytes: int = 16_384  # bytes of text searched at once, padding included
    batch_wait_ms: float = 5.0  # how long the first sentence of a batch waits for others
    workers: int = 0  # batches searched at the same time; 0 = one for each core, 1 on a GPU
    max_queue: int = 1024  # sentences that may wait; more are answered with 429
    max_body: int = 4 << 20  # bytes of a request; more are answered with 413
    max_connections: int = 1000  # open at the same time; others are answered with 503
    timeout: float = 30.0  # seconds from request to answer; later ones are answered with 504
    read_timeout: float = 10.0  # seconds in which headers, and then the body, must have arrived
    drain_seconds: float = 1.0  # after SIGTERM, how long new requests are still answered
    watch_seconds: float = 1.0  # how often a folder of versions is read

    def check(self) -> Iterable[str]:
        """Yield one sentence for each number out of its bounds."""
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                yield f"{name}: must be between {least} and {most}, got {value}"

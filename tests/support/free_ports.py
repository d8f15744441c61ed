"""Ports for servers that are started later, in other processes."""

from __future__ import annotations

import contextlib
import random
import socket

from t2t_phrase.training.peers import OFFSET


def free_ports(count: int) -> list[int]:
    """Return consecutive ports that are free, as is the one that a chief at the first one adds.

    The system itself gives none of them to a socket that asks for any port, such as one of a test
    in another process.
    """
    while True:
        first = random.SystemRandom().randrange(20_000, 30_000)
        ports = [first + number for number in range(count)]
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for port in (*ports, first + OFFSET):
                stack.enter_context(socket.create_server(("", port)))
            return ports

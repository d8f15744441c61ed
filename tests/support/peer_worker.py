"""A worker that only joins the others and watches them, without TensorFlow.

    python peer_worker.py '{"facts": {}, "timeout": 2}'

It prints "joined" once it and those that it is connected to have told each other at which step they
are, then works until its standard input ends. With "starting", workers may start so many timeouts
apart.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.training import peers as watch
from t2t_phrase.training.cluster import read_cluster
from t2t_phrase.training.pace import UPDATE
from t2t_phrase.training.peers import Peers


def main(options: dict[str, Any]) -> None:
    """Join, say so, and wait."""
    watch.STARTING = options.get("starting", watch.STARTING)
    with Peers(read_cluster(), timeout=options["timeout"], log=_say) as peers:
        peers.join(options["facts"])
        peers.at(options.get("step", 7), UPDATE, options.get("seconds", 0.0))
        while not all(link.state.step for link in peers._links.values()):
            time.sleep(0.02)
        _say(f"joined {peers.of_chief(options['facts'])}")
        for line in sys.stdin:
            if line == "fail\n":
                raise UserError("the disk is full")


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)

"""A worker that only joins the others and watches them, without TensorFlow.

    python peer_worker.py '{"facts": {}, "timeout": 2}'

It prints "joined", then works until its standard input ends.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.training.cluster import read_cluster
from t2t_phrase.training.pace import UPDATE
from t2t_phrase.training.peers import Peers


def main(options: dict[str, Any]) -> None:
    """Join, say so, and wait."""
    with Peers(read_cluster(), timeout=options["timeout"], log=_say) as peers:
        peers.join(options["facts"])
        peers.at(options.get("step", 7), UPDATE, options.get("seconds", 0.0))
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

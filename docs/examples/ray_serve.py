"""Replicas of an exported model behind one address, by Ray Serve.

    python docs/examples/ray_serve.py --export_dir=runs/ende/export --replicas=2 --port=8501

Each replica is the application of t2t-phrase-serve: it watches the folder of versions and joins the
requests that it is given to batches. The interface stays that of TensorFlow Serving.
"""

from __future__ import annotations

import argparse
import time

import ray
from ray import serve

from t2t_phrase.serving.service import export_application

# Requests that a replica works on at the same time; fewer would keep its batches small.
REQUESTS = 128


def deployment(export_dir: str, *, replicas: int, name: str | None = None) -> serve.Application:
    """Return what Ray Serve deploys.

    Args:
        export_dir: folder of versions, at the same place on all machines.
        replicas: processes with a model each; Ray spreads them over the machines of the cluster.
        name: of the model, in addresses; None: that of the folder.
    """
    # Each replica makes its own application.
    ingress = serve.ingress(lambda: export_application(export_dir, name=name))
    replica = serve.deployment(
        ingress(),
        name="translation",
        num_replicas=replicas,
        max_ongoing_requests=REQUESTS,
        ray_actor_options={
            "num_cpus": 1,
            # Replicas on one machine share its cores.
            "runtime_env": {"env_vars": {"TF_NUM_INTRAOP_THREADS": "1"}},
        },
    )
    return replica.bind()


def main() -> None:
    """Deploy, and wait for Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--export_dir", required=True)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--address", help="of a Ray cluster; default: this machine alone")
    options = parser.parse_args()
    ray.init(address=options.address or "local", include_dashboard=False)
    serve.start(http_options={"host": options.host, "port": options.port})
    serve.run(deployment(options.export_dir, replicas=options.replicas), route_prefix="/")
    print(f"ready at http://{options.host}:{options.port}", flush=True)
    try:
        while True:
            time.sleep(1)
    finally:
        serve.shutdown()


if __name__ == "__main__":
    main()

"""Cost of summing gradients over two workers, by the size of the packs that are summed at a time.

    python benchmarks/all_reduce.py --hparams_sets=transformer_tiny,transformer_base --packs=0,4,32

Workers are processes on this machine with one core each; on other machines, start each by hand with
its `TF_CONFIG` and `--worker`. For every set, the same joined batch is used for an update by one
process with a core for each worker, and by the workers together. "Share" is the time of the sum
alone, divided by that of an update by the workers; where the sum overlaps with the computation, an
update takes less time than the two in sequence. "Agreement" is the small exchange before each
update that stops all workers at the same step.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

from measure import base_model, limit_threads, median_seconds, parser, random_ids, report
from script import run_script


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--hparams_sets", default="transformer_tiny,transformer_base")
    options.add_argument("--packs", default="0,4,32", help="MiB of a pack; 0: all in one")
    options.add_argument("--size", default="64x32", help="rows of the joined batch, and length")
    options.add_argument("--vocab_size", type=int, default=8000)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--worker", action="store_true", help="run as a worker of TF_CONFIG")
    args = options.parse_args()
    if args.worker:
        work(args)
        return
    for name in args.hparams_sets.split(","):
        # The last value of an option counts.
        command = [sys.executable, __file__, *sys.argv[1:], f"--hparams_sets={name}", "--worker"]
        (alone,) = results(command, [{"THREADS": str(args.workers)}])
        together = results(command, environments(args.workers))[0]
        for pack, found in together.items():
            update = found["update"]
            report(
                benchmark="all_reduce",
                set=name,
                gradient_mib=found["mib"],
                pack_mib=int(pack),
                update_of_one_process=1.0,
                update_of_workers=round(update / alone["0"]["update"], 3),
                share_of_sum=round(found["sum"] / update, 3),
                share_of_agreement=round(found["agreement"] / update, 3),
            )


def environments(workers: int) -> list[dict[str, str]]:
    """Return the environment of each worker."""
    opened = [socket.socket() for _ in range(workers)]
    for one in opened:
        one.bind(("localhost", 0))
    cluster = {"worker": [f"localhost:{one.getsockname()[1]}" for one in opened]}
    for one in opened:
        one.close()
    return [
        {
            "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}}),
            "THREADS": "1",
            "CORE": str(i),
        }
        for i in range(workers)
    ]


def results(command: list[str], added: list[dict[str, str]]) -> list[dict[str, dict[str, float]]]:
    """Run workers; return the measurements of each, by the size of packs."""
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **more})
        for more in added
    ]
    outputs = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise SystemExit("a worker failed")
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def work(args: object) -> None:
    """Measure updates, and the sum of gradients alone, for each size of packs; print JSON."""
    if "CORE" in os.environ:
        # Workers must not compete for the same core.
        os.sched_setaffinity(0, {int(os.environ["CORE"]) % (os.cpu_count() or 1)})
    limit_threads(int(os.environ.get("THREADS", "1")))
    import tensorflow as tf

    from t2t_phrase.training.distribution import make_strategy
    from t2t_phrase.training.optimizers import make_optimizer
    from t2t_phrase.training.schedules import make_schedule
    from t2t_phrase.training.step import Stepper
    from t2t_phrase.training.stepper import Totals

    strategy = make_strategy()
    with strategy.scope():
        hparams, model = base_model(args.dtype, args.vocab_size, args.hparams_sets)
        optimizer = make_optimizer(hparams, make_schedule(hparams, train_steps=1000))
        optimizer.build(model.trainable_variables)
    rows, length = map(int, args.size.split("x"))
    several = strategy.num_replicas_in_sync > 1
    found = {}
    for pack in args.packs.split(",") if several else ["0"]:
        stepper = Stepper(strategy, model, optimizer, seed=0, xla=args.xla, pack=int(pack) * 2**20)
        ids = random_ids(stepper.share().rows(rows), length, args.vocab_size)
        features, totals = {"inputs": ids, "targets": ids}, Totals(rows * length, rows)

        def replica(stepper=stepper):
            gradients = [tf.ones(v.shape) for v in stepper.trainable]
            context = tf.distribute.get_replica_context()
            return [tf.reduce_sum(g) for g in stepper._sum(context, gradients)]

        summed = tf.function(lambda replica=replica: strategy.run(replica))
        found[pack] = {
            "mib": round(sum(4 * v.value.shape.num_elements() for v in stepper.trainable) / 2**20),
            "update": median_seconds(
                lambda s=stepper, f=features, t=totals: float(s.train(f, t).objective),
                repeats=args.repeats,
            ),
            "sum": median_seconds(lambda s=summed: s(), repeats=args.repeats) if several else 0.0,
            "agreement": median_seconds(
                lambda s=stepper: s.agreement.largest(0), repeats=args.repeats
            ),
        }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    run_script(main)

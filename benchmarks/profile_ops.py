"""Where the time of a training step or a search goes, by kind of operation.

    python benchmarks/profile_ops.py [--set=transformer_base] [--rows=32] [--length=32]
    python benchmarks/profile_ops.py --decode [--dtype=mixed_bfloat16]

Prints the seconds that one call spends in each kind of TensorFlow's operations, all threads
together, and how often each runs. An operation that several threads share counts once. With
--decode, the search is that of `decode.py`. Programs compiled by XLA are one operation each.
"""

from __future__ import annotations

import collections
import pathlib
import re
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from measure import base_model, limit_threads, parser, random_ids, search_of

_OPERATION = re.compile(r"[^:]+:_?[A-Z]\w*")


class Kind(NamedTuple):
    """All operations of one kind."""

    name: str
    runs: int
    seconds: float


def profile(run: Callable[[], object]) -> list[Kind]:
    """Return what one call of `run` spends in TensorFlow's operations, the longest first."""
    import tensorflow as tf
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    run()
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder)
        run()
        tf.profiler.experimental.stop()
        (path,) = pathlib.Path(folder).rglob("*.xplane.pb")
        space = xplane_pb2.XSpace.FromString(path.read_bytes())
    threads = []
    for plane in space.planes:
        if plane.name == "/host:CPU":
            names = {key: value.name for key, value in plane.event_metadata.items()}
            threads += [
                [
                    Event(names[event.metadata_id], event.offset_ps, event.duration_ps)
                    for event in line.events
                ]
                for line in plane.lines
            ]
    return kinds_of(threads)


class Event(NamedTuple):
    """Something that a thread did; times in picoseconds."""

    name: str
    start: int
    duration: int


def kinds_of(threads: Sequence[Sequence[Event]]) -> list[Kind]:
    """Return the time spent in operations, without that in operations within them.

    Args:
        threads: the events of each. Those of operations are named NODE:KIND.
    """
    runs: collections.Counter[str] = collections.Counter()
    spent: collections.Counter[str] = collections.Counter()
    for events in threads:
        open_events: list[tuple[int, str]] = []
        operations = (event for event in events if _OPERATION.fullmatch(event.name))
        for event in sorted(operations, key=lambda event: (event.start, -event.duration)):
            kind = event.name.rpartition(":")[2]
            while open_events and open_events[-1][0] <= event.start:
                open_events.pop()
            if open_events:
                spent[open_events[-1][1]] -= event.duration
            open_events.append((event.start + event.duration, kind))
            runs[kind] += 1
            spent[kind] += event.duration
    return [Kind(name, runs[name], time / 1e12) for name, time in spent.most_common()]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--set", default="transformer_base")
    options.add_argument("--vocab_size", type=int, default=32000)
    options.add_argument("--rows", type=int, default=32)
    options.add_argument("--length", type=int, default=32)
    options.add_argument("--decode", action="store_true")
    options.add_argument("--top", type=int, default=25, help="lines to print")
    args = options.parse_args()
    limit_threads()
    run = search_call(args) if args.decode else training_call(args)
    found = profile(run)
    total = sum(kind.seconds for kind in found)
    print(f"{'operation':34} {'runs':>7} {'seconds':>9} {'share':>7}")
    for kind in found[: args.top]:
        share = kind.seconds / total
        print(f"{kind.name:34} {kind.runs:7} {kind.seconds:9.4f} {share:7.1%}")
    print(f"{'all':34} {sum(kind.runs for kind in found):7} {total:9.4f}")


def training_call(args: Any) -> Callable[[], object]:
    from t2t_phrase.training.distribution import make_strategy
    from t2t_phrase.training.optimizers import make_optimizer
    from t2t_phrase.training.schedules import make_schedule
    from t2t_phrase.training.step import Stepper

    hparams, model = base_model(args.dtype, args.vocab_size, args.set)
    optimizer = make_optimizer(hparams, make_schedule(hparams, train_steps=1000))
    optimizer.build(model.trainable_variables)
    stepper = Stepper(make_strategy(), model, optimizer, seed=0, xla=args.xla)
    ids = random_ids(args.rows, args.length, args.vocab_size)
    return lambda: float(stepper.train({"inputs": ids, "targets": ids}).objective)


def search_call(args: Any) -> Callable[[], object]:
    _, model = base_model(args.dtype, args.vocab_size, args.set)
    return search_of(
        model,
        rows=args.rows,
        source=max(2, args.length - 8),
        target=args.length,
        vocab_size=args.vocab_size,
        xla=args.xla,
    )


if __name__ == "__main__":
    main()

"""Training speed of registered sets, as ratios to the first of them.

    python benchmarks/compare_sets.py --sets=transformer_multi30k,luong_multi30k,luong_feed_multi30k
    python benchmarks/compare_sets.py --sets=transformer_multi30k,transformer_multi30k:r_drop=1

A set may be followed by changes, SET:NAME=VALUE or SET:NAME=VALUE+NAME=VALUE.

Times whole updates (forward pass, backward pass and optimizer) on random ids; other features, such
as those of trees, have the value of padding. Each set is timed in turn, `--repeats` times, so that
changes in the speed of the machine affect all sets alike. The line of each set has the median
number of target tokens per second divided by that of the first set.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from measure import THREADS, base_model, limit_threads, parser, random_ids, report, stepper_of
from script import run_script

from t2t_phrase.comparison import variants


def timed_update(
    name: str, rows: int, length: int, vocab: int, *, dtype: str, xla: bool
) -> Callable[[], float]:
    """Return a function that makes one update and returns its duration in seconds.

    Args:
        name: of the set, with changes, see above.
        rows: sentences in the batch.
        length: tokens of each, on both sides.
        vocab: entries of the vocabulary.
        dtype: the dtype policy.
        xla: whether to compile with XLA.
    """
    name, overrides = variants.split(name)
    stepper = stepper_of(*base_model(dtype, vocab, name, overrides), xla=xla)
    features = stepper.fake_features(rows, length, length)
    features["inputs"] = features["targets"] = random_ids(rows, length, vocab)

    def update() -> float:
        start = time.perf_counter()
        float(stepper.train(features).objective)
        return time.perf_counter() - start

    return update


def main() -> None:
    """Measure."""
    options = parser(__doc__ or "")
    options.add_argument(
        "--sets", default="transformer_multi30k,luong_multi30k,luong_feed_multi30k"
    )
    options.add_argument("--rows", type=int, default=128, help="sentences in a batch")
    options.add_argument("--length", type=int, default=16, help="tokens of each, on both sides")
    options.add_argument("--vocab", type=int, default=10_000, help="entries of the vocabulary")
    options.add_argument("--threads", type=int, default=THREADS, help="of TensorFlow")
    given = options.parse_args()
    limit_threads(given.threads)
    sizes = (given.rows, given.length, given.vocab)
    updates = {
        name: timed_update(name, *sizes, dtype=given.dtype, xla=given.xla)
        for name in given.sets.split(",")
    }
    for update in updates.values():
        update()
    seconds = {name: [] for name in updates}
    for _ in range(given.repeats):
        for name, update in updates.items():
            seconds[name].append(update())
    medians = {name: statistics.median(found) for name, found in seconds.items()}
    first = next(iter(medians.values()))
    for name, median in medians.items():
        report(
            set=name,
            batch=f"{given.rows}x{given.length}",
            dtype=given.dtype,
            xla=given.xla,
            milliseconds=round(1000 * median, 1),
            speed=round(first / median, 2),
        )


if __name__ == "__main__":
    run_script(main)

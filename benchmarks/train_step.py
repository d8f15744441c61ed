"""Training speed of `transformer_base`, relative to the machine's matrix rate in the same type.

    python benchmarks/train_step.py [--xla] [--dtype=mixed_bfloat16]
    python benchmarks/train_step.py --sizes=102x20 --vocab_size=4000

Times whole updates: forward and backward pass, Adam, dropout and label smoothing; random ids. With
32,000 subwords, an update takes 371 GFLOP with 32x32 tokens and 1485 with 64x64 (a
multiply-add counts as two), so 100% of a rate of 500 GFLOP/s is 2760 source and target tokens/s.
"""

from __future__ import annotations

from measure import (
    base_model,
    limit_threads,
    matrix_rate,
    median_seconds,
    parser,
    random_ids,
    report,
    stepper_of,
)
from script import run_script

GFLOP = {(32, 32): 371.0, (64, 64): 1485.0}
SUBWORDS = 32_000


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sizes", default="32,64", help="rows and length: 64, 32x64, ...")
    options.add_argument("--vocab_size", type=int, default=SUBWORDS)
    args = options.parse_args()
    limit_threads()
    stepper = stepper_of(*base_model(args.dtype, args.vocab_size), xla=args.xla)
    for size in args.sizes.split(","):
        rows, length = map(int, size.split("x") if "x" in size else (size, size))
        ids = random_ids(rows, length, args.vocab_size)
        before = matrix_rate(args.dtype)
        seconds = median_seconds(
            lambda ids=ids: float(stepper.train({"inputs": ids, "targets": ids}).objective),
            repeats=args.repeats,
        )
        rate = (before + matrix_rate(args.dtype)) / 2
        known = GFLOP.get((rows, length)) if args.vocab_size == SUBWORDS else None
        report(
            benchmark="train_step",
            batch=f"{rows}x{length}",
            dtype=args.dtype,
            xla=args.xla,
            tokens_per_second=round(2 * rows * length / seconds),
            matrix_gflops=round(rate / 1e9),
            share_of_matrix_rate=known and round(known * 1e9 / seconds / rate, 3),
        )


if __name__ == "__main__":
    run_script(main)

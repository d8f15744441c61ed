"""Decoding speed of `transformer_base`, relative to the machine's matrix rate.

    python benchmarks/decode.py [--xla] [--dtype=mixed_bfloat16]

Beam size 4, 32 sentences of 24 source tokens, exactly 32 target tokens each (no earlier EOS),
random ids and weights, vocabulary of 32,000. This takes 348 GFLOP, so 100% of a rate of 500
GFLOP/s is 1470 target tokens/s.
"""

from __future__ import annotations

from measure import (
    base_model,
    limit_threads,
    matrix_rate,
    median_seconds,
    parser,
    report,
    search_of,
)

GFLOP = 348.0
ROWS, SOURCE, TARGET = 32, 24, 32


def main() -> None:
    args = parser(__doc__).parse_args()
    limit_threads()
    _, model = base_model(args.dtype)
    run = search_of(model, rows=ROWS, source=SOURCE, target=TARGET, xla=args.xla)
    before = matrix_rate()
    seconds = median_seconds(run, repeats=args.repeats)
    rate = (before + matrix_rate()) / 2
    report(
        benchmark="decode",
        dtype=args.dtype,
        xla=args.xla,
        tokens_per_second=round(ROWS * TARGET / seconds),
        matrix_gflops=round(rate / 1e9),
        share_of_matrix_rate=round(GFLOP * 1e9 / seconds / rate, 3),
    )


if __name__ == "__main__":
    main()

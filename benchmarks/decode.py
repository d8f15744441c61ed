"""Decoding speed of `transformer_base`, relative to the machine's matrix rate in the same type.

    python benchmarks/decode.py [--xla] [--dtype=mixed_bfloat16] [--quantize=int8] [--whole]
    python benchmarks/decode.py --rows=1 --beam=1                   # latency of one sentence
    python benchmarks/decode.py --rows=170                          # 4096 source tokens

Beam size 4, 32 sentences of 24 source tokens, exactly 32 target tokens each (no earlier EOS),
random ids and weights, vocabulary of 32,000. This takes 348 GFLOP, so 100% of a rate of 500
GFLOP/s is 1470 target tokens/s. The sentences are searched in two parts at the same time, with one
thread each, as in the decoder; with --whole or --xla, all together with two threads.
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
    workers_for,
)
from script import run_script

# Multiply-adds of the matrix products of all layers for each source token, with the keys and values
# of cross-attention, and for each target token of each beam, with the vocabulary.
SOURCE_COST, TARGET_COST = 22_020_096, 38_404_096


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=32, help="sentences")
    options.add_argument("--source", type=int, default=24, help="tokens of each source")
    options.add_argument("--target", type=int, default=32, help="tokens of each translation")
    options.add_argument("--beam", type=int, default=4, help="size of the beam")
    options.add_argument("--whole", action="store_true", help="do not search in parts")
    options.add_argument("--quantize", choices=["", "int8"], default="", help="as for decoding")
    args = options.parse_args()
    limit_threads()
    workers = 1 if args.whole else workers_for(args.rows, xla=args.xla)
    _, model = base_model(args.dtype)
    run = search_of(
        model,
        rows=args.rows,
        source=args.source,
        target=args.target,
        beam=args.beam,
        xla=args.xla,
        workers=workers,
        quantize=args.quantize,
    )
    before = matrix_rate(args.dtype)
    seconds = median_seconds(run, repeats=args.repeats)
    rate = (before + matrix_rate(args.dtype)) / 2
    costs = args.source * SOURCE_COST + args.beam * args.target * TARGET_COST
    report(
        benchmark="decode",
        dtype=args.quantize or args.dtype,
        xla=args.xla,
        batch=f"{args.rows}x{args.source}",
        beam=args.beam,
        workers=workers,
        tokens_per_second=round(args.rows * args.target / seconds),
        matrix_gflops=round(rate / 1e9),
        share_of_matrix_rate=round(2 * args.rows * costs / seconds / rate, 3),
    )


if __name__ == "__main__":
    run_script(main)

"""Training speed of `transformer_base`, relative to the machine's matrix rate.

    python benchmarks/train_step.py [--xla] [--dtype=mixed_bfloat16]

Times whole updates: forward and backward pass, Adam, dropout and label smoothing; random ids,
vocabulary of 32,000. An update takes 371 GFLOP with 32x32 tokens and 1485 with 64x64 (a
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
)

GFLOP = {32: 371.0, 64: 1485.0}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sizes", default="32,64", help="rows and length of both sides")
    args = options.parse_args()
    limit_threads()
    from t2t_phrase.training.distribution import make_strategy
    from t2t_phrase.training.optimizers import make_optimizer
    from t2t_phrase.training.schedules import make_schedule
    from t2t_phrase.training.step import Stepper

    hparams, model = base_model(args.dtype)
    optimizer = make_optimizer(hparams, make_schedule(hparams, train_steps=1000))
    optimizer.build(model.trainable_variables)
    stepper = Stepper(make_strategy(), model, optimizer, seed=0, xla=args.xla)
    for size in map(int, args.sizes.split(",")):
        ids = random_ids(size, size)
        before = matrix_rate()
        seconds = median_seconds(
            lambda ids=ids: float(stepper.train({"inputs": ids, "targets": ids}).objective),
            repeats=args.repeats,
        )
        rate = (before + matrix_rate()) / 2
        report(
            benchmark="train_step",
            batch=f"{size}x{size}",
            dtype=args.dtype,
            xla=args.xla,
            tokens_per_second=round(2 * size * size / seconds),
            matrix_gflops=round(rate / 1e9),
            share_of_matrix_rate=round(GFLOP[size] * 1e9 / seconds / rate, 3),
        )


if __name__ == "__main__":
    main()

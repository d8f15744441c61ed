"""The peak memory of an update of `transformer_base` with 32,000 subwords.

    python benchmarks/step_memory.py --rows=782 --source=1
    python benchmarks/step_memory.py --rows=782 --source=1 --whole

Measured is what the process takes for itself during an update beyond what it had after one of a
small batch; so weights, Adam's moments and the library are not counted. Sources of one token leave
what grows with the target: the decoder, and the softmax, whose logits are made in blocks of tokens.
With --whole those of all tokens are made together, which shows what the blocks save.
"""

from __future__ import annotations

from input_pipeline import PeakMemory
from measure import base_model, limit_threads, parser, random_ids, report


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=782)
    options.add_argument("--source", type=int, default=32, help="tokens of each source")
    options.add_argument("--target", type=int, default=32, help="tokens of each target")
    options.add_argument("--whole", action="store_true", help="make all logits together")
    args = options.parse_args()
    limit_threads()
    from t2t_phrase.ops import cross_entropy
    from t2t_phrase.training.distribution import make_strategy
    from t2t_phrase.training.optimizers import make_optimizer
    from t2t_phrase.training.schedules import make_schedule
    from t2t_phrase.training.step import Stepper

    hparams, model = base_model(args.dtype)
    tokens = args.rows * args.target
    if args.whole:
        cross_entropy.LOGITS_MADE_ONCE = (tokens + cross_entropy.ROWS_UNIT) * model.vocab_size
    optimizer = make_optimizer(hparams, make_schedule(hparams, train_steps=1000))
    optimizer.build(model.trainable_variables)
    stepper = Stepper(make_strategy(), model, optimizer, seed=0, xla=args.xla)

    def update(rows: int) -> float:
        features = {
            "inputs": random_ids(rows, args.source),
            "targets": random_ids(rows, args.target),
        }
        return float(stepper.train(features).objective)

    update(1)
    memory = PeakMemory()
    update(args.rows)
    report(
        benchmark="step_memory",
        batch=f"{args.rows}x{args.source} and {args.rows}x{args.target}",
        dtype=args.dtype,
        xla=args.xla,
        whole=args.whole,
        target_tokens=tokens,
        peak_mib=round(memory.peak / 2**20),
    )


if __name__ == "__main__":
    main()

"""The peak memory of an update of `transformer_base` with 32,000 subwords.

    python benchmarks/step_memory.py --rows=782 --source=1
    python benchmarks/step_memory.py --rows=782 --source=1 --whole

Measures the memory that the process takes during an update, beyond that after an update with a
small batch; so weights, Adam's moments and the library are not counted. Sources of one token leave
the part that grows with the target: the decoder, and the softmax, whose logits are made in blocks
of tokens. With --whole, the logits of all tokens are made together, which shows how much the blocks
save. With JAX, the result is the memory that XLA reserves for the update.
"""

from __future__ import annotations

import numpy as np
from input_pipeline import PeakMemory
from measure import (
    base_model,
    limit_threads,
    parser,
    random_ids,
    report,
    stepper_of,
    uses_jax,
)
from script import run_script


def main() -> None:
    options = parser(__doc__, repeats=False)
    options.add_argument("--rows", type=int, default=782)
    options.add_argument("--source", type=int, default=32, help="tokens of each source")
    options.add_argument("--target", type=int, default=32, help="tokens of each target")
    options.add_argument("--whole", action="store_true", help="compute all logits at once")
    args = options.parse_args()
    limit_threads()
    from t2t_phrase.ops import cross_entropy

    hparams, model = base_model(args.dtype)
    tokens = args.rows * args.target
    if args.whole:
        cross_entropy.LOGITS_MADE_ONCE = (tokens + cross_entropy.ROWS_UNIT) * model.vocab_size
    stepper = stepper_of(hparams, model, xla=args.xla)

    def features(rows: int) -> dict[str, np.ndarray]:
        return {"inputs": random_ids(rows, args.source), "targets": random_ids(rows, args.target)}

    if uses_jax():
        lowered = stepper.update.lower(*stepper.arguments(features(args.rows)))
        peak = lowered.compile().memory_analysis().temp_size_in_bytes
    else:
        float(stepper.train(features(1)).objective)
        memory = PeakMemory()
        float(stepper.train(features(args.rows)).objective)
        peak = memory.peak
    report(
        benchmark="step_memory",
        batch=f"{args.rows}x{args.source} and {args.rows}x{args.target}",
        dtype=args.dtype,
        xla=args.xla,
        whole=args.whole,
        target_tokens=tokens,
        peak_mib=round(peak / 2**20),
    )


if __name__ == "__main__":
    run_script(main)

"""Updates of the trainer with JAX: speed, share of the matrix rate, memory, time to compile.

    KERAS_BACKEND=jax python benchmarks/jax_training.py --dtype=mixed_bfloat16
    KERAS_BACKEND=jax python benchmarks/jax_training.py --sets=A,B --peak_tflops=989 --length=64

Each set runs in a separate process, on all GPUs or on the CPU. Ids are random, without padding;
`tokens_per_second` counts sources and targets. Updates are dispatched to the device without waiting
for each, as in the trainer. The share of the matrix rate counts all matrix products and
convolutions of an update in the program that JAX traces, including those that are repeated to save
memory, and Muon's; the rate is `--peak_tflops` for each device, or measured with large square
matrices.
"""

from __future__ import annotations

import math
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

from measure import base_model, matrix_rate, parser, random_ids, report, stepper_of, uses_jax
from script import run_script


def main() -> None:
    # JAX always compiles with XLA.
    options = parser(__doc__, xla=False)
    options.add_argument("--sets", default="transformer_base", help="hparams sets, A,B")
    options.add_argument("--hparams", default="", help="changes to the sets")
    options.add_argument("--length", type=int, default=32, help="tokens of each sentence")
    options.add_argument("--rows", type=int, help="of each device; default: batch_size / length")
    options.add_argument("--vocab_size", type=int, default=32_000)
    options.add_argument("--updates", type=int, default=10, help="of each repetition")
    options.add_argument("--peak_tflops", type=float, help="of each device, for that type")
    args = options.parse_args()
    if not uses_jax():
        raise SystemExit("set KERAS_BACKEND=jax")
    sets = args.sets.split(",")
    if len(sets) == 1:
        measure(sets[0], args)
        return
    for name in sets:
        # The last value of an option counts.
        command = [sys.executable, __file__, *sys.argv[1:], f"--sets={name}"]
        if code := subprocess.run(command, check=False).returncode:
            sys.exit(code)


def measure(name: str, args: Any) -> None:
    """Report on one set."""
    import jax

    from t2t_phrase.training.distribution import peak_bytes

    hparams, model = base_model(args.dtype, args.vocab_size, name, args.hparams)
    stepper = stepper_of(hparams, model)
    rows = (args.rows or hparams.batch_size // args.length) * stepper.shards
    features = stepper.fake_features(rows, args.length, args.length)
    for seed, side in enumerate(("inputs", "targets")):
        features[side] = random_ids(rows, args.length, args.vocab_size, seed)
    program = jax.make_jaxpr(stepper.update)(*stepper.arguments(features))
    work = products(program.jaxpr)
    start = time.perf_counter()
    float(stepper.train(features).objective)
    first = time.perf_counter() - start
    seconds = []
    for _ in range(args.repeats):
        start = time.perf_counter()
        for _ in range(args.updates):
            result = stepper.train(features)
        float(result.objective)
        seconds.append((time.perf_counter() - start) / args.updates)
    update = statistics.median(seconds)
    # Read before the matrices of the measurement below are made.
    peak = max(peak_bytes().values(), default=0)
    rate = args.peak_tflops * 1e12 if args.peak_tflops else matrix_rate(args.dtype)
    report(
        benchmark="jax_training",
        set=name,
        hparams=args.hparams,
        device=jax.devices()[0].device_kind,
        devices=stepper.replicas,
        batch=f"{rows}x{args.length}",
        parts=stepper.parts,
        dtype=args.dtype,
        parameters=sum(math.prod(v.shape) for v in stepper.trainable),
        tokens_per_second=round(2 * rows * args.length / update),
        update_ms=round(update * 1e3, 2),
        update_tflop=round(work / 1e12, 4),
        matrix_tflops=round(rate / 1e12, 3),
        matrix_rate_is="given" if args.peak_tflops else "measured",
        share_of_matrix_rate=round(work / update / rate / stepper.replicas, 3),
        compile_seconds=round(first - update, 1),
        peak_device_mib=round(peak / 2**20) or None,
        peak_process_mib=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10),
    )


def products(jaxpr: Any, times: int = 1) -> int:
    """Return the operations of all matrix products and convolutions of a program, on all devices.

    A multiply-add counts as two. The body of a loop without a known number of rounds counts once.

    Args:
        jaxpr: the program.
        times: how often it runs.
    """
    found = 0
    for equation in jaxpr.eqns:
        name, parameters = equation.primitive.name, equation.params
        if name == "dot_general":
            (contracted, _), _ = parameters["dimension_numbers"]
            shape = equation.invars[0].aval.shape
            inner = math.prod(shape[axis] for axis in contracted)
            found += 2 * math.prod(equation.outvars[0].aval.shape) * inner
        if name == "conv_general_dilated":
            kernel = equation.invars[1].aval.shape
            inner = math.prod(kernel) // kernel[parameters["dimension_numbers"].rhs_spec[0]]
            found += 2 * math.prod(equation.outvars[0].aval.shape) * inner
        rounds = parameters["length"] if name == "scan" else 1
        if name == "shard_map":
            # Its body is the program of one device.
            rounds = parameters["mesh"].size
        for value in parameters.values():
            for part in value if isinstance(value, tuple | list) else [value]:
                inside = getattr(part, "jaxpr", part)
                if hasattr(inside, "eqns"):
                    found += products(inside, rounds)
    return found * times


if __name__ == "__main__":
    run_script(main)

"""Luong's local attention against global attention, on sources of growing length.

Local attention reads 2D + 1 positions, so its time should not grow with the source, except for
copies of the memory. Each line is for one length: the median seconds of both, and their ratio.

    python benchmarks/local_attention.py
    python benchmarks/local_attention.py --task=train --feeding --lengths=100,800
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from measure import limit_threads, median_seconds, parser, report
from script import run_script

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW = 10  # D of the paper


def make_decoder(kind: str, score: str, units: int, *, feeding: bool, dtype: str) -> Any:
    """Return a decoder of one layer over embeddings of the same width, with random weights.

    Args:
        kind: "global" or "local_p".
        score: "dot", "general" or "concat".
        units: width of everything.
        feeding: whether to use input feeding.
        dtype: the dtype policy.
    """
    from t2t_phrase.models.luong import Luong
    from t2t_phrase.models.luong_hparams import LuongHParams

    hparams = LuongHParams(
        hidden_size=units,
        num_hidden_layers=1,
        attention=kind,
        attention_score=score,
        attention_window=WINDOW if kind == "local_p" else 0,
        input_feeding=feeding,
        dtype_policy=dtype,
    )
    return Luong.from_hparams(hparams, vocab_size=8).decoder


def timed_call(
    decoder: Any, task: str, batch: int, source: int, target: int, *, xla: bool
) -> Callable[[], object]:
    """Return a function that does the task once.

    Args:
        decoder: from `make_decoder`.
        task: "step": one step of decoding for 5 beams of each sentence; "forward": the decoder on
            whole sentences; "train": the same with its gradient.
        batch: sentences.
        source: tokens of each source.
        target: tokens of each target.
        xla: whether to compile with XLA.
    """
    import tensorflow as tf

    rng, units = np.random.default_rng(0), decoder.units
    dtype = decoder.compute_dtype

    def random(*shape: int) -> tf.Tensor:
        return tf.cast(rng.normal(size=shape), dtype)

    memory, mask = random(batch, source, units), tf.ones((batch, 1, 1, source), tf.bool)
    x, beams = random(batch, target, units), random(batch, 5, units)
    weights = [variable.value for variable in decoder.trainable_variables]

    def step() -> Any:
        state = decoder.start_state(None, batch, 5)
        hidden, _, _ = decoder.step(
            beams, state, 3, kernels=kernels, projected=projected, attention_mask=mask
        )
        return tf.reduce_sum(hidden)

    def forward() -> Any:
        return tf.reduce_sum(decoder(x, memory, mask)[0])

    def train() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(memory)
            loss = forward()
        return tape.gradient(loss, [memory, *weights])

    if task == "step":
        projected, kernels = decoder.project_memory(memory), decoder.fused_kernels()
    chosen = {"step": step, "forward": forward, "train": train}[task]
    run = tf.function(chosen, jit_compile=xla or None)
    return lambda: [tf.convert_to_tensor(part).numpy() for part in tf.nest.flatten(run())]


def main() -> None:
    """Measure."""
    options = parser(__doc__ or "")
    options.add_argument("--task", default="step", choices=["step", "forward", "train"])
    options.add_argument("--score", default="general", choices=["dot", "general", "concat"])
    options.add_argument("--feeding", action="store_true", help="with input feeding")
    options.add_argument("--lengths", default="25,50,100,200,400,800", help="source tokens")
    options.add_argument("--target", type=int, default=25, help="target tokens")
    options.add_argument("--batch", type=int, default=16, help="sentences")
    options.add_argument("--units", type=int, default=1000, help="width of the states")
    given = options.parse_args()
    limit_threads()
    made = {"feeding": given.feeding, "dtype": given.dtype}
    decoders = {
        kind: make_decoder(kind, given.score, given.units, **made) for kind in ("global", "local_p")
    }
    for source in map(int, given.lengths.split(",")):
        seconds = {}
        for kind, decoder in decoders.items():
            sizes = (given.batch, source, given.target)
            run = timed_call(decoder, given.task, *sizes, xla=given.xla)
            seconds[kind] = median_seconds(run, repeats=given.repeats)
        report(
            task=given.task,
            score=given.score,
            feeding=given.feeding,
            source=source,
            window=2 * WINDOW + 1,
            global_seconds=round(seconds["global"], 5),
            local_seconds=round(seconds["local_p"], 5),
            speedup=round(seconds["global"] / seconds["local_p"], 2),
        )


if __name__ == "__main__":
    run_script(main)

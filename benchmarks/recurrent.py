"""Training and decoding speed of Luong's model at the sizes of OpenNMT-tf's `LuongAttention`.

    python benchmarks/recurrent.py [--task=decode] [--xla] [--dtype=mixed_bfloat16]

4 + 4 LSTM layers of 1000 units, dropout 0.2, global attention with general scores, input feeding;
vocabularies of 32,000, random ids, Adam. By default an update has 32 rows of 32 tokens on both
sides; decoding translates 32 sentences of 24 tokens into exactly 32 tokens each, beam size 4.
OpenNMT-tf's embeddings are 512 wide, ours as wide as the layers, so our model has more to compute.
`compare_toolkits.py --model=recurrent` runs both.
"""

from __future__ import annotations

from collections.abc import Callable

from measure import (
    THREADS,
    limit_threads,
    matrix_rate,
    median_seconds,
    parser,
    random_ids,
    report,
    search_of,
    stepper_of,
    workers_for,
)
from script import run_script
from toolkit_options import VOCAB, add_sizes


def training(hparams, model, *, rows: int, length: int, xla: bool) -> Callable[[], object]:
    """Return a function that makes one update."""
    stepper = stepper_of(hparams, model, xla=xla)
    ids = random_ids(rows, length, VOCAB)
    return lambda: float(stepper.train({"inputs": ids, "targets": ids}).objective)


def main() -> None:
    """Measure."""
    options = parser(__doc__ or "")
    options.add_argument("--task", default="train", choices=["train", "decode"])
    add_sizes(options)
    options.add_argument("--units", type=int, default=1000, help="width of the layers")
    options.add_argument("--threads", type=int, default=THREADS, help="of TensorFlow")
    given = options.parse_args()
    limit_threads(given.threads)
    workers = 1
    if given.task == "decode":
        workers = workers_for(given.rows, xla=given.xla, threads=given.threads)
    from t2t_phrase import registry
    from t2t_phrase.models.luong import Luong

    registry.discover()
    hparams = registry.hparams["luong_base_feed"]().replace(
        attention_score="general",
        attention_positions=0,
        hidden_size=given.units,
        optimizer="adam",
        learning_rate_constant=0.0002,
        dtype_policy=given.dtype,
    )
    model = Luong.from_hparams(hparams, vocab_size=VOCAB, target_vocab_size=VOCAB)
    if given.task == "train":
        tokens = 2 * given.rows * given.length
        run = training(hparams, model, rows=given.rows, length=given.length, xla=given.xla)
    else:
        tokens = given.rows * given.target
        run = search_of(
            model,
            rows=given.rows,
            source=given.source,
            target=given.target,
            beam=given.beam,
            vocab_size=VOCAB,
            xla=given.xla,
            workers=workers,
        )
    before = matrix_rate(given.dtype)
    seconds = median_seconds(run, repeats=given.repeats)
    report(
        benchmark="recurrent",
        task=given.task,
        units=given.units,
        dtype=given.dtype,
        xla=given.xla,
        tokens_per_second=round(tokens / seconds),
        matrix_gflops=round((before + matrix_rate(given.dtype)) / 2e9),
    )


if __name__ == "__main__":
    run_script(main)

"""OpenNMT-tf on the work of our `train_step.py`, `decode.py` and `recurrent.py`.

`compare_toolkits.py` runs this script in a separate environment, Python 3.9 to 3.11:

    pip install tensorflow-cpu==2.13.1 OpenNMT-tf==2.32.0 "numpy<1.25"

The model is `TransformerBaseSharedEmbeddings` with its automatic configuration: LazyAdam, all
dropouts 0.1, label smoothing 0.1; with --model=recurrent it is `LuongAttention`, likewise: Adam,
dropout 0.2.
"""

from __future__ import annotations

import pathlib
import tempfile

from measure import limit_threads, median_seconds, random_ids, report
from toolkit_options import VOCAB, options

NAMES = {"transformer": "TransformerBaseSharedEmbeddings", "recurrent": "LuongAttention"}


def main() -> None:
    made = options(__doc__)
    made.add_argument("--model", choices=list(NAMES), default="transformer")
    args = made.parse_args()
    limit_threads()
    import opennmt
    import tensorflow as tf

    def features(rows: int, length: int) -> dict[str, tf.Tensor]:
        ids = tf.constant(random_ids(rows, length, VOCAB), tf.int64)
        return {"ids": ids, "length": tf.fill([rows], length)}

    with tempfile.TemporaryDirectory() as folder:
        # OpenNMT-tf adds one bucket for unknown words.
        tokens = ["<blank>", "<s>", "</s>", *(f"w{number}" for number in range(VOCAB - 4))]
        vocabulary = pathlib.Path(folder, "vocabulary")
        vocabulary.write_text("\n".join(tokens) + "\n")
        model = opennmt.models.get_model_from_catalog(NAMES[args.model])
        params = dict(model.auto_config()["params"])
        params |= {"beam_width": args.beam, "length_penalty": 0.6}
        params |= {"minimum_decoding_length": args.target, "maximum_decoding_length": args.target}
        sides = {"source_vocabulary": str(vocabulary), "target_vocabulary": str(vocabulary)}
        model.initialize(sides, params=params)
        if args.task == "train":
            optimizer = model.get_optimizer()
            sources, labels = features(args.rows, args.length), features(args.rows, args.length)
            labels["ids_out"] = tf.roll(labels["ids"], -1, axis=1)
            step = tf.function(lambda: model.train(sources, labels, optimizer))
            tokens = 2 * args.rows * args.length
            seconds = median_seconds(lambda: float(step()), repeats=args.repeats)
        else:
            model.create_variables()
            sources = features(args.rows, args.source)
            decode = tf.function(lambda: model(sources)[1])
            lengths = decode()["length"].numpy()
            assert (lengths == args.target).all(), "every output must have --target tokens"
            tokens = args.rows * args.target
            seconds = median_seconds(lambda: decode()["length"].numpy(), repeats=args.repeats)
    report(toolkit=f"OpenNMT-tf {opennmt.__version__}", tokens_per_second=round(tokens / seconds))


if __name__ == "__main__":
    main()

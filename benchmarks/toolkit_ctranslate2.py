"""CTranslate2 on the work of `decode.py`, for `compare_toolkits.py`.

    pip install ctranslate2==4.8.5

Random weights in CTranslate2's own description of `transformer_base`.
"""

from __future__ import annotations

import tempfile

import numpy as np
from measure import THREADS, median_seconds, random_ids, report
from toolkit_options import VOCAB, options

WIDTH, FILTER, LAYERS, HEADS = 512, 2048, 6, 8
TOKENS = ["<pad>", "</s>", "<unk>", *(f"w{number}" for number in range(VOCAB - 3))]


def save_model(folder: str) -> None:
    """Write a model with random weights."""
    from ctranslate2 import specs

    random = np.random.default_rng(0)

    def weights(*shape: int) -> np.ndarray:
        return (random.normal(size=shape) / shape[-1] ** 0.5).astype(np.float32)

    def dense(spec: object, units: int, width: int) -> None:
        spec.weight, spec.bias = weights(units, width), weights(units)

    def norm(spec: object) -> None:
        spec.gamma, spec.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)

    def feed_forward(spec: object) -> None:
        dense(spec.linear_0, FILTER, WIDTH)
        dense(spec.linear_1, WIDTH, FILTER)
        norm(spec.layer_norm)

    made = specs.TransformerSpec.from_config((LAYERS, LAYERS), HEADS)
    embedding = weights(VOCAB, WIDTH)
    made.encoder.embeddings[0].weight = embedding
    made.decoder.embeddings.weight = embedding
    made.decoder.projection.weight = embedding
    for side in (made.encoder, made.decoder):
        side.position_encodings.encodings = weights(512, WIDTH)
        norm(side.layer_norm)
        for layer in side.layer:
            attention = layer.self_attention
            dense(attention.linear[0], 3 * WIDTH, WIDTH)
            dense(attention.linear[1], WIDTH, WIDTH)
            norm(attention.layer_norm)
            feed_forward(layer.ffn)
    for layer in made.decoder.layer:
        for spec, factor in zip(layer.attention.linear, (1, 2, 1), strict=True):
            dense(spec, factor * WIDTH, WIDTH)
        norm(layer.attention.layer_norm)
    made.config.unk_token, made.config.eos_token = "<unk>", "</s>"
    made.config.bos_token = made.config.decoder_start_token = "<pad>"
    made.register_source_vocabulary(TOKENS)
    made.register_target_vocabulary(TOKENS)
    made.validate()
    made.optimize()
    made.save(folder)


def main() -> None:
    made = options(__doc__)
    made.add_argument("--compute_type", default="float32", choices=["float32", "int8", "bfloat16"])
    made.add_argument("--workers", type=int, default=1, help="batches at once, which share threads")
    args = made.parse_args()
    assert args.task == "decode", "CTranslate2 does not train"
    import ctranslate2

    with tempfile.TemporaryDirectory() as folder:
        save_model(folder)
        translator = ctranslate2.Translator(
            folder,
            device="cpu",
            compute_type=args.compute_type,
            inter_threads=args.workers,
            intra_threads=THREADS // args.workers,
        )
    sentences = [
        [TOKENS[number] for number in row] for row in random_ids(args.rows, args.source, VOCAB)
    ]

    def run() -> object:
        made = translator.translate_batch(
            sentences,
            beam_size=args.beam,
            max_batch_size=-(-args.rows // args.workers),
            min_decoding_length=args.target,
            max_decoding_length=args.target,
        )
        assert all(len(result.hypotheses[0]) == args.target for result in made)
        return made

    seconds = median_seconds(run, repeats=args.repeats)
    name = f"CTranslate2 {ctranslate2.__version__}, {args.compute_type}"
    name += f", in {args.workers} parts" if args.workers > 1 else ", whole"
    report(toolkit=name, tokens_per_second=round(args.rows * args.target / seconds))


if __name__ == "__main__":
    main()

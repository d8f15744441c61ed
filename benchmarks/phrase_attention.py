"""Cost of phrase-aware models, compared with the multiplications that their equations require.

    python benchmarks/phrase_attention.py [--xla] [--sets=phrase_interleaved_queryk_1_2]
    python benchmarks/phrase_attention.py --decode [--source=24] [--rows=32] [--xla]
    python benchmarks/phrase_attention.py --sets=representations [--base=transformer_base_untied]
    python benchmarks/phrase_attention.py --sets=granularities [--decode]

For each hparams set, prints the ratio of its multiply-adds to those of `transformer_base`, and the
ratio of the times measured in the same run. Steps of the two models alternate, so that changes in
the speed of the machine affect both. Training steps are those of `train_step.py`; with --decode,
the beam search is that of `decode.py`, with outputs 8 tokens longer than --source. --sets takes
names, or "attentions", "representations" or "granularities" for the sets of a paper.
"""

from __future__ import annotations

import argparse
import functools
import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

from granularities import granularity_cost, random_levels, random_tags
from measure import (
    base_model,
    limit_threads,
    parser,
    random_ids,
    report,
    search_parts,
    stepper_of,
    workers_for,
)
from script import run_script

ATTENTIONS = (
    "phrase_homogeneous_convkv_4_4",
    "phrase_homogeneous_queryk_4_4",
    "phrase_homogeneous_convkv_3_2_3",
    "phrase_homogeneous_queryk_3_2_3",
    "phrase_heterogeneous_convkv_1_2",
    "phrase_heterogeneous_queryk_1_2",
    "phrase_heterogeneous_convkv_1_2_3",
    "phrase_heterogeneous_queryk_1_2_3",
    "phrase_interleaved_convkv_1_2",
    "phrase_interleaved_queryk_1_2",
)
REPRESENTATIONS = (
    "phrase_representation_base_mean",
    "phrase_representation_base_max",
    "phrase_representation_base_max_attn",
    "phrase_representation_base_max_attn_ta",
    "phrase_representation_base_parse",
)
GRANULARITIES = (
    "mgsa_base_ngram_max",
    "mgsa_base_ngram_lstm",
    "mgsa_base_ngram_san",
    "mgsa_base_layers_1_6",
    "mgsa_base_syntax",
    "mgsa_base_syntax_lstm",
    "mgsa_base_syntax_onlstm",
)
GROUPS = {
    "attentions": ATTENTIONS,
    "representations": REPRESENTATIONS,
    "granularities": GRANULARITIES,
}
VOCAB = 32000
BEAMS, EXTRA = 4, 8


def attention_terms(hparams, position: str) -> tuple[float, float, float]:
    """Return the multiply-adds of an attention per query, per memory token, and per pair."""
    from t2t_phrase.models.phrase_transformer import PhraseHParams, attention_choice

    width, heads = hparams.hidden_size, hparams.num_heads
    if not isinstance(hparams, PhraseHParams):
        return 2 * width**2, 2 * width**2, 2 * width
    choice = attention_choice(hparams, position)
    if choice.attention == "none":
        return 2 * width**2, 2 * width**2, 2 * width
    structure, method = choice.attention.split("_")
    orders = choice.orders
    shares = [1.0] * len(orders)
    if structure == "homogeneous":
        shares = [count / heads for count in choice.head_counts]
    convolved = sum(n * share for n, share in zip(orders, shares, strict=True))
    attended = sum(shares)  # total width of the values of all orders, in D
    query = 1.0 if method == "convkv" else convolved
    output, rows = 1.0, 1
    if structure == "interleaved":
        query *= sum(orders)
        rows = len(orders)
        output = sum(orders) if position == "encoder" else len(orders)
    token_keys = 1.0 if hparams.share_key_projection else len(orders)
    keys = convolved if method == "convkv" else token_keys
    pair = rows * (attended + (attended if method == "convkv" else convolved))
    return (query + output) * width**2, (keys + convolved) * width**2, pair * width


def phrase_length(hparams, source: int) -> int:
    """Return the length of segments in a sentence of `source` tokens, parsed or not."""
    return hparams.phrase_length or max(min(8, source // 6), 3)


def representation_cost(hparams, source: int, queries: int) -> float:
    """Return the multiply-adds of phrase representations with `queries` decoder positions."""
    from t2t_phrase.models.phrase_representation import PhraseRepresentationHParams

    if not isinstance(hparams, PhraseRepresentationHParams):
        return 0.0
    width, phrases = hparams.hidden_size, -(-source // phrase_length(hparams, source))
    encoder = hparams.num_encoder_layers or hparams.num_hidden_layers
    decoder = hparams.num_decoder_layers or hparams.num_hidden_layers
    combination = hparams.phrase_combination_size or 3 * width
    per_query = 2 * width**2 + 3 * width * combination + 2 * width * phrases
    cost = per_query * (encoder * source + decoder * queries)
    cost += (encoder + decoder) * phrases * 2 * width**2  # keys and values
    if hparams.attentive_pooling:
        units = hparams.phrase_pooling_size or width
        pooling = (source + phrases) * width * units + source * (units + width)
        cost += (encoder + 1) * pooling
    if hparams.transparent_attention:
        cost += (encoder + 1) * decoder * phrases * width
    return cost


def encoder_cost(hparams, source: int) -> float:
    """Return the multiply-adds of the encoder for a sentence, without those of source phrases."""
    layers = hparams.num_encoder_layers or hparams.num_hidden_layers
    per_query, per_memory, per_pair = attention_terms(hparams, "encoder")
    attention = source * (per_query + per_memory + per_pair * source)
    cost = layers * (2 * hparams.hidden_size * hparams.filter_size * source + attention)
    return cost + granularity_cost(hparams, source, attention)


def forward_cost(hparams, source: int, target: int) -> float:
    """Return the multiply-adds of a sentence's forward pass; the backward pass takes twice that."""
    width, filters = hparams.hidden_size, hparams.filter_size
    decoder = hparams.num_decoder_layers or hparams.num_hidden_layers
    cost = encoder_cost(hparams, source)
    cost += 2 * width * filters * decoder * target + VOCAB * width * target
    for position, memory in (("decoder", target), ("cross", source)):
        per_query, per_memory, per_pair = attention_terms(hparams, position)
        cost += decoder * (target * (per_query + per_pair * memory) + per_memory * memory)
    return cost + representation_cost(hparams, source, target)


def decoding_cost(hparams, source: int, target: int, beams: int) -> float:
    """Return the multiply-adds of a sentence's beam search."""
    width, filters = hparams.hidden_size, hparams.filter_size
    decoder = hparams.num_decoder_layers or hparams.num_hidden_layers
    tokens = target * beams
    cost = encoder_cost(hparams, source)
    cost += tokens * (decoder * 2 * width * filters + VOCAB * width)
    per_query, per_memory, per_pair = attention_terms(hparams, "decoder")
    # The history contains all beams, and each beam is masked from the others.
    cost += decoder * tokens * (per_query + per_memory + per_pair * target * beams)
    per_query, per_memory, per_pair = attention_terms(hparams, "cross")
    cost += decoder * (tokens * (per_query + per_pair * source) + per_memory * source)
    return cost + representation_cost(hparams, source, tokens)


def source_features(hparams, rows: int, length: int, features) -> dict[str, object]:
    """Return a batch of random sources, with some features that the model reads.

    Raises:
        KeyError: a feature is none of phrases, levels and tags.
    """
    import numpy as np

    made: dict[str, Callable[[], np.ndarray]] = {
        "phrases": lambda: np.tile(
            np.arange(length, dtype="int32") // phrase_length(hparams, length) + 1, (rows, 1)
        ),
        "levels": lambda: random_levels(rows, length),
        "tags": lambda: random_tags(rows, length),
    }
    found = {feature.name: made[feature.name]() for feature in features}
    return {"inputs": random_ids(rows, length, VOCAB), **found}


def training(name: str, args: argparse.Namespace) -> tuple[Any, Callable[[int], None]]:
    """Return the hparams of a set and a function that makes an update with size x size tokens."""
    hparams, model = base_model(args.dtype, VOCAB, name)
    stepper = stepper_of(hparams, model, xla=args.xla)

    features_of = functools.cache(
        lambda size: source_features(hparams, args.rows or size, size, hparams.training_features)
    )

    def run(size: int) -> None:
        features = features_of(size)
        float(stepper.train({**features, "targets": features["inputs"]}).objective)

    return hparams, run


def decoding(name: str, args: argparse.Namespace) -> tuple[Any, Callable[[int], None]]:
    """Return the hparams of a set and a function that decodes sources of `size` tokens."""
    import numpy as np

    from t2t_phrase.compile import compiled, uses_xla
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.decoding.search.output_limits import OutputLimits
    from t2t_phrase.decoding.search.search_weights import prepare_weights
    from t2t_phrase.decoding.search.translate_ids import search

    hparams, model = base_model(args.dtype, VOCAB, name)

    @functools.cache
    def searching(length: int) -> Callable[..., Any]:
        options = DecodeHParams(beam_size=BEAMS, alpha=0.6, min_length=length, return_beams=True)
        return compiled(
            lambda weights, features: search(
                model,
                features,
                OutputLimits(np.full((features["inputs"].shape[0],), length, "int32"), length),
                options,
                weights=weights,
                growing=not uses_xla(args.xla),
            ),
            variables=model.variables,
            xla=args.xla,
        )

    # Once for all batches, as in `Translator`.
    weights = prepare_weights(model)
    features_of = functools.cache(
        lambda size: source_features(hparams, args.rows, size, hparams.features)
    )

    def run(size: int) -> None:
        search_parts(searching(size + EXTRA), weights, features_of(size), args.workers)

    return hparams, run


def seconds(run: Callable[[int], None], size: int) -> float:
    start = time.perf_counter()
    run(size)
    return time.perf_counter() - start


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--sizes", default="32,64", help="rows and length of both sides")
    made.add_argument("--sets", default="attentions", help="hparams sets, or a group of them")
    made.add_argument("--base", default="transformer_base", help="hparams set to compare with")
    made.add_argument("--decode", action="store_true", help="measure decoding, not training")
    made.add_argument("--source", type=int, default=24, help="tokens of a sentence to decode")
    made.add_argument(
        "--rows",
        type=int,
        help="sentences at once; default: 32 to decode, as many as tokens to train",
    )
    args = made.parse_args()
    if args.decode:
        args.rows = args.rows or 32
    limit_threads()
    if args.decode:
        args.workers = workers_for(args.rows, xla=args.xla)
    prepare = decoding if args.decode else training
    base_hparams, base = prepare(args.base, args)
    sizes = [args.source] if args.decode else [int(size) for size in args.sizes.split(",")]
    for name in GROUPS.get(args.sets) or args.sets.split(","):
        hparams, phrase = prepare(name, args)
        for size in sizes:
            if args.decode:
                arguments = (size, size + EXTRA, BEAMS)
                own, reference = (
                    decoding_cost(h, *arguments) / ((size + EXTRA) * BEAMS)
                    for h in (hparams, base_hparams)
                )
            else:
                own, reference = (
                    forward_cost(h, size, size) / size for h in (hparams, base_hparams)
                )
            base(size), phrase(size)
            pairs = [(seconds(base, size), seconds(phrase, size)) for _ in range(args.repeats)]
            measured = statistics.median(ours / theirs for theirs, ours in pairs)
            report(
                benchmark="phrase_attention",
                what=f"decode {args.rows}x{size}"
                if args.decode
                else f"train {args.rows or size}x{size}",
                hparams_set=name,
                base=args.base,
                dtype=args.dtype,
                xla=args.xla,
                mega_multiply_adds_per_token=round(own / 1e6, 1),
                arithmetic_ratio=round(own / reference, 3),
                measured_ratio=round(measured, 3),
                measured_over_arithmetic=round(measured / (own / reference), 3),
                base_seconds=round(statistics.median(theirs for theirs, _ in pairs), 3),
            )
        del phrase
        gc.collect()


if __name__ == "__main__":
    run_script(main)

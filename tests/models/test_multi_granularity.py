"""The model with multi-granularity self-attention: against loops, exactness, what is refused."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import pathlib
from typing import Any

import numpy as np
import pytest
from exact_models import (
    OPTIONS,
    TARGETS,
    VOCAB,
    assert_alone_equals_batched,
    assert_graph_and_xla_equal_eager,
    assert_searches_agree,
    assert_steps_equal_the_whole,
    batch_of,
    in_bfloat16,
    random_sources,
)
from random_weights import randomize
from reference_multi_granularity import ReferenceMultiGranularity, Segments
from small_phrase_models import SMALL
from under_backend import assert_same_under

from t2t_phrase import registry
from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.features import LEVELS
from t2t_phrase.models.multi_granularity import MultiGranularityTransformer
from t2t_phrase.models.multi_granularity_hparams import (
    MultiGranularityHParams,
    heads_of,
    with_granularities,
)

TREES = ("tokens", "level_1", "level_2", "level_3")
CHANGES: dict[str, dict[str, Any]] = {
    "attention": {"num_hidden_layers": 2},
    "max": {"composition": "max", "granularity_layers": (1, 2), "num_encoder_layers": 2},
    "lstm": {
        "composition": "lstm",
        "granularities": ("ngram_5", "tokens", "ngram_2"),
        "norm": "post",
    },
    "trees": {"granularities": TREES, "num_heads": 8},
    "trees_lstm": {
        "granularities": ("level_2", "level_1"),
        "composition": "lstm",
        "interaction": "lstm",
    },
    "trees_on_lstm": {
        "granularities": TREES,
        "interaction": "on_lstm",
        "on_lstm_chunk_size": 2,
    },
    # 2, 2, 1 and 1 heads; no sentence but the longest has a second segment of 16 tokens.
    "mixed_uneven": {
        "granularities": ("level_2", "tokens", "ngram_16", "ngram_3"),
        "composition": "max",
        "interaction": "lstm",
        "num_heads": 6,
        "hidden_size": 24,
    },
    "with_phrase_attention": {
        "interaction": "on_lstm",
        "on_lstm_chunk_size": 2,
        "decoder_attention": "heterogeneous_convkv",
        "cross_attention": "interleaved_queryk",
    },
}
BY_LOOPS = [name for name in CHANGES if name != "with_phrase_attention"]
LENGTHS = [1, 2, 17, 30]
SOURCES = random_sources(LENGTHS)


def levels_of(tokens: int) -> list[int]:
    """Return levels as a tree gives them; the same for all sentences of one length."""
    rng = np.random.default_rng(tokens)
    return [1, *rng.choice([1, 2, 3, 4, 21], size=max(tokens - 2, 0)).tolist(), 1][:tokens]


def segments_of(tokens: int) -> dict[str, Segments]:
    """Return the segments of every partition that the models have."""
    found: dict[str, Segments] = {}
    for order in (2, 3, 4, 5, 16):
        starts = [*range(0, tokens, order), tokens]
        found[f"ngram_{order}"] = [list(range(*pair)) for pair in itertools.pairwise(starts)]
    levels = levels_of(tokens)
    for depth in (1, 2, 3):
        starts = [*(i for i in range(tokens) if levels[i] <= depth), tokens]
        found[f"level_{depth}"] = [list(range(*pair)) for pair in itertools.pairwise(starts)]
    return found


NUMBERS = {"levels": levels_of}
FEATURES = batch_of(SOURCES, TARGETS, NUMBERS)
SHORT = batch_of(SOURCES[:3], TARGETS[:3], NUMBERS)


@functools.cache
def model_of(name: str) -> MultiGranularityTransformer:
    hparams = with_granularities(SMALL, **CHANGES[name])
    model = MultiGranularityTransformer.from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, seed=len(name))
    return model


@pytest.mark.parametrize("name", BY_LOOPS)
def test_logits_equal_loops_over_sentences(name: str) -> None:
    """Sentences of 1, 2, 17 and 30 tokens, padded to one batch."""
    model = model_of(name)
    hparams = model.hparams
    reference = ReferenceMultiGranularity(
        weights={
            v.path.split("/", 1)[1]: np.asarray(v, "float64") for v in model.trainable_variables
        },
        num_heads=hparams.num_heads,
        norm=hparams.norm,
        heads=heads_of(hparams),
        layers=hparams.granularity_layers,
        segments_of=segments_of,
        composition=hparams.composition,
        interaction=hparams.interaction,
        chunk_size=hparams.on_lstm_chunk_size,
    )
    for row, source, target in zip(np.asarray(model(FEATURES)), SOURCES, TARGETS, strict=True):
        expected = reference.logits(source, target)
        np.testing.assert_allclose(row[: len(target)], expected, atol=3e-5)


@pytest.mark.parametrize("name", ["max", "lstm", "trees_lstm", "mixed_uneven"])
def test_a_sentence_has_the_same_logits_alone_and_with_more_padding(name: str) -> None:
    assert_alone_equals_batched(model_of(name), SOURCES, TARGETS, NUMBERS)


def test_step_by_step_equals_the_whole_with_beams_that_branch() -> None:
    assert_steps_equal_the_whole(model_of("with_phrase_attention"), FEATURES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "lstm",
        "trees_on_lstm",
        "mixed_uneven",
    ],
)
def test_graph_and_xla_equal_eager_and_every_variable_learns(name: str) -> None:
    assert_graph_and_xla_equal_eager(model_of(name), SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["trees_on_lstm", "mixed_uneven"])
def test_searches_alone_of_unknown_shape_and_under_xla_equal_one_in_a_graph(name: str) -> None:
    assert_searches_agree(model_of(name), SHORT)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_jax_equals_tensorflow(tmp_path: pathlib.Path) -> None:
    models = {name: model_of(name) for name in ["trees_on_lstm"]}
    assert_same_under(models, SHORT, OPTIONS, tmp_path)


def test_mixed_precision_keeps_float32_variables_and_comes_close() -> None:
    in_bfloat16(model_of("trees_on_lstm"), FEATURES)


def test_the_weights_of_every_head_are_distributions_over_its_own_columns() -> None:
    model = model_of("trees")
    (weights,) = model.attention_weights(FEATURES)["encoder"]
    (layout,) = model.attention_maps()["encoder"].layouts
    partitions = model.partitions(FEATURES)
    assert weights.shape == (4, 8, 30, 30)
    assert [units.partition for units in layout.columns_by_head] == [
        *["", ""],
        *["level_1", "level_1", "level_2", "level_2", "level_3", "level_3"],
    ]
    np.testing.assert_allclose(np.sum(weights, -1), 1, atol=1e-5)
    for row, length in enumerate(LENGTHS):
        for head, units in enumerate(layout.columns_by_head):
            count = length
            if units.partition:
                count = len(segments_of(length)[units.partition])
                held = np.asarray(partitions[units.partition])[row]
                assert held.sum() == length and held.any(-1).sum() == count
            assert (np.asarray(weights)[row, head, :, count:] == 0).all()


def test_only_levels_of_trees_are_read_from_the_data() -> None:
    assert model_of("trees").hparams.features == (LEVELS,)
    assert model_of("attention").hparams.features == ()
    with pytest.raises(UserError, match="these sentences have no trees; parse them"):
        model_of("trees")({name: FEATURES[name] for name in ("inputs", "targets")})


@pytest.mark.parametrize(
    ("name", "longest"), [("lstm", 5), ("max", 4), ("trees", None), ("mixed_uneven", None)]
)
def test_only_n_grams_bound_the_length_of_segments(name: str, longest: int | None) -> None:
    attention = model_of(name).encoder_layers[0].self_attention
    assert attention.composition.longest == longest


def test_heads_are_dealt_equally_tokens_first() -> None:
    def heads(number: int, *names: str) -> list[str]:
        hparams = MultiGranularityHParams(
            hidden_size=120, num_heads=number, granularities=names, filter_size=8
        )
        return list(heads_of(hparams))

    assert heads(4, "tokens", "ngram_2") == ["tokens", "tokens", "ngram_2", "ngram_2"]
    assert heads(5, "ngram_2", "tokens", "level_3") == [
        *["tokens", "tokens"],
        *["ngram_2", "ngram_2"],
        "level_3",
    ]
    assert heads(1, "level_1") == ["level_1"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"granularities": ("tokens", "ngrams")}, "expected tokens, ngram_N or level_K, such as"),
        ({"granularities": ("tokens", "level_0")}, "expected tokens, ngram_N or level_K"),
        ({"granularities": ("tokens", "level_21")}, "level_21: trees are cut at 20 levels"),
        ({"granularities": ("ngram_1",)}, "ngram_1: segments have at least 2 and at most max_len"),
        ({"granularities": ("ngram_300",)}, "ngram_300: segments have at least 2 and at most"),
        ({"granularities": ("ngram_2", "ngram_2")}, "each may be given only once"),
        ({"granularities": ("tokens",)}, "none of .'tokens'. has segments; use model=transformer"),
        ({"granularities": ()}, r"none of \[\] has segments"),
        ({"num_heads": 2}, "4 of them need at least 4 heads, got num_heads=2"),
        ({"granularity_layers": (0,)}, r"strictly ascending integers, each at least 1, got \[0\]"),
        ({"granularity_layers": (7,)}, r"the encoder has 6 layers, got \[7\]"),
        ({"granularity_layers": ()}, "granularity_layers: must be strictly ascending"),
        ({"max_relative_position": 4}, "segments have no distance to tokens"),
        (
            {"interaction": "on_lstm", "on_lstm_chunk_size": 7},
            "on_lstm_chunk_size=7: must divide the head width, .* = 64, into two or more chunks",
        ),
        ({"interaction": "on_lstm", "on_lstm_chunk_size": 64}, "64, into two or more chunks"),
        ({"interaction": "lstm", "on_lstm_chunk_size": 4}, "only used with interaction=on_lstm"),
        (
            {"encoder_attention": "interleaved_queryk", "granularity_layers": (1, 2, 3, 4, 5, 6)},
            "encoder_attention=interleaved_queryk: is not used, since all layers of the encoder",
        ),
        ({"composition": "mean"}, "composition: expected one of max, lstm, attention, got 'mean'"),
    ],
)
def test_combinations_without_meaning_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(HParamsError, match=message):
        MultiGranularityHParams().replace(**changes)


def test_the_rows_of_the_paper_differ_in_what_they_say() -> None:
    registry.discover()

    def row(name: str) -> tuple[Any, ...]:
        hparams = registry.hparams[f"mgsa_{name}"]()
        assert isinstance(hparams, MultiGranularityHParams)
        syntactic = "level_1" in hparams.granularities
        return syntactic, hparams.composition, hparams.interaction, hparams.granularity_layers

    for name in ("max", "lstm", "san"):
        kind = {"san": "attention"}.get(name, name)
        for place in (f"base_ngram_{name}", f"ngram_{name}_multi30k", f"ngram_{name}_demo"):
            assert row(place) == (False, kind, "none", (1,)), place
    for last in range(1, 7):
        name = f"base_layers_1_{last}" if last > 1 else "base_layers_1"
        assert row(name) == (False, "attention", "none", tuple(range(1, last + 1)))
    for name, interaction in (("", "none"), ("_lstm", "lstm"), ("_onlstm", "on_lstm")):
        for place in (f"base_syntax{name}", f"syntax{name}_multi30k", f"syntax{name}_demo"):
            assert row(place) == (True, "attention", interaction, (1,)), place
    assert row("big") == (True, "attention", "on_lstm", (1,))

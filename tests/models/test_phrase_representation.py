"""The model with source phrase representations: against loops, exactness, what is refused."""

from __future__ import annotations

import functools
import importlib.util
import pathlib
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
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
from keras import ops
from mostly_slow import mostly_slow
from random_weights import randomize
from reference_phrase_representation import (
    Phrases,
    ReferencePhraseRepresentation,
    cut,
    cut_by_length,
)
from small_phrase_models import SMALL
from under_backend import assert_same_under, gradients_of

from t2t_phrase import registry
from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.features import PHRASES
from t2t_phrase.models.phrase_representation import (
    PhraseRepresentationHParams,
    PhraseRepresentationTransformer,
    with_phrase_representation,
)

CHANGES: dict[str, dict[str, Any]] = {
    "max_attn_ta": {"num_hidden_layers": 2},
    "mean": {
        "phrase_glance": "mean",
        "attentive_pooling": False,
        "transparent_attention": False,
        "norm": "post",
    },
    "fixed": {
        "phrases": "fixed",
        "phrase_length": 4,
        "attentive_pooling": False,
        "num_decoder_layers": 2,
        "share_source_embedding": False,
    },
    "parsed": {
        "phrases": "parsed",
        "phrase_pooling_size": 5,
        "phrase_combination_size": 9,
        "num_encoder_layers": 2,
    },
    "with_phrase_attention": {
        "encoder_attention": "interleaved_queryk",
        "decoder_attention": "heterogeneous_convkv",
        "cross_attention": "homogeneous_convkv",
        "cross_head_counts": (2, 2),
    },
}
ALL = list(CHANGES)
BY_LOOPS = [name for name in ALL if name != "with_phrase_attention"]
LENGTHS = [1, 2, 17, 60]
SOURCES = random_sources(LENGTHS)


def parse(tokens: int) -> Phrases:
    """Return phrases of 1 to 12 tokens, then EOS alone; the same for sentences of one length."""
    rng, phrases, start = np.random.default_rng(tokens), [], 0
    while start < tokens - 1:
        end = min(start + int(rng.integers(1, 13)), tokens - 1)
        phrases.append(list(range(start, end)))
        start = end
    return [*phrases, [tokens - 1]]


def phrase_numbers(tokens: int) -> list[int]:
    return [number for number, phrase in enumerate(parse(tokens), 1) for _ in phrase]


NUMBERS = {"phrases": phrase_numbers}
FEATURES = batch_of(SOURCES, TARGETS, NUMBERS)
SHORT = batch_of(SOURCES[:3], TARGETS[:3], NUMBERS)


@functools.cache
def model_of(name: str) -> PhraseRepresentationTransformer:
    hparams = with_phrase_representation(SMALL, **CHANGES[name])
    model = PhraseRepresentationTransformer.from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, seed=len(name))
    return model


def reference_of(name: str) -> ReferencePhraseRepresentation:
    model = model_of(name)
    hparams = model.hparams
    cuts = {"length": cut_by_length, "fixed": lambda tokens: cut(tokens, 4), "parsed": parse}
    return ReferencePhraseRepresentation(
        weights={
            v.path.split("/", 1)[1]: np.asarray(v, "float64") for v in model.trainable_variables
        },
        num_heads=hparams.num_heads,
        norm=hparams.norm,
        kind=hparams.phrase_glance,
        phrases_of=cuts[hparams.phrases],
    )


@pytest.mark.parametrize("name", BY_LOOPS)
def test_logits_equal_loops_over_sentences(name: str) -> None:
    """Sentences of 1, 2, 17 and 60 tokens, padded to one batch."""
    logits, reference = np.asarray(model_of(name)(FEATURES)), reference_of(name)
    for row, source, target in zip(logits, SOURCES, TARGETS, strict=True):
        expected = reference.logits(source, target)
        np.testing.assert_allclose(row[: len(target)], expected, atol=3e-5)


@pytest.mark.parametrize("name", mostly_slow(ALL, "max_attn_ta", "parsed"))
def test_a_sentence_has_the_same_phrases_and_logits_alone_and_with_more_padding(name: str) -> None:
    model = model_of(name)
    phrases = np.asarray(model.membership(batch_of(SOURCES, TARGETS, NUMBERS, extra=3)))
    for i, source in enumerate(SOURCES):
        alone = np.asarray(model.membership(batch_of([source], [[1]], NUMBERS)))[0]
        np.testing.assert_array_equal(phrases[i, : len(alone), : len(source)], alone)
        assert phrases[i].sum() == alone.sum() == len(source)
    assert_alone_equals_batched(model, SOURCES, TARGETS, NUMBERS)


@pytest.mark.parametrize("name", mostly_slow(ALL, "max_attn_ta", "parsed"))
def test_step_by_step_equals_the_whole_with_beams_that_branch(name: str) -> None:
    assert_steps_equal_the_whole(model_of(name), FEATURES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["max_attn_ta", "parsed"])
def test_graph_and_xla_equal_eager_and_every_variable_learns(name: str) -> None:
    assert_graph_and_xla_equal_eager(model_of(name), SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["max_attn_ta", "parsed"])
def test_searches_alone_of_unknown_shape_and_under_xla_equal_one_in_a_graph(name: str) -> None:
    assert_searches_agree(model_of(name), SHORT)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_jax_equals_tensorflow(tmp_path: pathlib.Path) -> None:
    models = {name: model_of(name) for name in ["parsed"]}
    assert_same_under(models, SHORT, OPTIONS, tmp_path)


@pytest.mark.slow
def test_mixed_precision_keeps_float32_variables_and_comes_close() -> None:
    model = model_of("max_attn_ta")
    mixed = in_bfloat16(model, FEATURES)
    flat = [
        np.concatenate([np.ravel(tf.cast(g, tf.float32)) for g in gradients_of(m, SHORT)])
        for m in (mixed, model)
    ]
    assert flat[0] @ flat[1] > 0.98 * np.linalg.norm(flat[0]) * np.linalg.norm(flat[1])
    found = translate_ids(mixed, {"inputs": SHORT["inputs"]}, OPTIONS)
    assert np.isfinite(found.scores[:, 0]).all()


def test_weights_survive_a_file(tmp_path: pathlib.Path) -> None:
    model = model_of("with_phrase_attention")
    model.save_weights(tmp_path / "model.weights.h5")
    other = PhraseRepresentationTransformer.from_hparams(model.hparams, vocab_size=VOCAB)
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other(FEATURES), model(FEATURES))


def test_the_weights_of_all_attentions_are_distributions() -> None:
    model = model_of("max_attn_ta")
    weights = model.attention_weights(FEATURES)
    rows, heads, source, target, slots = 4, 4, 60, 6, 8
    shapes = {
        "encoder": 2 * [(rows, heads, source, source)],
        "encoder_phrases": 2 * [(rows, heads, source, slots)],
        "pooling": 3 * [(rows, slots, source)],
        "decoder": 2 * [(rows, heads, target, target)],
        "cross": 2 * [(rows, heads, target, source)],
        "decoder_phrases": 2 * [(rows, heads, target, slots)],
    }
    assert {name: [tuple(w.shape) for w in found] for name, found in weights.items()} == shapes
    phrases = [1, 1, 6, 8]
    for name in ("encoder_phrases", "decoder_phrases"):
        for found in weights[name]:
            np.testing.assert_allclose(np.sum(found, -1), 1, atol=1e-5)
            for row, count in zip(np.asarray(found), phrases, strict=True):
                assert (row[..., count:] == 0).all()
    for found in weights["pooling"]:
        sums = np.arange(slots) < np.array(phrases)[:, None]
        np.testing.assert_allclose(np.sum(found, -1), sums, atol=1e-5)


def test_decoder_layers_read_their_own_mixture_or_the_last_phrases() -> None:
    mixed = model_of("max_attn_ta").encode(FEATURES).memory["phrases"]
    assert len(mixed) == 2
    assert np.abs(mixed[0] - mixed[1]).max() > 1e-3
    model = model_of("mean")
    memory = model.encode(FEATURES).memory
    last, _ = model.memory_pooling(memory["tokens"], model.membership(FEATURES))
    for phrases in memory["phrases"]:
        np.testing.assert_array_equal(phrases, last)


def test_phrases_of_a_sentence_are_projected_once() -> None:
    few = model_of("max_attn_ta").prepare_memory(FEATURES)["layers"][0]["segments"]
    many = model_of("parsed").prepare_memory(FEATURES)["layers"][0]["segments"]
    assert few["key"].shape == (4, 16, 4 * 8)  # (B, D, H P): any tokens, few phrases
    assert many["key"].shape == (4, 4, 4, 60)  # (B, H, d_k, P)


@pytest.mark.parametrize("index", [0, 1])
def test_every_layer_reads_its_own_folded_weights(index: int) -> None:
    model = model_of("max_attn_ta")
    folded = model.fold_weights()
    usual = model.prepare_memory(FEATURES, folded)["layers"]

    def with_twice(side: str) -> list[Any]:
        layers = list(folded[side])
        layers[index] = {"value_maps": 2 * layers[index]["value_maps"]}
        return model.prepare_memory(FEATURES, {**folded, side: layers})["layers"]

    changed = with_twice("encoder")
    assert np.abs(changed[0]["source"]["key"] - usual[0]["source"]["key"]).max() > 1e-3
    changed = with_twice("decoder")
    for layer, (new, old) in enumerate(zip(changed, usual, strict=True)):
        times = 2 if layer == index else 1
        np.testing.assert_array_equal(new["segments"]["value"], times * old["segments"]["value"])


def test_only_parsed_phrases_are_read_from_the_data() -> None:
    assert model_of("parsed").hparams.features == (PHRASES,)
    assert model_of("max_attn_ta").hparams.features == ()
    features = {name: FEATURES[name] for name in ("inputs", "targets")}
    np.testing.assert_array_equal(
        model_of("max_attn_ta")(features), model_of("max_attn_ta")(FEATURES)
    )
    with pytest.raises(UserError, match="phrases=parsed: these sentences have no phrases"):
        model_of("parsed")(features)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phrases": "fixed"}, "phrase_length: phrases=fixed needs the number of tokens"),
        ({"phrase_length": 3}, "phrase_length=3: is only used with phrases=fixed, got phra"),
        ({"phrase_length": -1}, "phrase_length: must not be negative, got -1"),
        (
            {"phrases": "fixed", "phrase_length": 9, "max_length": 8},
            "phrase_length=9: no sentence of max_length=8 tokens has a second phrase",
        ),
        (
            {"attentive_pooling": False, "phrase_pooling_size": 8},
            "phrase_pooling_size=8: is not used with attentive_pooling=false",
        ),
        ({"phrase_combination_size": -4}, "phrase_combination_size: must not be negative, got -4"),
        ({"phrase_glance": "sum"}, "phrase_glance: expected one of max, mean, got 'sum'"),
        (
            {"share_source_embedding": False, "shared_embedding_and_softmax_weights": False},
            "share_source_embedding=False: is not used with shared_embedding_and_softmax",
        ),
    ],
)
def test_combinations_without_meaning_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(HParamsError, match=message):
        PhraseRepresentationHParams().replace(**changes)


def test_the_rows_of_the_paper_differ_in_what_they_say() -> None:
    registry.discover()

    def row(name: str) -> tuple[Any, ...]:
        hparams = registry.hparams[f"phrase_representation_{name}"]()
        assert isinstance(hparams, PhraseRepresentationHParams)
        return (
            hparams.phrases,
            hparams.phrase_glance,
            hparams.attentive_pooling,
            hparams.transparent_attention,
        )

    rows = {
        "mean": ("length", "mean", False, False),
        "max": ("length", "max", False, False),
        "max_attn": ("length", "max", True, False),
        "max_attn_ta": ("length", "max", True, True),
        "parse": ("parsed", "max", True, True),
    }
    for name, expected in rows.items():
        for place in (f"base_{name}", f"{name}_multi30k", f"{name}_demo"):
            assert row(place) == expected, place
    assert row("big") == rows["max_attn_ta"]


@pytest.mark.parametrize("size", ["base", "big"])
def test_the_papers_recipe(size: str) -> None:
    """D^-1/2 min(s^-1/2, s 8000^-3/2), Adam (0.9, 0.98, 1e-9), embeddings of each side."""
    registry.discover()
    plain = registry.hparams[f"transformer_{size}_untied"]()
    name = "phrase_representation_big" if size == "big" else "phrase_representation_base_max"
    hparams = registry.hparams[name]()
    for one in (plain, hparams):
        assert (one.optimizer_adam_beta1, one.optimizer_adam_beta2) == (0.9, 0.98)
        assert (one.learning_rate_constant, one.learning_rate_warmup_steps) == (1.0, 8000)
        assert one.shared_embedding_and_softmax_weights
        assert not one.share_source_embedding
        assert one.layer_prepostprocess_dropout == (0.3 if size == "big" else 0.1)
    assert {key: vars(hparams)[key] for key in vars(plain)} == vars(plain)


def test_long_fixed_phrases_are_pooled_whole() -> None:
    registry.discover()
    hparams = registry.hparams["phrase_representation_max_attn_ta_demo"]().replace(
        phrases="fixed", phrase_length=12, attentive_pooling=False
    )
    model = PhraseRepresentationTransformer(hparams, vocab_size=50)
    x = np.zeros((1, 12, 4), "float32")
    x[0, 0] = 1.0
    phrases, _ = model.make_pooling("pooling")(ops.array(x), ops.ones((1, 1, 12), "bool"))
    np.testing.assert_array_equal(phrases, np.ones((1, 1, 4)))

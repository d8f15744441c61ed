"""The lexical model and the alignment model: against loops, exactness, warm start, refusals."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import numpy as np
import pytest
from exact_alignments import (
    assert_aligned_steps_equal_the_whole,
    assert_no_translation_alone,
    random_positions,
)
from exact_models import (
    TARGETS,
    VOCAB,
    assert_alone_equals_batched,
    assert_graph_and_xla_equal_eager,
    batch_of,
    in_bfloat16,
    random_sources,
)
from random_weights import randomize
from reference_alignment import ReferenceAlignmentModel, ReferenceLexicalModel
from reference_transformer import smoothed_loss
from small_phrase_models import SMALL

from t2t_phrase import registry
from t2t_phrase.config import HParamsError
from t2t_phrase.features import ALIGNMENT
from t2t_phrase.models.alignment_assisted import (
    AlignmentAssistedTransformer,
    with_alignment_heads,
)
from t2t_phrase.models.alignment_model import AlignmentModel, with_jumps
from t2t_phrase.models.phrase_transformer import PhraseTransformer, with_phrase_attention
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.warm_start import warm_start

LENGTHS = [3, 2, 17, 60]
SOURCES = random_sources(LENGTHS)
positions_of = random_positions(SOURCES, TARGETS)
NUMBERS = {"alignment": positions_of}
FEATURES = batch_of(SOURCES, TARGETS, NUMBERS)
SHORT = batch_of(SOURCES[:3], TARGETS[:3], NUMBERS)
HPARAMS: dict[str, Any] = {
    "plain": with_alignment_heads(SMALL.replace(num_hidden_layers=2)),
    "post_norm": with_alignment_heads(SMALL, norm="post", max_relative_position=2),
    "phrases": with_alignment_heads(
        with_phrase_attention(SMALL, "interleaved_queryk"), encoder_attention="none"
    ),
    "jumps": with_jumps(SMALL.replace(num_hidden_layers=2)),
    "jumps_relative": with_jumps(SMALL, pos="none", max_relative_position=3),
    "jumps_post_norm": with_jumps(SMALL, norm="post", share_source_embedding=False),
}
LEXICAL = ["plain", "post_norm", "phrases"]
JUMPS = ["jumps", "jumps_relative", "jumps_post_norm"]


@functools.cache
def model_of(name: str) -> Any:
    hparams = HPARAMS[name]
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, seed=len(name))
    return model


def reference_of(name: str, kind: Any, **options: Any) -> Any:
    model = model_of(name)
    hparams = model.hparams
    weights = {v.path.split("/", 1)[1]: np.asarray(v, "float64") for v in model.trainable_variables}
    return kind(
        weights=weights,
        num_heads=hparams.num_heads,
        norm=hparams.norm,
        timing=hparams.pos == "timing",
        limit=hparams.max_relative_position,
        **options,
    )


@pytest.mark.parametrize("name", ["plain", "post_norm"])
def test_logits_of_words_equal_loops_over_sentences(name: str) -> None:
    logits = np.asarray(model_of(name)(FEATURES))
    for row, source, target in zip(logits, SOURCES, TARGETS, strict=True):
        aligned = positions_of(len(target))
        reference = reference_of(name, ReferenceLexicalModel, alignment=aligned)
        np.testing.assert_allclose(row[: len(target)], reference.logits(source, target), atol=3e-5)


@pytest.mark.parametrize("name", JUMPS)
def test_log_probabilities_of_jumps_equal_loops_over_sentences(name: str) -> None:
    model, reference = model_of(name), reference_of(name, ReferenceAlignmentModel)
    logits = np.asarray(model(FEATURES))
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    scores = np.asarray(model.token_log_probabilities(FEATURES))
    objective = 0.0
    for b, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        aligned = positions_of(len(target))
        expected = reference.jump_log_probs(source, target, aligned)
        np.testing.assert_allclose(log_probs[b, : len(target)], expected, atol=3e-5)
        for i, (previous, place) in enumerate(zip([-1, *aligned], aligned, strict=False)):
            log_prob = reference.position_log_prob(expected[i], previous, place)
            assert scores[b, i] == pytest.approx(log_prob, abs=3e-5)
            jump = min(100, max(-100, place - previous)) + 100
            objective += smoothed_loss(expected[i], jump, model.hparams.label_smoothing)
    loss = model.batch_loss(FEATURES)
    assert float(loss.objective) == pytest.approx(objective, rel=1e-5)
    assert set(loss.means) == {"loss", "nll", "accuracy", "clipped"}


def test_clipped_jumps_are_counted_and_padding_is_not() -> None:
    features = {
        "inputs": np.array([[*[5] * 149, 1]], "int32"),
        "targets": np.array([[7, 8, 9, 1, 0, 0]], "int32"),
        "alignment": np.array([[120, 5, 5, 149, 0, 0]], "int32"),
    }
    clipped = model_of("jumps").batch_loss(features).means["clipped"]
    assert (float(clipped.total), float(clipped.count)) == (3.0, 4.0)


@pytest.mark.parametrize("name", HPARAMS)
def test_a_sentence_alone_equals_that_in_a_batch(name: str) -> None:
    assert_alone_equals_batched(model_of(name), SOURCES, TARGETS, NUMBERS)


@pytest.mark.parametrize("name", ["plain", "jumps"])
def test_a_position_past_the_source_is_none_even_where_the_row_is_longer(name: str) -> None:
    def past(length: int) -> list[int]:
        return [len(SOURCES[0]) + 1] * length

    numbers = {"alignment": past}
    alone = model_of(name)(batch_of(SOURCES[:1], TARGETS[:1], numbers))[0]
    together = model_of(name)(batch_of(SOURCES, TARGETS, numbers))[0]
    np.testing.assert_allclose(together[: len(alone)], alone, atol=1e-5)


@pytest.mark.parametrize("name", HPARAMS)
def test_step_by_step_equals_the_whole_with_beams_that_branch(name: str) -> None:
    assert_aligned_steps_equal_the_whole(model_of(name), FEATURES["inputs"], LENGTHS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["phrases", "post_norm", "jumps_relative"])
def test_graph_and_xla_equal_eager_and_every_variable_learns(name: str) -> None:
    assert_graph_and_xla_equal_eager(model_of(name), SHORT)


@pytest.mark.parametrize("name", ["plain", "jumps"])
def test_mixed_precision_keeps_float32_variables_and_comes_close(name: str) -> None:
    in_bfloat16(model_of(name), FEATURES)


@pytest.mark.parametrize("name", ["plain", "jumps"])
def test_the_weights_of_all_attentions_have_a_map(name: str) -> None:
    model = model_of(name)
    weights = model.attention_weights(SHORT)
    assert set(weights) == set(model.attention_maps())
    for kind, attention in model.attention_maps().items():
        heads = [layout.num_heads for layout in attention.layouts]
        assert heads == [found.shape[1] for found in weights[kind]]


@pytest.mark.parametrize("kind", ["none", "interleaved_queryk"])
def test_a_warm_start_computes_what_the_baseline_does(kind: Any, tmp_path: pathlib.Path) -> None:
    if kind == "none":
        baseline: Any = Transformer.from_hparams(SMALL, vocab_size=VOCAB)
    else:
        hparams = with_phrase_attention(SMALL, kind)
        baseline = PhraseTransformer.from_hparams(hparams, vocab_size=VOCAB)
    randomize(baseline, seed=3)
    stored = checkpoints.model_variables(baseline)
    checkpoints.write(tmp_path / "model.ckpt-7", model=stored, step=7)
    hparams = with_alignment_heads(baseline.hparams)
    model = AlignmentAssistedTransformer.from_hparams(hparams, vocab_size=VOCAB)
    report = warm_start(model, tmp_path).report
    assert report.missing == (
        "decoder_layer_0/alignment_head/value/kernel",
        "decoder_layer_0/alignment_head/output/kernel",
    )
    assert not report.mismatched
    assert not report.unused
    np.testing.assert_array_equal(model(FEATURES), baseline(FEATURES))


def test_the_alignment_model_takes_a_baselines_encoder_and_self_attention(
    tmp_path: pathlib.Path,
) -> None:
    baseline = Transformer.from_hparams(SMALL, vocab_size=VOCAB)
    checkpoints.write(
        tmp_path / "model.ckpt-7", model=checkpoints.model_variables(baseline), step=7
    )
    model = AlignmentModel.from_hparams(with_jumps(SMALL), vocab_size=VOCAB)
    assert warm_start(model, tmp_path).report.missing == ("jump/kernel",)


@pytest.mark.parametrize("name", ["plain", "jumps"])
def test_none_of_them_translates_alone(name: str) -> None:
    assert_no_translation_alone(model_of(name), SHORT)


def test_what_they_read_and_refuse() -> None:
    for name in HPARAMS:
        assert HPARAMS[name].features == (ALIGNMENT,)
    with pytest.raises(HParamsError, match="an alignment model has no softmax over words"):
        with_jumps(SMALL, shared_embedding_and_softmax_weights=False)


def test_registered_sets_are_the_baselines_with_alignments() -> None:
    registry.discover()
    for size in ("base", "multi30k", "demo", "10k", "30k"):
        plain = registry.hparams[f"transformer_{size}"]()
        for family in ("alignment_assisted", "alignment_model"):
            hparams = registry.hparams[f"{family}_{size}"]()
            assert {key: vars(hparams)[key] for key in vars(plain)} == vars(plain)
    for size in ("base", "multi30k", "demo"):
        end = "" if size == "base" else f"_{size}"
        phrases = f"phrase_interleaved_queryk_1_2{end}"
        hparams = registry.hparams[f"alignment_assisted_{phrases}"]()
        assert vars(hparams) == vars(registry.hparams[phrases]())

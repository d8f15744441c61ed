"""The recurrent lexical and alignment models: against loops, exactness, warm start, refusals."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import numpy as np
import pytest
import reference_lstm
import reference_luong
from exact_alignments import (
    assert_aligned_steps_equal_the_whole,
    assert_no_translation_alone,
    random_positions,
)
from exact_models import (
    VOCAB,
    assert_alone_equals_batched,
    assert_graph_and_xla_equal_eager,
    batch_of,
    in_bfloat16,
    random_sources,
)
from mostly_slow import mostly_slow
from random_weights import randomize
from reference_transformer import smoothed_loss
from small_alignment_rnns import JUMPS, LEXICAL, SMALL

from t2t_phrase import registry
from t2t_phrase.config import HParamsError
from t2t_phrase.features import ALIGNMENT
from t2t_phrase.models.alignment_assisted_rnn import AlignmentAssistedRnn, with_biased_attention
from t2t_phrase.models.alignment_model_rnn import AlignmentModelRnn
from t2t_phrase.models.luong import Luong
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.ops.jumps import CLASSES, MOST
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.warm_start import warm_start

HPARAMS: dict[str, LuongHParams] = {**LEXICAL, **JUMPS}
FEW = ["general", "jumps"]
SOURCES = random_sources([5, 2, 11])
TARGETS = [[7, 8, 9, 1], [4, 1], [9, 4, 3, 5, 1]]
positions_of = random_positions(SOURCES, TARGETS)
NUMBERS = {"alignment": positions_of}
FEATURES = batch_of(SOURCES, TARGETS, NUMBERS)


@functools.cache
def model_of(name: str) -> Any:
    hparams = HPARAMS[name]
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, seed=len(name), deviation=0.5)
    return model


def below(model: Any, prefix: str) -> dict[str, np.ndarray]:
    start = f"{model.name}/{prefix}"
    return {
        v.path.removeprefix(start): np.asarray(v, "float64")
        for v in model.trainable_variables
        if v.path.startswith(start)
    }


def read_source(model: Any, row: int) -> tuple[Any, Any]:
    """Return the encoder's states of one layer in both directions, and the last of them."""
    x = [below(model, "source_embedding/")["embeddings"][token] for token in SOURCES[row]]
    forwards, end = reference_lstm.run(x, below(model, "encoder_layer_0/forwards/"))
    backwards, start = reference_lstm.run(
        x, below(model, "encoder_layer_0/backwards/"), reverse=True
    )
    memory = [[*a, *b] for a, b in zip(forwards, backwards, strict=True)]
    return memory, tuple([*a, *b] for a, b in zip(end, start, strict=True))


def inputs_of(model: Any, row: int) -> list[Any]:
    table = below(model, "target_embedding/")["embeddings"]
    return [np.zeros(SMALL.hidden_size), *(table[token] for token in TARGETS[row][:-1])]


def normalised(logits: np.ndarray) -> np.ndarray:
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def test_words_equal_loops_over_time() -> None:
    model = model_of("feeding")
    logits = np.asarray(model(FEATURES))
    (weights,) = model.attention_weights(FEATURES)["cross"]
    for row, target in enumerate(TARGETS):
        memory, state = read_source(model, row)
        hidden, attended = reference_luong.decode(
            inputs_of(model, row),
            memory,
            [below(model, "decoder/layer_0/")],
            below(model, "decoder/attention/"),
            state=[state],
            feeding=True,
            kind="concat",
            attention="global",
            alignment=positions_of(len(target)),
        )
        expected = np.array(hidden) @ below(model, "softmax/")["embeddings"].T
        np.testing.assert_allclose(logits[row, : len(target)], expected, atol=1e-5)
        shape = np.shape(attended)
        np.testing.assert_allclose(weights[row, 0, : shape[0], : shape[1]], attended, atol=1e-5)


def test_jumps_equal_loops_over_time() -> None:
    model = model_of("jumps")
    log_probs = normalised(np.asarray(model(FEATURES)))
    scores = np.asarray(model.token_log_probabilities(FEATURES))
    objective = 0.0
    for row, target in enumerate(TARGETS):
        memory, state = read_source(model, row)
        layer = below(model, "decoder/layer_0/")
        states, _ = reference_lstm.run(inputs_of(model, row), layer, state=state)
        aligned = positions_of(len(target))
        for i, own in enumerate(states):
            read = memory[aligned[i - 1]] if i else np.zeros(SMALL.hidden_size)
            logits = (np.array(own) + read) @ below(model, "jump/")["embeddings"].T
            assert len(logits) == CLASSES
            expected = normalised(logits)
            np.testing.assert_allclose(log_probs[row, i], expected, atol=1e-5)
            jump = aligned[i] - (aligned[i - 1] if i else -1) + MOST
            assert scores[row, i] == pytest.approx(expected[jump], abs=1e-5)
            objective += smoothed_loss(expected, jump, model.hparams.label_smoothing)
    loss = model.batch_loss(FEATURES)
    assert float(loss.objective) == pytest.approx(objective, rel=1e-5)
    assert set(loss.means) == {"loss", "nll", "accuracy", "clipped"}


@pytest.mark.parametrize("name", mostly_slow(HPARAMS, *FEW))
def test_a_sentence_alone_equals_that_in_a_batch(name: str) -> None:
    assert_alone_equals_batched(model_of(name), SOURCES, TARGETS, NUMBERS)


@pytest.mark.parametrize(
    "name", ["feeding", "jumps", pytest.param("general", marks=pytest.mark.slow)]
)
def test_step_by_step_equals_the_whole_with_beams_that_branch(name: str) -> None:
    lengths = [len(source) for source in SOURCES]
    assert_aligned_steps_equal_the_whole(
        model_of(name), FEATURES["inputs"], lengths, beam_size=2, length=3
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", HPARAMS)
def test_graph_and_xla_equal_eager_and_every_variable_learns(name: str) -> None:
    assert_graph_and_xla_equal_eager(model_of(name), FEATURES)


@pytest.mark.slow
@pytest.mark.parametrize("name", HPARAMS)
def test_mixed_precision_keeps_float32_variables_and_comes_close(name: str) -> None:
    in_bfloat16(model_of(name), FEATURES)


@pytest.mark.parametrize("score", ["general", pytest.param("concat", marks=pytest.mark.slow)])
def test_a_warm_start_computes_what_the_baseline_does(score: Any, tmp_path: pathlib.Path) -> None:
    baseline = Luong.from_hparams(SMALL.replace(attention_score=score), vocab_size=VOCAB)
    randomize(baseline, seed=3)
    stored = checkpoints.model_variables(baseline)
    checkpoints.write(tmp_path / "model.ckpt-7", model=stored, step=7)
    hparams = with_biased_attention(baseline.hparams)
    model = AlignmentAssistedRnn.from_hparams(hparams, vocab_size=VOCAB)
    report = warm_start(model, tmp_path).report
    assert report.missing == ("decoder/attention/bias",)
    assert not report.mismatched
    assert not report.unused
    np.testing.assert_allclose(model(FEATURES), baseline(FEATURES), rtol=0, atol=1e-6)


def test_the_alignment_model_takes_a_baselines_encoder_and_embeddings(
    tmp_path: pathlib.Path,
) -> None:
    baseline = Luong.from_hparams(SMALL, vocab_size=VOCAB)
    stored = checkpoints.model_variables(baseline)
    checkpoints.write(tmp_path / "model.ckpt-7", model=stored, step=7)
    report = warm_start(model_of("jumps"), tmp_path).report
    # The lowest layer of a decoder with input feeding is wider.
    assert report.missing == ("jump/embeddings",)
    assert [name.split(":")[0] for name in report.mismatched] == ["decoder/layer_0/kernel"]
    model_of.cache_clear()


@pytest.mark.parametrize("name", ["feeding", "jumps"])
def test_none_of_them_translates_alone(name: str) -> None:
    assert_no_translation_alone(model_of(name), FEATURES)


def test_what_they_read_and_refuse() -> None:
    for hparams in HPARAMS.values():
        assert hparams.features == (ALIGNMENT,)
    for wrong, message in (
        ({"attention": "none", "attention_score": "dot", "input_feeding": False}, "attention=none"),
        ({"attention_score": "location", "attention_positions": 9}, "has no keys that an"),
    ):
        with pytest.raises(HParamsError, match=message):
            with_biased_attention(SMALL, **wrong)
    with pytest.raises(HParamsError, match="attends to aligned positions only"):
        JUMPS["jumps"].replace(attention="global")


def test_registered_sets_are_the_baseline_with_alignments() -> None:
    registry.discover()
    for size in ("base", "multi30k", "demo"):
        plain = registry.hparams[f"rnn_attention_{size}"]()
        lexical = registry.hparams[f"alignment_assisted_rnn_{size}"]()
        assert vars(lexical) == vars(plain)
        jumps = registry.hparams[f"alignment_model_rnn_{size}"]()
        changed = {key for key, value in vars(plain).items() if vars(jumps)[key] != value}
        assert changed == {"attention", "attention_score", "input_feeding"}
        models = [registry.models[hparams.model] for hparams in (lexical, jumps)]
        assert models == [AlignmentAssistedRnn, AlignmentModelRnn]

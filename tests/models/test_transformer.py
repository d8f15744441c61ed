from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import reference_beam_search
import tensorflow as tf
from mostly_slow import mostly_slow
from reference_transformer import smoothed_loss

from t2t_phrase.compile import compiled
from t2t_phrase.config import HParamsError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.output_limits import OutputLimits
from t2t_phrase.decoding.search.translate_ids import search, translate_ids
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.special_ids import EOS_ID

SMALL: dict[str, Any] = {
    "hidden_size": 16,
    "filter_size": 24,
    "num_heads": 4,
    "num_hidden_layers": 1,
}


VARIANTS = ("pre_norm", "post_norm", "relative", "unshared")  # of `twins`


def test_logits_equal_the_reference(twins: Any, sentences: list, features: dict) -> None:
    logits = np.asarray(twins.model(features))
    assert logits.dtype == np.float32
    for row, (source, target) in zip(logits, sentences, strict=True):
        expected = twins.reference.logits(source, target)
        np.testing.assert_allclose(row[: len(target)], expected, atol=1e-5)


def test_a_sentence_has_the_same_logits_alone_and_with_more_padding(
    twins: Any, sentences: list, features: dict
) -> None:
    together = np.asarray(twins.model(features))
    wider = {name: np.pad(ids, [(0, 1), (0, 4)]) for name, ids in features.items()}
    in_wider = np.asarray(twins.model(wider))
    assert np.isfinite(in_wider).all(), "a row of nothing but padding must not give NaN"
    for i, (source, target) in enumerate(sentences):
        pair = {"inputs": np.array([source]), "targets": np.array([target])}
        alone = np.asarray(twins.model(pair))[0]
        np.testing.assert_allclose(together[i, : len(target)], alone, atol=1e-5)
        np.testing.assert_allclose(in_wider[i, : len(target)], alone, atol=1e-5)


def test_nothing_flows_from_the_future(twins: Any, features: dict) -> None:
    logits = np.asarray(twins.model(features))
    for position in (1, 4):
        targets = features["targets"].copy()
        # The logits at a position have read the targets before it, not its own.
        targets[2, position:] = 1 + (targets[2, position:] + 3) % 17
        moved = np.asarray(twins.model({**features, "targets": targets}))
        np.testing.assert_array_equal(moved[2, : position + 1], logits[2, : position + 1])
        assert np.abs(moved[2, position + 1] - logits[2, position + 1]).max() > 1e-4


def test_the_loss_equals_the_reference(twins: Any, sentences: list, features: dict) -> None:
    loss = twins.model.batch_loss(features)
    expected = dict.fromkeys(("loss", "nll", "accuracy"), 0.0)
    tokens = 0
    for source, target in sentences:
        for logits, label in zip(twins.reference.logits(source, target), target, strict=True):
            expected["loss"] += smoothed_loss(logits, label, 0.1)
            expected["nll"] += smoothed_loss(logits, label, 0.0)
            expected["accuracy"] += logits.argmax() == label
            tokens += 1
    assert set(loss.means) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(loss.means[name].total, value, rtol=1e-5, err_msg=name)
        assert loss.means[name].count == tokens
    assert loss.objective == loss.means["loss"].total


def fused_loss(model: Transformer, features: dict) -> Any:
    return model.batch_loss(features).objective


def gradients_of(model: Transformer, features: dict, loss: Callable = fused_loss) -> list[Any]:
    with tf.GradientTape() as tape:
        value = loss(model, features)
    found = tape.gradient(value, [v.value for v in model.trainable_variables])
    return [tf.convert_to_tensor(gradient) for gradient in found]


def naive_loss(model: Transformer, features: dict) -> Any:
    """Return the smoothed loss by one-hot targets and TensorFlow's own gradient."""
    log_probs = tf.nn.log_softmax(model(features))
    vocab, smoothing = log_probs.shape[-1], model.hparams.label_smoothing
    target = tf.one_hot(features["targets"], vocab, 1 - smoothing, smoothing / (vocab - 1))
    real = tf.cast(features["targets"] != 0, tf.float32)
    return -tf.reduce_sum(tf.reduce_sum(target * log_probs, -1) * real)


def test_gradients_equal_those_of_the_naive_loss(twins: Any, features: dict) -> None:
    actual, expected = (
        gradients_of(twins.model, features, loss) for loss in (fused_loss, naive_loss)
    )
    for variable, a, b in zip(twins.model.trainable_variables, actual, expected, strict=True):
        scale = np.abs(b).max()
        assert scale > 0, variable.path
        np.testing.assert_allclose(a / scale, b / scale, atol=1e-5, err_msg=variable.path)


def test_padding_adds_nothing_to_loss_or_gradient(twins: Any, features: dict) -> None:
    wider = {name: np.pad(ids, [(0, 2), (0, 3)]) for name, ids in features.items()}
    actual, expected = (twins.model.batch_loss(batch).means for batch in (wider, features))
    for name, mean in expected.items():
        np.testing.assert_allclose(actual[name], mean, rtol=1e-5)
    pairs = zip(gradients_of(twins.model, wider), gradients_of(twins.model, features), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, atol=1e-5 * max(1, np.abs(b).max()))


@pytest.mark.slow
@pytest.mark.parametrize("twins", VARIANTS, indirect=True)
def test_graph_and_xla_equal_eager(twins: Any, features: dict) -> None:
    def run(inputs: Any, targets: Any) -> list[Any]:
        batch = {"inputs": inputs, "targets": targets}
        return [twins.model(batch), *gradients_of(twins.model, batch)]

    eager = run(**features)
    for xla in (False, True):
        for actual, expected in zip(compiled(run, xla=xla)(**features), eager, strict=True):
            scale = max(1, np.abs(expected).max())
            np.testing.assert_allclose(actual / scale, expected / scale, atol=1e-5)


def test_beam_search_equals_a_plain_search_of_the_reference(twins: Any, sentences: list) -> None:
    options = {"beam_size": 3, "alpha": 0.6}
    source = sentences[1][0]
    found = search(
        twins.model,
        {"inputs": np.array([source], "int32")},
        OutputLimits(np.array([6], "int32"), 6),
        DecodeHParams(return_beams=True, **options),
    )
    expected = reference_beam_search.search(
        lambda prefix: twins.reference.step_log_probs(source, prefix).tolist(),
        max_length=6,
        **options,
    )
    for (ids, score), row, row_score in zip(
        expected, np.asarray(found.ids[0]), np.asarray(found.scores[0]), strict=False
    ):
        assert tuple(row[: len(ids)].tolist()) == ids
        np.testing.assert_allclose(row_score, score, atol=1e-4)


@pytest.mark.parametrize("twins", mostly_slow(VARIANTS, "relative"), indirect=True)
@pytest.mark.parametrize("beam_size", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_a_sentence_has_the_same_translation_alone_and_in_a_batch(
    twins: Any, sentences: list, features: dict, beam_size: int
) -> None:
    hparams = DecodeHParams(beam_size=beam_size, extra_length=3, max_length=10, return_beams=True)
    run = compiled(lambda inputs: translate_ids(twins.model, {"inputs": inputs}, hparams))
    together = run(np.pad(features["inputs"], [(0, 1), (0, 3)]))
    assert not np.any(together.ids[3]), "a row of padding has an empty translation"
    for i, (source, _) in enumerate(sentences):
        alone = translate_ids(twins.model, {"inputs": np.array([source], "int32")}, hparams)
        length = min(len(source) + 3, 10)
        np.testing.assert_array_equal(together.ids[i, :, :length], alone.ids[0])
        assert not np.any(together.ids[i, :, length:])
        np.testing.assert_allclose(together.scores[i], alone.scores[0], atol=1e-4)


@pytest.mark.parametrize("twins", mostly_slow(VARIANTS), indirect=True)
def test_searches_under_xla_equal_those_in_a_graph(twins: Any, features: dict) -> None:
    def run(inputs: Any) -> Any:
        options = {"extra_length": 2, "max_length": 12, "min_length": 2}
        return [
            translate_ids(twins.model, {"inputs": inputs}, DecodeHParams(beam_size=size, **options))
            for size in (3, 1)
        ]

    graph, xla = (compiled(run, xla=xla)(features["inputs"]) for xla in (False, True))
    for a, b in zip(graph, xla, strict=True):
        np.testing.assert_array_equal(a.ids, b.ids)
        np.testing.assert_allclose(a.scores, b.scores, atol=1e-4)


@pytest.mark.parametrize("twins", mostly_slow(VARIANTS, "pre_norm"), indirect=True)
def test_mixed_precision_keeps_float32_variables_and_comes_close(
    twins: Any, features: dict
) -> None:
    hparams = twins.model.hparams.replace(dtype_policy="mixed_bfloat16")
    mixed = Transformer.from_hparams(hparams, vocab_size=twins.model.vocab_size)
    mixed.set_weights(twins.model.get_weights())
    assert {v.dtype for v in mixed.trainable_variables} == {"float32"}
    expected, actual = np.asarray(twins.model(features)), np.asarray(mixed(features))
    assert actual.dtype == np.float32
    assert np.abs(actual - expected).max() < 0.08 * np.abs(expected).max()
    loss, exact = (model.batch_loss(features).objective for model in (mixed, twins.model))
    assert loss.dtype == tf.float32
    np.testing.assert_allclose(loss, exact, rtol=0.03)
    flat = [
        np.concatenate([np.ravel(tf.cast(g, tf.float32)) for g in gradients_of(model, features)])
        for model in (mixed, twins.model)
    ]
    cosine = flat[0] @ flat[1] / np.linalg.norm(flat[0]) / np.linalg.norm(flat[1])
    assert cosine > 0.98
    hparams = DecodeHParams(beam_size=2, extra_length=1)
    found = translate_ids(mixed, {"inputs": features["inputs"]}, hparams)
    assert np.isfinite(found.scores[:, 0]).all()


@pytest.mark.parametrize(
    "name", ["attention_dropout", "relu_dropout", "layer_prepostprocess_dropout"]
)
def test_each_dropout_acts_in_training_only(name: str, features: dict) -> None:
    rates = dict.fromkeys(
        ("attention_dropout", "relu_dropout", "layer_prepostprocess_dropout"), 0.0
    )
    hparams = TransformerHParams(**SMALL, **{**rates, name: 0.5})
    model = Transformer.from_hparams(hparams, vocab_size=19)
    plain = np.asarray(model(features))
    np.testing.assert_array_equal(model(features), plain)
    assert np.abs(model(features, training=True) - plain).max() > 0


def test_embeddings_are_dropped_with_their_positions(features: dict) -> None:
    """As in tensor2tensor; a new model has no biases that are not zero."""
    model = Transformer.from_hparams(TransformerHParams(**SMALL), vocab_size=19)
    model.source_dropout = model.target_dropout = lambda x, training: 0 * x
    assert not np.any(model(features, training=True))


def test_every_variable_exists_before_the_first_call() -> None:
    model = Transformer.from_hparams(TransformerHParams(**SMALL), vocab_size=19)
    names = [variable.path for variable in model.variables]
    model({"inputs": np.array([[3, 1]]), "targets": np.array([[4, 1]])})
    assert [variable.path for variable in model.variables] == names
    assert len(set(names)) == len([n for n in names if "seed_generator" not in n]) + len(
        {n for n in names if "seed_generator" in n}
    )


def test_shared_embeddings_are_one_variable() -> None:
    shared, apart = (
        Transformer.from_hparams(
            TransformerHParams(**SMALL, shared_embedding_and_softmax_weights=share), vocab_size=19
        )
        for share in (True, False)
    )
    assert apart.count_params() - shared.count_params() == 2 * 19 * 16


@pytest.mark.slow
def test_two_vocabularies_have_two_embeddings() -> None:
    hparams = TransformerHParams(**SMALL, share_source_embedding=False)
    model = Transformer.from_hparams(hparams, vocab_size=19, target_vocab_size=7)
    shapes = {v.path.split("/")[1]: v.shape for v in model.trainable_variables}
    assert shapes["embedding"] == (19, 16) and shapes["target_embedding"] == (7, 16)
    assert "softmax" not in shapes
    features = {"inputs": np.array([[18, 3, 1]]), "targets": np.array([[6, 1]])}
    assert model(features).shape == (1, 2, 7)
    found = translate_ids(model, {"inputs": features["inputs"]}, DecodeHParams(beam_size=2))
    assert np.max(found.ids) < 7
    apart = hparams.replace(share_source_embedding=True, shared_embedding_and_softmax_weights=False)
    model = Transformer.from_hparams(apart, vocab_size=19, target_vocab_size=7)
    assert model.softmax.kernel.shape == (7, 16)
    shared = TransformerHParams(**SMALL)
    with pytest.raises(HParamsError, match="add --hparams=share_source_embedding=false"):
        Transformer.from_hparams(shared, vocab_size=19, target_vocab_size=7)


def test_another_models_options_are_refused() -> None:
    class OtherHParams(TransformerHParams):
        model = "other"

    with pytest.raises(HParamsError, match="cannot read OtherHParams; use model other, or another"):
        Transformer.from_hparams(OtherHParams(), vocab_size=19)


def test_a_class_of_options_without_a_model_of_its_own_is_blamed() -> None:
    class OtherHParams(TransformerHParams):
        pass

    fault = "model transformer cannot read OtherHParams; .*: set `model` in OtherHParams, or hparam"
    with pytest.raises(HParamsError, match=fault):
        Transformer.from_hparams(OtherHParams(), vocab_size=19)


def test_weights_survive_a_file(twins: Any, features: dict, tmp_path: Any) -> None:
    path = tmp_path / "model.weights.h5"
    twins.model.save_weights(path)
    other = Transformer.from_hparams(twins.model.hparams, vocab_size=twins.model.vocab_size)
    other.load_weights(path)
    np.testing.assert_array_equal(other(features), twins.model(features))


def test_a_stateless_call_uses_the_values_it_is_given(features: dict) -> None:
    """What the training loop relies on: a pure function of weights and random state."""
    model = Transformer.from_hparams(TransformerHParams(**SMALL), vocab_size=19)
    generators = [v for v in model.non_trainable_variables if "seed_generator" in v.path]
    assert generators
    before = [np.asarray(v) for v in model.variables]

    def loss(seed: int, scale: float) -> float:
        state = [(v, scale * v.value) for v in model.trainable_variables]
        state += [(g, tf.constant([seed, i * 1024], "int64")) for i, g in enumerate(generators)]
        with keras.StatelessScope(state_mapping=state):
            return float(model.batch_loss(features, training=True).objective)

    assert loss(1, 1.0) == loss(1, 1.0)
    assert loss(1, 1.0) != loss(2, 1.0)
    assert loss(1, 1.0) != loss(1, 0.5)
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(variable, value)


@pytest.mark.parametrize("twins", mostly_slow(VARIANTS, "relative"), indirect=True)
def test_the_decoder_starts_from_zeros_and_ids_end_at_eos(twins: Any, features: dict) -> None:
    hparams = DecodeHParams(beam_size=1, extra_length=2)
    found = translate_ids(twins.model, {"inputs": features["inputs"]}, hparams)
    first = np.asarray(found.ids[:, 0, 0])
    logits = np.asarray(twins.model({**features, "targets": features["targets"][:, :1]}))
    np.testing.assert_array_equal(first, logits[:, 0].argmax(-1))
    for row in np.asarray(found.ids[:, 0]):
        if EOS_ID in row:
            assert not row[row.tolist().index(EOS_ID) + 1 :].any()

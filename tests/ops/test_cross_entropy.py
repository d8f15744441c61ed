"""The fused loss against its definition in float64, its gradient against differences of that."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_transformer as reference
import tensorflow as tf
from keras import ops

from t2t_phrase.compile import traced
from t2t_phrase.ops import cross_entropy
from t2t_phrase.ops.cross_entropy import blocks_of_tokens, smoothed_cross_entropy
from t2t_phrase.ops.row_blocks import RowBlocks

N, D, V = 5, 4, 7


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    # Tokens 0 and 3 share a label, whose rows of the gradient must add up.
    labels = np.array([2, 0, 6, 2, 1], "int32")
    return rng.normal(size=(N, D)), rng.normal(size=(V, D)), labels


@pytest.fixture
def set_block(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Set the number of tokens of a block; 2 leaves one of the five for the rest."""

    def set_block(rows: int) -> None:
        def blocks(tokens: Any, vocab_size: int) -> RowBlocks:
            return RowBlocks(tokens, rows, undivided=rows)

        monkeypatch.setattr(cross_entropy, "blocks_of_tokens", blocks)

    return set_block


def definition(
    hidden: np.ndarray, kernel: np.ndarray, labels: np.ndarray, smoothing: float
) -> np.ndarray:
    rows = zip(hidden @ kernel.T, labels, strict=True)
    return np.array([reference.smoothed_loss(logits, label, smoothing) for logits, label in rows])


def losses_and_gradients(
    hidden: np.ndarray,
    kernel: np.ndarray,
    labels: np.ndarray,
    upstream: np.ndarray,
    smoothing: float,
) -> tuple:
    hidden, kernel = (tf.cast(x, tf.float32) for x in (hidden, kernel))
    with tf.GradientTape() as tape:
        tape.watch([hidden, kernel])
        losses = smoothed_cross_entropy(hidden, kernel, labels, label_smoothing=smoothing)
        loss = tf.reduce_sum(losses.smoothed * tf.cast(upstream, tf.float32))
    return losses, tape.gradient(loss, [hidden, kernel])


@pytest.mark.parametrize("block", [2, N])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_values(arrays: tuple, smoothing: float, block: int, set_block: Callable) -> None:
    set_block(block)
    hidden, kernel, labels = arrays
    losses, _ = losses_and_gradients(*arrays, np.ones(N), smoothing)
    np.testing.assert_allclose(losses.smoothed, definition(*arrays, smoothing), atol=1e-5)
    np.testing.assert_allclose(losses.nll, definition(*arrays, 0.0), atol=1e-5)
    best = (hidden @ kernel.T).argmax(axis=1)
    np.testing.assert_array_equal(losses.correct, best == labels)


def test_correct_counts_the_best_tokens(arrays: tuple) -> None:
    hidden, kernel, _ = arrays
    best = (hidden @ kernel.T).argmax(axis=1).astype("int32")
    worst = (hidden @ kernel.T).argmin(axis=1).astype("int32")
    mixed = np.where(np.arange(N) < 2, best, worst)
    losses, _ = losses_and_gradients(hidden, kernel, mixed, np.ones(N), 0.1)
    np.testing.assert_array_equal(losses.correct, [1, 1, 0, 0, 0])


@pytest.mark.parametrize("block", [2, N])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_gradients_equal_differences_of_the_definition(
    arrays: tuple, smoothing: float, block: int, set_block: Callable
) -> None:
    set_block(block)
    hidden, kernel, labels = arrays
    upstream = np.array([1.0, -2.0, 0.0, 0.5, 3.0])
    _, gradients = losses_and_gradients(*arrays, upstream, smoothing)
    for which, gradient in enumerate(gradients):
        expected = np.zeros(gradient.shape)
        for place in np.ndindex(*gradient.shape):
            sums = []
            for nudge in (1e-5, -1e-5):
                moved = [hidden.copy(), kernel.copy()]
                moved[which][place] += nudge
                sums.append((definition(*moved, labels, smoothing) * upstream).sum())
            expected[place] = (sums[0] - sums[1]) / 2e-5
        np.testing.assert_allclose(gradient, expected, atol=1e-5)


def test_only_the_smoothed_loss_has_a_gradient(arrays: tuple) -> None:
    hidden, kernel, labels = (tf.constant(x) for x in arrays)
    hidden, kernel = tf.cast(hidden, tf.float32), tf.cast(kernel, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch([hidden, kernel])
        losses = smoothed_cross_entropy(hidden, kernel, labels, label_smoothing=0.1)
        loss = tf.reduce_sum(losses.nll) + tf.reduce_sum(losses.correct)
    assert tape.gradient(loss, [hidden, kernel]) == [None, None]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_perfect_model_has_loss_zero(smoothing: float) -> None:
    label = 3
    target = np.full(V, max(smoothing, 1e-9) / (V - 1))
    target[label] = 1 - smoothing
    losses = smoothed_cross_entropy(
        np.ones((1, 1), "float32"),
        np.log(target)[:, None].astype("float32"),
        np.array([label]),
        label_smoothing=smoothing,
    )
    np.testing.assert_allclose(losses.smoothed, [0], atol=1e-6)


@pytest.mark.parametrize("block", [2, N])
def test_extreme_logits_stay_finite_and_right(
    arrays: tuple, block: int, set_block: Callable
) -> None:
    set_block(block)
    hidden, kernel, labels = arrays[0] * 1e3, arrays[1], arrays[2]
    losses, gradients = losses_and_gradients(hidden, kernel, labels, np.ones(N), 0.1)
    expected = definition(hidden, kernel, labels, 0.1)
    assert expected.max() > 500
    np.testing.assert_allclose(losses.smoothed, expected, rtol=1e-5)
    for gradient in gradients:
        assert np.isfinite(gradient).all()


def test_graph_and_xla_equal_eager(arrays: tuple) -> None:
    upstream = np.linspace(-1, 2, N)

    def run() -> list:
        losses, gradients = losses_and_gradients(*arrays, upstream, 0.1)
        return [*losses, *gradients]

    eager = run()
    for xla in (False, True):
        for value, expected in zip(traced(run, jit_compile=xla)(), eager, strict=True):
            np.testing.assert_allclose(value, expected, atol=1e-5)


@pytest.mark.parametrize(
    "xla", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["graph", "xla"]
)
def test_one_trace_takes_any_number_of_tokens(
    arrays: tuple, xla: bool, set_block: Callable
) -> None:
    """The number of blocks, 0 to 2 here, is then known to the compiled function only."""
    signature = [tf.TensorSpec((None, D)), tf.TensorSpec((V, D)), tf.TensorSpec((None,), tf.int32)]
    signature.append(tf.TensorSpec((None,)))

    @tf.function(jit_compile=xla, input_signature=signature)
    def traced(hidden: tf.Tensor, kernel: tf.Tensor, labels: tf.Tensor, upstream: tf.Tensor):
        losses, gradients = losses_and_gradients(hidden, kernel, labels, upstream, 0.1)
        return [*losses, *gradients]

    hidden, kernel, labels = arrays
    for rows in (1, 2, 3, 4, 5):
        given = hidden[:rows], kernel, labels[:rows], np.linspace(-1, 2, rows)
        set_block(2)
        found = traced(*(tf.constant(x, s.dtype) for x, s in zip(given, signature, strict=True)))
        set_block(N)
        losses, gradients = losses_and_gradients(*given, 0.1)
        for value, expected in zip(found, [*losses, *gradients], strict=True):
            np.testing.assert_allclose(value, expected, atol=1e-5, err_msg=f"{rows} rows")


def test_tokens_without_weight_change_nothing(arrays: tuple, set_block: Callable) -> None:
    """Padding stands in any block, and the loss of a batch gives it no gradient."""
    set_block(2)
    hidden, kernel, labels = arrays
    real = np.array([0, 2, 3])
    upstream = np.zeros(N)
    upstream[real] = [1.0, -2.0, 0.5]
    losses, gradients = losses_and_gradients(*arrays, upstream, 0.1)
    alone, expected = losses_and_gradients(hidden[real], kernel, labels[real], upstream[real], 0.1)
    np.testing.assert_allclose(losses.smoothed.numpy()[real], alone.smoothed, atol=1e-6)
    np.testing.assert_allclose(gradients[0].numpy()[real], expected[0], atol=1e-6)
    np.testing.assert_array_equal(gradients[0].numpy()[[1, 4]], np.zeros((2, D)))
    np.testing.assert_allclose(gradients[1], expected[1], atol=1e-6)


@pytest.mark.parametrize("vocab_size", [100, 32_000, 37_000, 10_000_000])
def test_usual_batches_are_computed_once(vocab_size: int) -> None:
    blocks = blocks_of_tokens(5, vocab_size)
    assert blocks.undivided >= blocks.size
    assert blocks.size % 128 == blocks.undivided % 128 == 0
    if vocab_size < 10_000_000:
        assert blocks.undivided >= 4096
        assert blocks.size * vocab_size * 4 <= 2**28


def test_the_logits_are_never_whole(arrays: tuple, set_block: Callable) -> None:
    """No operation of the trace, in any of its loops, has a value for each token and entry."""
    set_block(2)
    function = traced(lambda: losses_and_gradients(*arrays, np.ones(N), 0.1)[1])
    graph = function.get_concrete_function().graph
    definition = graph.as_graph_def(add_shapes=True)
    nodes = [*definition.node, *(n for f in definition.library.function for n in f.node_def)]
    shapes = {
        tuple(dim.size for dim in shape.dim)
        for node in nodes
        for shape in node.attr["_output_shapes"].list.shape
    }
    assert {(2, V), (1, V), (V, D)} <= shapes
    assert (N, V) not in shapes and (-1, V) not in shapes


@pytest.mark.parametrize("block", [2, N])
def test_bfloat16_is_close_to_float32(arrays: tuple, block: int, set_block: Callable) -> None:
    set_block(block)
    hidden, kernel, labels = arrays
    low = [ops.cast(tf.constant(x), "bfloat16") for x in (hidden, kernel)]
    with tf.GradientTape() as tape:
        tape.watch(low)
        losses = smoothed_cross_entropy(*low, labels, label_smoothing=0.1)
        loss = tf.reduce_sum(losses.smoothed)
    gradients = tape.gradient(loss, low)
    exact, exact_gradients = losses_and_gradients(*arrays, np.ones(N), 0.1)
    assert losses.smoothed.dtype == tf.float32
    np.testing.assert_allclose(losses.smoothed, exact.smoothed, atol=0.05)
    for gradient, expected in zip(gradients, exact_gradients, strict=True):
        assert gradient.dtype == tf.bfloat16
        np.testing.assert_allclose(ops.cast(gradient, "float32"), expected, atol=0.05)


def test_blocks_are_added_up_in_float32(set_block: Callable) -> None:
    """In bfloat16, whose steps at 1 are 2**-7, 255 blocks of 2**-9 would not change a sum of 1."""
    rows, small = 256, 2.0**-9
    # Labels are class 0; of the two classes each has probability 1/2.
    hidden = np.full((rows, 1), small)
    hidden[-1] = 1.0
    given = [tf.constant(x, tf.bfloat16) for x in (hidden, np.zeros((2, 1)))]

    def kernel_gradient() -> np.ndarray:
        with tf.GradientTape() as tape:
            tape.watch(given)
            losses = smoothed_cross_entropy(*given, np.zeros(rows, "int32"), label_smoothing=0.0)
        return tape.gradient(losses.smoothed, given)[1]

    set_block(1)
    expected = hidden.sum() / 2
    found = tf.cast(traced(kernel_gradient)(), tf.float32)
    np.testing.assert_allclose(found[:, 0], [-expected, expected], rtol=2**-8)

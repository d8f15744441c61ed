"""What every model owes: the same results whichever way they are computed.

Shapes: B sentences, K beams, V entries of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from under_backend import gradients_of

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.search_weights import prepare_weights
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.features import ALIGNMENT

VOCAB = 19
TARGETS = [[7, 8, 9, 1], [1], [9, 4, 3, 3, 5, 1], [6, 6, 1]]
OPTIONS = DecodeHParams(beam_size=3, max_length=6, extra_length=4, return_beams=True)
PADDING = [0]

Rows = Sequence[list[int]]
# The integers of a feature for a sentence of so many tokens, by name. Features are the source's,
# but for the alignment.
NumbersOf = Mapping[str, Callable[[int], list[int]]]


def random_sources(lengths: Sequence[int]) -> list[list[int]]:
    """Return a sentence of each length, EOS included."""
    rng = np.random.default_rng(0)
    return [[*rng.integers(2, VOCAB, size=length - 1).tolist(), 1] for length in lengths]


def padded(rows: Rows, extra: int = 0) -> np.ndarray:
    """Return the rows as one array, `extra` columns wider than the longest."""
    width = max(map(len, rows)) + extra
    return np.array([[*row, *[0] * (width - len(row))] for row in rows], "int32")


def batch_of(
    sources: Rows, targets: Rows, numbers_of: NumbersOf, extra: int = 0
) -> dict[str, np.ndarray]:
    """Return the features of sentence pairs; a side that is `PADDING` has nothing else."""
    features = {
        name: [
            PADDING if row == PADDING else numbers(len(row))
            for row in (targets if name == ALIGNMENT.name else sources)
        ]
        for name, numbers in numbers_of.items()
    }
    return {
        "inputs": padded(sources, extra),
        "targets": padded(targets, extra),
        **{name: padded(rows, extra) for name, rows in features.items()},
    }


def assert_alone_equals_batched(
    model: Any, sources: Rows, targets: Rows, numbers_of: NumbersOf
) -> None:
    """Check the logits of each pair alone and in a batch, beside a row of padding."""
    batch = batch_of([*sources, PADDING], [*targets, PADDING], numbers_of, extra=3)
    together = np.asarray(model(batch))
    assert np.isfinite(together).all(), "a row of nothing but padding must not give NaN"
    for i, (source, target) in enumerate(zip(sources, targets, strict=True)):
        alone = model(batch_of([source], [target], numbers_of))[0]
        np.testing.assert_allclose(together[i, : len(target)], alone, atol=1e-5)


def assert_steps_equal_the_whole(
    model: Any, features: Mapping[str, np.ndarray], *, beam_size: int = 3, length: int = 4
) -> None:
    """Check the logits of each step, with beams that branch, against teacher forcing."""
    rng, rows = np.random.default_rng(0), len(features["inputs"])
    memory = model.prepare_memory(features)
    cache = model.start_cache(memory, beam_size, length)
    histories = np.zeros((rows, beam_size, 0), "int32")
    last = np.zeros((rows, beam_size), "int32")
    repeated = {key: np.repeat(ids, beam_size, axis=0) for key, ids in features.items()}
    for time in range(length):
        logits, cache, _ = model.step(last, time, memory, cache)
        targets = np.pad(histories, [(0, 0), (0, 0), (0, 1)], constant_values=1)
        whole = model({**repeated, "targets": targets.reshape(-1, time + 1)})
        np.testing.assert_allclose(np.reshape(logits, (-1, VOCAB)), whole[:, -1], atol=1e-5)
        parents = rng.integers(beam_size, size=(rows, beam_size)).astype("int32")
        cache = model.reorder(cache, parents)
        last = rng.integers(1, VOCAB, size=(rows, beam_size)).astype("int32")
        histories = np.take_along_axis(histories, parents[..., None], axis=1)
        histories = np.concatenate([histories, last[..., None]], axis=2)


def assert_graph_and_xla_equal_eager(model: Any, features: Mapping[str, np.ndarray]) -> None:
    """Check the logits and the gradient of every variable, none of which is zero."""

    def run(features: Any) -> list[Any]:
        return [model(features), *gradients_of(model, features)]

    eager = run(features)
    for variable, gradient in zip(model.trainable_variables, eager[1:], strict=True):
        assert np.abs(gradient).max() > 1e-6, variable.path
    for xla in (False, True):
        for actual, expected in zip(compiled(run, xla=xla)(features), eager, strict=True):
            scale = max(1, np.abs(expected).max())
            np.testing.assert_allclose(actual / scale, expected / scale, atol=1e-5)


def assert_searches_agree(model: Any, features: Mapping[str, np.ndarray]) -> None:
    """Check searches in graphs, of unknown shape, under XLA, with prepared weights and alone.

    The second sentence, which is searched alone, has two tokens.
    """
    given = {key: ids for key, ids in features.items() if key != "targets"}

    def run(features: Any, growing: bool = False) -> Any:
        return translate_ids(model, features, OPTIONS, growing=growing)

    ids = tf.TensorSpec((None, None), tf.int32)
    unknown = tf.function(run, input_signature=[dict.fromkeys(given, ids)])
    graph = compiled(run, xla=False)(given, growing=True)
    prepared = translate_ids(model, given, OPTIONS, weights=prepare_weights(model))
    for other in (unknown(given), compiled(run, xla=True)(given), prepared):
        np.testing.assert_array_equal(graph.ids, other.ids)
        np.testing.assert_allclose(graph.scores, other.scores, atol=1e-4)
    alone = run({key: ids[1:2, :2] for key, ids in given.items()})
    np.testing.assert_array_equal(graph.ids[1], alone.ids[0])
    np.testing.assert_allclose(graph.scores[1], alone.scores[0], atol=1e-4)


def in_bfloat16(model: Any, features: Mapping[str, np.ndarray]) -> Any:
    """Return a copy of the model that computes in bfloat16; check that it comes close."""
    hparams = model.hparams.replace(dtype_policy="mixed_bfloat16")
    mixed = type(model).from_hparams(hparams, vocab_size=VOCAB)
    mixed.set_weights(model.get_weights())
    assert {v.dtype for v in mixed.trainable_variables} == {"float32"}
    expected, actual = np.asarray(model(features)), np.asarray(mixed(features))
    assert np.abs(actual - expected).max() < 0.08 * np.abs(expected).max()
    return mixed

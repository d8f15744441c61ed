"""Sums and shares against loops written from their definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from t2t_phrase.insights.statistics import LayerStatistics, Sums, attention_statistics, block_sums
from t2t_phrase.layers.attention.layout import Layout, Units
from t2t_phrase.models.phrase_transformer import PhraseHParams, PhraseTransformer

HEADS = 4
ONE, TWO, THREE = map(Units, (1, 2, 3))
LAYOUTS = {
    "heterogeneous": Layout(HEADS, columns=(ONE, TWO)),
    "heterogeneous without tokens": Layout(HEADS, columns=(TWO, THREE)),
    "homogeneous": Layout(HEADS, columns_by_head=(ONE, THREE, THREE, THREE), reaches_back=True),
    "heads in any order": Layout(HEADS, columns_by_head=(THREE, ONE, TWO, ONE), reaches_back=True),
    "interleaved": Layout(HEADS, (ONE, TWO), (ONE, TWO)),
    "interleaved up to 3": Layout(HEADS, (ONE, TWO, THREE), (ONE, TWO, THREE)),
}


def loop_sums(weights: np.ndarray, layout: Layout, lengths: list[int]) -> Sums:
    """Return what `block_sums` does, number by number."""
    kinds, query_orders = layout.all_columns, [units.order for units in layout.rows]
    shape = (len(query_orders), len(kinds))
    mass, rows, strongest = np.zeros(shape), np.zeros(shape[0]), np.zeros(shape)
    entropy, largest = np.zeros(shape[0]), np.zeros(shape[0])
    positions, heads = 0, weights.shape[1]
    queries = weights.shape[2] // len(query_orders)
    keys = weights.shape[3] // (1 if layout.columns_by_head else len(kinds))
    for sentence, length in enumerate(lengths):
        for i in range(length):
            peak: dict[tuple[int, int], float] = {}
            for m, query_order in enumerate(query_orders):
                if i - query_order + 1 < 0:
                    continue
                found = weights[sentence, :, m * queries + i]
                if found.sum() == 0:
                    continue
                rows[m] += 1
                largest[m] += np.mean([max(own) for own in found])
                entropy[m] -= np.mean(
                    [sum(x * math.log(x) for x in own.tolist() if x > 0) for own in found]
                )
                for head in range(heads):
                    for column, weight in enumerate(found[head]):
                        if layout.columns_by_head:
                            n = kinds.index(layout.columns_by_head[head])
                        else:
                            n = column // keys
                        mass[m, n] += weight / heads
                        peak[m, n] = max(peak.get((m, n), 0.0), weight)
            if peak:
                positions += 1
                best = [place for place, weight in peak.items() if weight == max(peak.values())]
                for place in best:
                    strongest[place] += 1 / len(best)
    return Sums(mass, rows, strongest, np.array(positions), entropy, largest)


def random_weights(
    rng: np.random.Generator, layout: Layout, lengths: list[int], keys: int
) -> np.ndarray:
    """Return weights as a layer does: of keys in the sentence alone, for padded queries too."""
    queries, memory = max(lengths), rng.integers(1, keys + 1, size=len(lengths))
    columns = (1,) if layout.columns_by_head else [units.order for units in layout.columns]
    logits = 3 * rng.normal(
        size=(len(lengths), HEADS, len(layout.rows) * queries, len(columns) * keys)
    )
    place = np.arange(keys)
    allowed = np.stack(
        [(place >= order - 1) & (place < memory[:, None]) for order in columns], axis=1
    ).reshape(len(lengths), 1, 1, -1)
    weights = np.where(allowed, np.exp(logits), 0)
    total = weights.sum(-1, keepdims=True)
    return (weights / np.where(total, total, 1)).astype("float32")


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("lengths", [[5, 1, 2, 4, 3], [1, 1]], ids=str)
def test_sums_are_those_of_a_loop(layout: Layout, lengths: list[int]) -> None:
    rng = np.random.default_rng(len(lengths))
    weights = random_weights(rng, layout, lengths, keys=4)
    real = np.arange(max(lengths)) < np.array(lengths)[:, None]
    actual = block_sums(weights, layout, real)
    expected = loop_sums(weights, layout, lengths)
    for name in Sums._fields:
        np.testing.assert_allclose(
            getattr(actual, name), getattr(expected, name), atol=1e-5, err_msg=name
        )
    np.testing.assert_allclose(np.sum(actual.mass, axis=1), actual.rows, atol=1e-5)
    np.testing.assert_allclose(np.sum(actual.strongest), actual.positions, atol=1e-5)


def test_a_sentence_of_one_token_has_no_bigram() -> None:
    layout = LAYOUTS["interleaved"]
    weights = np.zeros((1, HEADS, 2, 2), "float32")
    weights[:, :, 0, 0] = 1
    entry = LayerStatistics(
        "cross",
        "",
        1,
        layout,
        Sums(*map(np.asarray, block_sums(weights, layout, np.ones((1, 1)) > 0))),
    )
    assert entry.quadrants("mass") == {
        "token-to-token": 1.0,
        "token-to-phrase": 0.0,
        "phrase-to-token": None,
        "phrase-to-phrase": None,
    }
    assert entry.quadrants("strongest")["token-to-token"] == 1.0
    assert entry.quadrants("strongest")["phrase-to-phrase"] == 0.0


def test_segments_are_queries_where_they_have_tokens() -> None:
    layout = Layout(0, rows=(Units(partition="phrases"),))
    weights = np.array([[[0.75, 0.25, 0], [0, 0, 1], [0, 0, 0]]], "float32")
    members = np.array([[[1, 1, 0], [0, 0, 1], [0, 0, 0]]]) > 0
    sums = block_sums(weights, layout, np.ones((1, 3)) > 0, {"phrases": members})
    assert float(sums.rows[0]) == float(sums.positions) == 2
    assert float(sums.largest[0]) == 1.75
    expected = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    assert float(sums.entropy[0]) == pytest.approx(expected)
    entry = LayerStatistics("pooling", "", 1, layout, Sums(*map(np.asarray, sums)))
    assert not entry.has_kinds and entry.orders("mass") == {"phrases-to-1": 1.0}


def test_heads_of_segments_are_a_kind_of_keys() -> None:
    layout = Layout(2, columns_by_head=(ONE, Units(partition="ngram_2")))
    weights = np.array([[[[0.5, 0.5], [1, 0]], [[1, 0], [1, 0]]]], "float32")
    sums = block_sums(weights, layout, np.ones((1, 2)) > 0)
    entry = LayerStatistics("encoder", "", 1, layout, Sums(*map(np.asarray, sums)))
    assert entry.has_kinds
    assert entry.orders("mass") == {"1-to-1": 0.5, "1-to-ngram_2": 0.5}
    assert entry.quadrants("strongest") == {"token-to-token": 0.25, "token-to-phrase": 0.75}


def test_equal_peaks_share_their_position() -> None:
    layout = LAYOUTS["interleaved"]
    weights = np.zeros((1, HEADS, 4, 4), "float32")
    weights[:, 0, 1, 0] = weights[:, 1, 1, 3] = weights[:, 2, 3, 3] = weights[:, 3, 3, 3] = 0.75
    sums = block_sums(weights, layout, np.array([[False, True]]))
    np.testing.assert_allclose(sums.strongest, [[1 / 3, 1 / 3], [0, 1 / 3]], rtol=1e-6)


def test_quadrants_merge_all_orders_above_one() -> None:
    sums = Sums(
        mass=np.array([[6.0, 3.0, 1.0], [2.0, 4.0, 2.0], [1.0, 0.0, 1.0]]),
        rows=np.array([10.0, 8.0, 2.0]),
        strongest=np.array([[1.0, 2.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 2.0]]),
        positions=np.array(10.0),
        entropy=np.array([10.0, 4.0, 2.0]),
        largest=np.array([5.0, 2.0, 1.0]),
    )
    entry = LayerStatistics("cross", "", 1, LAYOUTS["interleaved up to 3"], sums)
    assert entry.quadrants("mass") == pytest.approx(
        {
            "token-to-token": 0.6,
            "token-to-phrase": 0.4,
            "phrase-to-token": 0.3,
            "phrase-to-phrase": 0.7,
        }
    )
    assert entry.quadrants("strongest") == pytest.approx(
        {
            "token-to-token": 0.1,
            "token-to-phrase": 0.2,
            "phrase-to-token": 0.3,
            "phrase-to-phrase": 0.4,
        }
    )
    assert entry.focus() == {"entropy": 0.8, "largest": 0.4}
    assert entry.orders("mass")["2-to-3"] == 0.25 and entry.orders("strongest")["2-to-1"] == 0.3
    without_tokens = LayerStatistics("cross", "", 1, LAYOUTS["heterogeneous without tokens"], sums)
    assert list(without_tokens.quadrants("mass")) == ["token-to-phrase"]


MIXED = PhraseHParams(
    hidden_size=8,
    filter_size=8,
    num_heads=HEADS,
    num_hidden_layers=1,
    encoder_attention="interleaved_queryk",
    encoder_orders=(1, 2, 3),
    decoder_attention="heterogeneous_queryk",
    cross_attention="homogeneous_convkv",
    cross_head_counts=(3, 1),
)


def draw(rng: np.random.Generator, length: int) -> list[int]:
    return [*rng.integers(2, 30, size=length - 1).tolist(), 1]


@pytest.mark.slow
def test_a_model_is_read_sentence_by_sentence_and_batch_by_batch() -> None:
    model = PhraseTransformer.from_hparams(MIXED, vocab_size=32)
    rng = np.random.default_rng(0)
    for variable in model.trainable_variables:
        variable.assign(variable + 0.3 * rng.normal(size=variable.shape))
    pairs = [(draw(rng, s), draw(rng, t)) for s, t in ((1, 1), (2, 5), (9, 1), (4, 4))]
    layouts = {name: found.layouts[0] for name, found in model.attention_maps().items()}
    expected: dict[str, list[Sums]] = {name: [] for name in layouts}
    for source, target in pairs:
        weights = model.attention_weights(
            {"inputs": np.array([source], "int32"), "targets": np.array([target], "int32")}
        )
        for name, layout in layouts.items():
            length = len(source if name == "encoder" else target)
            expected[name].append(loop_sums(np.asarray(weights[name][0]), layout, [length]))
    done: list[int] = []
    found = attention_statistics(model, pairs, batch_size=16, progress=done.append)
    assert done == [1, 3, 4]
    assert [(entry.attention, entry.layer, entry.layout) for entry in found] == [
        (name, 1, layout) for name, layout in layouts.items()
    ]
    for entry in found:
        for place, actual in enumerate(entry.sums):
            total = sum(sums[place] for sums in expected[entry.attention])
            np.testing.assert_allclose(actual, total, atol=1e-4, err_msg=entry.attention)
    assert found[-1].quadrants("mass") == pytest.approx(
        {"token-to-token": 0.75, "token-to-phrase": 0.25}
    )

import importlib.util
import itertools
import pathlib

import numpy as np
import pytest

from t2t_phrase.models.multi_granularity_hparams import MultiGranularityHParams
from t2t_phrase.ops.partition import level_partition

SCRIPT = pathlib.Path(__file__).parents[2] / "benchmarks" / "granularities.py"


@pytest.fixture(scope="module")
def granularities():
    spec = importlib.util.spec_from_file_location("benchmark_granularities", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def segments(levels):
    """Return how many segments each row has at levels 1 to 5."""
    return [np.asarray(level_partition(levels, depth)).max(axis=1) for depth in range(1, 6)]


@pytest.mark.parametrize("length", [1, 2, 3, 24])
def test_levels_are_those_of_trees(granularities, length):
    levels = granularities.random_levels(5, length)
    assert levels.shape == (5, length) and levels.dtype == np.int32
    assert (levels[:, [0, -1]] == 1).all() and levels.min() == 1
    counts = segments(levels)
    for upper, lower in itertools.pairwise(counts):
        assert (upper <= lower).all() and (lower <= 3 * upper).all()
    assert (np.asarray(level_partition(levels, 20)).max(axis=1) == length).all()
    if length == 24:
        assert len({tuple(row) for row in levels}) == 5
    found = [granularities.segments_of(f"level_{depth}", length) for depth in range(1, 6)]
    many = granularities.random_levels(200, length)
    expected = [
        np.asarray(level_partition(many, depth)).max(axis=1).mean() for depth in range(1, 6)
    ]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # W_Q and W_O; W_F of 4 heads; keys, values and weights of 3 segments.
        ({"composition": "max"}, 2 * 256 * 6 + 4 * (64 * 6 + 2 * 16 * 3 + 2 * 4 * 6 * 3)),
        ({"composition": "lstm"}, 5568 + 4 * 6 * (4 + 4) * 16),
        ({"composition": "attention"}, 5568 + 4 * (16 * 3 + 2 * 16 * 6 + 2 * 4 * 6)),
        ({"composition": "max", "interaction": "lstm"}, 5568 + 4 * 3 * 8 * 16),
        (
            {"composition": "max", "interaction": "on_lstm", "on_lstm_chunk_size": 2},
            5568 + 4 * 3 * 8 * (16 + 2 * 2),
        ),
        # Half of the heads are those of a Transformer.
        (
            {"composition": "max", "granularities": ("tokens", "ngram_2")},
            5568 / 2 + 256 * 6 + 2 * (2 * 64 * 6 + 2 * 4 * 36),
        ),
    ],
)
def test_costs_are_those_of_the_equations(granularities, changes, expected):
    hparams = MultiGranularityHParams(
        hidden_size=16,
        num_heads=4,
        filter_size=4,
        **{"granularities": ("ngram_2",), **changes},
    )
    assert granularities.layer_cost(hparams, 6) == expected
    both = hparams.replace(granularity_layers=(1, 3))
    assert granularities.granularity_cost(both, 6, 5000.0) == 2 * (expected - 5000)
    assert granularities.segments_of("ngram_4", 9) == 3

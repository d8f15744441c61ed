"""Constructors name wrong arguments, instead of failing in the first call."""

import pytest

from t2t_phrase import layers as L

SCORE = L.LocationScore(positions=4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: L.MultiHeadAttention(num_heads=0, hidden_size=8), "multiple of num_heads, both"),
        (lambda: L.MultiHeadAttention(num_heads=-2, hidden_size=8), "at least 1, got 8 and -2"),
        (
            lambda: L.HeterogeneousConvKV(num_heads=0, hidden_size=8, orders=(1, 2)),
            "multiple of num_heads, both at least 1",
        ),
        (
            lambda: L.MultiGranularityAttention(
                hidden_size=8,
                heads=(),
                partitions=("a",),
                composition=L.MaxComposition(num_heads=0),
            ),
            "number of heads, at least 1, got 8 and 0",
        ),
        (lambda: L.LocationScore(positions=0), "positions must be at least 1, got 0"),
        (lambda: L.RecurrentDecoder(units=4, num_layers=0), "num_layers must be at least 1"),
        (
            lambda: L.TagClassifier(heads=("a",), partitions=("a", "b"), classes=3),
            r"no head attends to the partitions \['b'\]",
        ),
        (lambda: L.BiasedAttention(units=4, score=SCORE), "LocationScore has no keys to be biased"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()

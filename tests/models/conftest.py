"""Small Transformers of every kind, each with the same weights as loops of float64 arithmetic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from random_weights import randomize
from reference_transformer import ReferenceTransformer

from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams

VOCAB = 19
SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "filter_size": 24,
    "num_heads": 4,
    "num_hidden_layers": 2,
    "attention_dropout": 0.0,
    "relu_dropout": 0.0,
    "layer_prepostprocess_dropout": 0.0,
}
VARIANTS: dict[str, dict[str, Any]] = {
    "pre_norm": {},
    "post_norm": {"norm": "post", "num_hidden_layers": 1},
    "relative": {"pos": "none", "max_relative_position": 3, "num_hidden_layers": 1},
    "unshared": {
        "shared_embedding_and_softmax_weights": False,
        "target_space_id": 5,
        "num_encoder_layers": 1,
        "num_decoder_layers": 2,
    },
}


@dataclasses.dataclass(frozen=True)
class Twins:
    """A model and its reference."""

    name: str
    model: Transformer
    reference: ReferenceTransformer
    weights: dict[str, np.ndarray]


def make_twins(name: str) -> Twins:
    """Return the variant `name` with random weights."""
    hparams = TransformerHParams(**{**SIZES, **VARIANTS[name]})
    model = Transformer.from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, seed=len(name))
    weights = {
        variable.path.removeprefix("transformer/"): np.asarray(variable)
        for variable in model.trainable_variables
    }
    reference = ReferenceTransformer(
        weights={path: value.astype("float64") for path, value in weights.items()},
        num_heads=hparams.num_heads,
        norm=hparams.norm,
        timing=hparams.pos == "timing",
        limit=hparams.max_relative_position,
        target_space=hparams.target_space_id,
    )
    return Twins(name, model, reference, weights)


@pytest.fixture(scope="session", params=VARIANTS)
def twins(request: pytest.FixtureRequest) -> Twins:
    return make_twins(request.param)


@pytest.fixture(scope="session")
def sentences() -> list[tuple[list[int], list[int]]]:
    """Sources and targets of 2, 5 and 17 tokens, EOS included."""
    rng = np.random.default_rng(0)
    return [
        (
            [*rng.integers(2, VOCAB, size=n - 1).tolist(), 1],
            [*rng.integers(2, VOCAB, size=m - 1), 1],
        )
        for n, m in ((2, 5), (5, 2), (17, 9))
    ]


def padded(rows: list[list[int]], extra: int = 0) -> np.ndarray:
    width = max(map(len, rows)) + extra
    return np.array([[*row, *[0] * (width - len(row))] for row in rows], "int32")


@pytest.fixture(scope="session")
def features(sentences: list) -> dict[str, np.ndarray]:
    sources, targets = zip(*sentences, strict=True)
    return {"inputs": padded(list(sources)), "targets": padded(list(targets))}

"""What lexical and alignment models owe, beside what all models owe (`exact_models.py`).

Shapes: B sentences, K beams, V entries of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from exact_models import VOCAB, Rows

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.ensemble import Ensemble


def random_positions(sources: Rows, targets: Rows) -> Callable[[int], list[int]]:
    """Return a function from the length of a target to positions in its source; EOS to EOS."""
    source_of = {len(target): len(source) for target, source in zip(targets, sources, strict=True)}

    def positions_of(tokens: int) -> list[int]:
        source = source_of[tokens]
        rng = np.random.default_rng(tokens)
        return [*rng.integers(source, size=tokens - 1).tolist(), source - 1]

    return positions_of


def assert_aligned_steps_equal_the_whole(
    model: Any, inputs: np.ndarray, lengths: Sequence[int], *, beam_size: int = 3, length: int = 4
) -> None:
    """Check the logits of each step against teacher forcing.

    Beams differ in tokens and in positions, and branch; both histories follow their parents.

    Args:
        model: a lexical or an alignment model.
        inputs: (B, S) int32, source ids.
        lengths: of the sources.
        beam_size: K.
        length: number of steps.
    """
    rng, rows = np.random.default_rng(0), len(inputs)
    memory = model.prepare_memory({"inputs": inputs})
    cache = model.start_cache(memory, beam_size, length)
    limits = np.array(lengths)[:, None]
    last = np.zeros((rows, beam_size), "int32")
    tokens = places = np.zeros((rows, beam_size, 0), "int32")
    previous = np.full((rows, beam_size), -1, "int32")
    for time in range(length):
        now = (rng.integers(1000, size=(rows, beam_size)) % limits).astype("int32")
        places = np.concatenate([places, now[..., None]], axis=2)
        given = previous if model.capabilities.predicts_jumps else now
        logits, cache, _ = model.step(last, time, memory, cache, given)
        targets = np.pad(tokens, [(0, 0), (0, 0), (0, 1)], constant_values=1)
        whole = model(
            {
                "inputs": np.repeat(inputs, beam_size, axis=0),
                "targets": targets.reshape(-1, time + 1),
                "alignment": places.reshape(-1, time + 1),
            }
        )
        size = logits.shape[-1]
        np.testing.assert_allclose(np.reshape(logits, (-1, size)), whole[:, -1], atol=1e-5)
        parents = rng.integers(beam_size, size=(rows, beam_size)).astype("int32")
        cache = model.reorder(cache, parents)
        last = rng.integers(1, VOCAB, size=(rows, beam_size)).astype("int32")
        tokens = np.take_along_axis(tokens, parents[..., None], axis=1)
        tokens = np.concatenate([tokens, last[..., None]], axis=2)
        places = np.take_along_axis(places, parents[..., None], axis=1)
        previous = places[..., -1]


def assert_no_translation_alone(model: Any, features: Mapping[str, np.ndarray]) -> None:
    """Check that search and step without positions say what is missing."""
    sources = {"inputs": features["inputs"]}
    for one in (model, Ensemble([model])):
        with pytest.raises(UserError, match="--alignment_model_dir"):
            translate_ids(one, sources, DecodeHParams())
    memory = model.prepare_memory(sources)
    last = np.zeros((len(sources["inputs"]), 1), "int32")
    with pytest.raises(UserError, match="--alignment_model_dir"):
        model.step(last, 0, memory, model.start_cache(memory, 1, 4))

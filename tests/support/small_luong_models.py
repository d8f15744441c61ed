"""Small recurrent models of every structure that a registered set has."""

from __future__ import annotations

import functools

from t2t_phrase import registry
from t2t_phrase.models.luong_hparams import LuongHParams

PLAIN = LuongHParams()


@functools.cache
def luong_sets() -> list[str]:
    """Return all registered sets of the model `Luong` itself."""
    registry.discover()
    names = registry.hparams
    return [name for name in names if type(names[name]()) is LuongHParams]


@functools.cache
def small_set(name: str) -> LuongHParams:
    """Return a registered set with small sizes and without dropout.

    Windows and location scores are small, too, so that they end within sentences.
    """
    hparams = registry.hparams[name]()
    assert isinstance(hparams, LuongHParams)
    return hparams.replace(
        hidden_size=8,
        num_hidden_layers=2,
        attention_window=min(2, hparams.attention_window),
        attention_positions=min(7, hparams.attention_positions),
        dropout=0.0,
    )


@functools.cache
def structures() -> list[str]:
    """Return one set for each structure."""
    fields = set(vars(PLAIN)) & set(LuongHParams.__annotations__)
    found: dict[tuple[object, ...], str] = {}
    for name in luong_sets():
        small = vars(small_set(name))
        found.setdefault(tuple(small[field] for field in sorted(fields)), name)
    return list(found.values())

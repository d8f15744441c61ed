"""The loss of trained models without heads that attend to tokens, n-grams or segments.

    python benchmarks/head_ablation.py --data_dir=DATA RUN [RUN ...]

For each layer of the encoder, sets the rows of the output map that belong to heads of one kind to
zero, together and one head at a time, and reports by how much the loss per target token rises on
the development set. It measures what a trained model uses, not what another training would learn.
Prints a line of JSON for each run and kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from ablation import dev_loss, for_each_run
from measure import report
from script import run_script


def main() -> None:
    for_each_run(measure, __doc__)


def measure(run: str, data_dir: str) -> None:
    """Report the losses of one model."""
    from t2t_phrase.config import UserError
    from t2t_phrase.runs.load_model import load_model

    trained = load_model(run)
    if not all(hasattr(layer, "self_attention") for layer in trained.model.encoder_layers):
        raise UserError(f"{run}: the encoder of {trained.record.model} has no heads")
    loss = dev_loss(trained, data_dir)
    usual = loss()
    for number, layer in enumerate(trained.model.encoder_layers, 1):
        attention = layer.self_attention
        kernel, heads = attention.output_map.kernel, attention.layout.num_heads
        for kind, chosen in kinds(attention.layout):
            single = [loss_without(loss, kernel, heads, [head]) - usual for head in chosen]
            report(
                benchmark="head_ablation",
                run=run,
                loss=round(usual, 4),
                layer=number,
                kind=kind,
                heads=len(chosen),
                rise_without_all=round(loss_without(loss, kernel, heads, chosen) - usual, 4),
                mean_rise_without_one=round(float(np.mean(single)), 4),
            )


def kinds(layout: Any) -> Iterator[tuple[str, list[int]]]:
    """Yield the name and the heads of each kind."""
    columns = layout.columns_by_head or (None,) * layout.num_heads
    for units in dict.fromkeys(columns):
        chosen = [head for head, other in enumerate(columns) if other == units]
        yield name_of(layout.columns if units is None else (units,)), chosen


def name_of(columns: Sequence[Any]) -> str:
    return " and ".join(
        units.partition or ("tokens" if units.order == 1 else f"{units.order}-grams")
        for units in columns
    )


def loss_without(
    loss: Callable[[], float], kernel: Any, heads: int, without: Sequence[int]
) -> float:
    """Return the loss if the rows of some heads of an output map (..., D, D) are zero."""
    import keras

    kept = keras.ops.convert_to_numpy(kernel)
    *rest, width, units = kept.shape
    changed = kept.reshape(*rest, heads, width // heads, units).copy()
    changed[..., list(without), :, :] = 0.0
    kernel.assign(changed.reshape(kept.shape))
    try:
        return loss()
    finally:
        kernel.assign(kept)


if __name__ == "__main__":
    run_script(main)

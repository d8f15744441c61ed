"""The loss of trained Transformers without some of their sublayers.

    python benchmarks/sublayer_ablation.py --data_dir=DATA RUN [RUN ...]

Removes the outputs of one kind of sublayer (self-attention, cross-attention, attention to segments,
feed-forward network) from encoder or decoder, in all layers together and in one layer at a time,
and reports by how much the loss per target token rises on the development set. What remains of a
removed sublayer is its residual connection, with its normalisation. It measures what a trained
model uses, not what another training would learn. Prints a line of JSON for each run and kind.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from unittest import mock

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
    kinds = sublayers(trained.model)
    if not kinds:
        raise UserError(f"{run}: {trained.record.model} has no sublayers with residual connections")
    with removable(itertools.chain(*kinds.values())) as without:
        loss = dev_loss(trained, data_dir)
        usual = loss()

        def rise(removed: Sequence[Any]) -> float:
            with without(removed):
                return round(loss() - usual, 4)

        for (side, name), parts in kinds.items():
            report(
                benchmark="sublayer_ablation",
                run=run,
                loss=round(usual, 4),
                side=side,
                sublayer=name,
                rise_without_all=rise(parts),
                rises_without_one=[rise([part]) for part in parts],
            )


def sublayers(model: Any) -> dict[tuple[str, str], list[Any]]:
    """Return the residual connections of each kind of sublayer, by side and name, from below."""
    from t2t_phrase.layers.common.residual import Residual

    found: dict[tuple[str, str], list[Any]] = {}
    for side in ("encoder", "decoder"):
        for layer in getattr(model, f"{side}_layers", ()):
            for name, part in vars(layer).items():
                if isinstance(part, Residual):
                    found.setdefault((side, name.removesuffix("_residual")), []).append(part)
    return found


@contextlib.contextmanager
def removable(parts: Iterable[Any]) -> Iterator[Callable[[Sequence[Any]], Any]]:
    """Yield a function from some of the parts to a context in which their sublayers are zero.

    Functions that are compiled within this context need not be compiled again for each removal.
    """
    import tensorflow as tf

    from t2t_phrase.layers.common.residual import Residual

    gates = {id(part): tf.Variable(1.0) for part in parts}
    call = Residual.call

    def gated(self: Any, x: Any, output: Any, training: bool = False) -> Any:
        return call(self, x, output * tf.cast(gates[id(self)], output.dtype), training=training)

    @contextlib.contextmanager
    def without(removed: Sequence[Any]) -> Iterator[None]:
        for part in removed:
            gates[id(part)].assign(0.0)
        try:
            yield
        finally:
            for part in removed:
                gates[id(part)].assign(1.0)

    with mock.patch.object(Residual, "call", gated):
        yield without


if __name__ == "__main__":
    run_script(main)

"""Statistics of a model's attention in a corpus of sentence pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from t2t_phrase.config import UserError
from t2t_phrase.insights.statistics import LayerStatistics, attention_statistics
from t2t_phrase.special_ids import EOS_ID

if TYPE_CHECKING:
    from t2t_phrase.text.vocabularies import Vocabularies


def check_statistics(model: Any, name: str) -> None:
    """Refuse a model whose attention has no statistics.

    Args:
        model: a trained model.
        name: of the model, for the message.

    Raises:
        UserError: the model has no n-grams, or reads features that are not available.
    """
    layouts = [
        layout for attention in model.attention_maps().values() for layout in attention.layouts
    ]
    if not any(layout.has_ngrams for layout in layouts):
        named = [
            units.partition
            for layout in layouts
            for units in (*layout.rows, *layout.all_columns)
            if units.partition
        ]
        segments = f" (segments, here {', '.join(dict.fromkeys(named))}, do not overlap)"
        raise UserError(
            f"{name} has no attention to n-grams, which --stats are about"
            f"{segments if named else ''}; use --heat_maps"
        )
    if model.hparams.features:
        names = ", ".join(feature.name for feature in model.hparams.features)
        raise UserError(
            f"{name} reads features of the sentences ({names}), which --stats does not have; draw "
            "--heat_maps instead"
        )


def corpus_statistics(
    model: Any,
    vocabularies: Vocabularies,
    pairs: Sequence[tuple[str, str]],
    *,
    batch_size: int,
    xla: bool | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[list[LayerStatistics], int]:
    """Return the statistics of each layer, and how many pairs they are about.

    Pairs without words on both sides are left out.

    Args:
        model: a trained model, see `check_statistics`.
        vocabularies: of its source and target.
        pairs: sentences and their translations.
        batch_size: sentence pairs that are read at once.
        xla: whether to compile with XLA; None: only on a GPU.
        progress: is told how many pairs are read.

    Raises:
        UserError: no pair has words.
    """
    ids = [
        (
            [*vocabularies.source.encode(source), EOS_ID],
            [*vocabularies.target.encode(target), EOS_ID],
        )
        for source, target in pairs
        if source.split() and target.split()
    ]
    if not ids:
        raise UserError("no line has words on both sides: there is nothing to look at")
    found = attention_statistics(model, ids, batch_size=batch_size, xla=xla, progress=progress)
    return found, len(ids)

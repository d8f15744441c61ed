"""Statistics of a model's attention in a corpus of sentence pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from t2t_phrase.config import UserError
from t2t_phrase.decoding.sides import check_features, encode_side, tokenize
from t2t_phrase.features import IDS, of_side
from t2t_phrase.insights.statistics import FeatureRows, LayerStatistics, attention_statistics

if TYPE_CHECKING:
    from t2t_phrase.decoding.sides import FeatureTexts
    from t2t_phrase.text.vocabularies import Vocabularies


def check_statistics(model: Any, name: str) -> None:
    """Refuse a model without attention.

    Args:
        model: a trained model.
        name: the model's name, for the message.

    Raises:
        UserError: the model has no attention.
    """
    if not any(attention.layouts for attention in model.attention_maps().values()):
        raise UserError(f"{name} has no attention; --stats needs it")


def corpus_statistics(
    model: Any,
    vocabularies: Vocabularies,
    pairs: Sequence[tuple[str, str]],
    *,
    texts: FeatureTexts | None = None,
    batch_size: int,
    xla: bool | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[list[LayerStatistics], int]:
    """Return the statistics of each layer, and the number of pairs that they cover.

    Pairs with a side without words are left out.

    Args:
        model: a trained model, see `check_statistics`.
        vocabularies: the source's and the target's.
        pairs: sentences and their translations.
        texts: the texts of each feature that the model reads, by name, one for each pair.
        batch_size: tokens of the longer side in one batch, including padding.
        xla: whether to compile with XLA; None: only on a GPU.
        progress: called with the number of pairs read so far.

    Raises:
        UserError: no pair has words on both sides, or a feature is missing or does not fit.
    """
    features = model.hparams.features
    texts = check_features(features, texts or {}, len(pairs))
    read = [
        tokenize(encoder, [pair[side] for pair in pairs], starts=bool(features))
        for side, encoder in enumerate(vocabularies)
    ]
    # Characters that a vocabulary drops, such as "▁", are no token.
    kept = [
        i
        for i, pair in enumerate(zip(*read, strict=True))
        if all(sentence.text.split() and sentence.ids for sentence in pair)
    ]
    if not kept:
        raise UserError("no line has words on both sides: there is nothing to look at")
    own = {name: [lines[i] for i in kept] for name, lines in texts.items()}
    sentences = [[side[i] for i in kept] for side in read]
    encoded = [
        encode_side(side, sentences[n], of_side(features, side), own, others=sentences[1 - n])
        for n, side in enumerate(IDS)
    ]
    found = attention_statistics(
        model,
        list(zip(*(side.ids for side in encoded), strict=True)),
        batch_size=batch_size,
        xla=xla,
        progress=progress,
        features={
            name: FeatureRows(rows, side.pads[name])
            for side in encoded
            for name, rows in side.features.items()
        },
    )
    return found, len(kept)

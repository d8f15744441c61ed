"""Lists of hypotheses as lines of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import Hypothesis


def to_json(
    hypotheses: Sequence[Hypothesis], hparams: DecodeHParams, *, dictionary: bool = False
) -> str:
    """Return one line: an object with the hypotheses of a source, best first.

    Args:
        hypotheses: of one source.
        hparams: the options of decoding.
        dictionary: whether a dictionary is used.
    """
    found = {
        "source_cut": any(hypothesis.source_cut for hypothesis in hypotheses),
        "hypotheses": [_fields(each, hparams, dictionary) for each in hypotheses],
    }
    return json.dumps(found, ensure_ascii=False)


def _fields(hypothesis: Hypothesis, hparams: DecodeHParams, dictionary: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"text": hypothesis.text, "score": round(hypothesis.score, 6)}
    if hparams.token_probabilities:
        fields["confidence"] = _rounded(hypothesis.confidence)
        fields["tokens"] = list(hypothesis.pieces)
        fields["probabilities"] = [
            _rounded(math.exp(value)) for value in hypothesis.log_probabilities
        ]
    if hypothesis.expected_chrf is not None:
        fields["expected_chrf"] = round(hypothesis.expected_chrf, 4)
    if hparams.write_alignments:
        fields["alignment"] = [list(link) for link in hypothesis.links]
    if dictionary:
        fields["entries_applied"] = hypothesis.entries
        fields["entries_missing"] = list(hypothesis.missing)
    fields["cut"] = hypothesis.cut
    return fields


def _rounded(value: float | None) -> float | None:
    """Return a probability with six significant digits."""
    return None if value is None else float(f"{value:.6g}")

"""COMET by the package unbabel-comet, with a model on disk (Rei et al., 2020)."""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Sequence
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.scores import Score, check_lengths
from t2t_phrase.io.files import expanded

# Sentences scored at once; part of the signature.
_BATCH_SIZE = 16


def check_comet(model: str) -> None:
    """Check that COMET can be computed; nothing is downloaded.

    Args:
        model: the checkpoint of a COMET model.

    Raises:
        UserError: the checkpoint or the package is missing.
    """
    path = expanded(model)
    if not path.is_file():
        raise UserError(
            f"metric 'comet': there is no checkpoint {model!r}, and scoring downloads nothing; to "
            "download one and print its path: python -c 'import comet; "
            'print(comet.download_model("Unbabel/wmt22-comet-da"))\''
        )
    _package()


def comet_score(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    model: str,
) -> Score:
    """Score translations with a COMET model.

    Args:
        sources: source sentences.
        hypotheses: one translation for each.
        references: one reference for each.
        model: the checkpoint of a model that reads references.

    Returns:
        The system score times 100; its signature names the checkpoint's folder and the package.

    Raises:
        UserError: as for `check_comet`, or the lists have different lengths.
    """
    check_comet(model)
    check_lengths(hypotheses, [sources, references])
    package = _package()
    # Lightning announces devices and advertises itself.
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    path = expanded(model)
    scorer = package.load_from_checkpoint(str(path))
    rows = [
        {"src": source, "mt": hypothesis, "ref": reference}
        for source, hypothesis, reference in zip(sources, hypotheses, references, strict=True)
    ]
    found = scorer.predict(rows, batch_size=_BATCH_SIZE, gpus=0, progress_bar=False)
    name = path.parent.parent.name if path.parent.name == "checkpoints" else path.stem
    version = importlib.metadata.version("unbabel-comet")
    signature = f"nrefs:1|model:{name}|batch:{_BATCH_SIZE}|version:{version}"
    return Score("COMET", 100 * float(found.system_score), signature)


def _package() -> Any:
    try:
        import comet
    except ImportError as error:
        raise UserError(
            "metric 'comet' needs the package unbabel-comet: pip install 't2t_phrase[comet]' "
            f"({error})"
        ) from error
    return comet

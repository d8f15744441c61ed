"""Vocabularies that are given to datagen instead of being learned from the corpus."""

from __future__ import annotations

import hashlib
import json
import pathlib
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.manifest import SUFFIX, Manifest
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.t2t_vocabulary import T2T_TYPE
from t2t_phrase.io.files import expanded
from t2t_phrase.text.encoders import StoredEncoder, load_encoder
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.vocabularies import (
    JOINT_FILE,
    SIDE_FILES,
    T2T_TARGET_VOCABULARY,
    T2T_VOCABULARY,
)
from t2t_phrase.text.words.encoder import WordEncoder

# Options that a given vocabulary determines.
_DECIDED = (
    "vocab_type",
    "shared_vocab",
    "vocab_size",
    "target_vocab_size",
    "user_defined_symbols",
)
_RECORD = "hparams.json"
_KINDS = {"subwords": "subwords", "words": "words", T2T_TYPE: "tensor2tensor's subwords"}


def given_vocabularies(options: GenerateOptions) -> list[StoredEncoder]:
    """Return the given vocabulary, or those of source and target; [] if they are to be learned.

    Args:
        options: `vocab_file` names files; `vocab_from` a folder of data or of a run.

    Raises:
        UserError: a file is missing or damaged, a folder has no vocabulary or several, or options
            contradict a given vocabulary.
    """
    if not (options.vocab_file or options.vocab_from):
        return []
    flag = "vocab_file" if options.vocab_file else "vocab_from"
    if options.vocab_file and options.vocab_from:
        raise UserError("--vocab_file and --vocab_from cannot be used together")
    # --noshared_vocab is given, too, although False == 0.
    others = [n for n in _DECIDED if (value := getattr(options, n)) or value is False]
    if others:
        raise UserError(f"--{others[0]}: cannot be used with --{flag}, which decides it")
    if options.vocab_file:
        paths = [expanded(name) for name in options.vocab_file]
    else:
        paths = _in_folder(expanded(options.vocab_from))
    if len(paths) > 2:
        raise UserError(
            f"--vocab_file: {len(paths)} files; give one for both languages, or one for each"
        )
    encoders = [load_encoder(path) for path in paths]
    if len({type(encoder) for encoder in encoders}) > 1:
        kinds = " and ".join(_KINDS[_type_of(encoder)] for encoder in encoders)
        raise UserError(f"--{flag}: the vocabularies have entries of different kinds, {kinds}")
    return encoders


def given_options(encoders: list[StoredEncoder]) -> dict[str, Any]:
    """Return the options that given vocabularies imply."""
    sizes = [encoder.vocab_size for encoder in encoders]
    return {
        "vocab_type": _type_of(encoders[0]),
        "shared_vocab": len(encoders) == 1,
        "vocab_size": sizes[0],
        "target_vocab_size": sizes[1] if len(sizes) == 2 else 0,
        "given_vocabulary": [hashlib.sha256(e.model_bytes).hexdigest() for e in encoders],
    }


def _type_of(encoder: StoredEncoder) -> str:
    if isinstance(encoder, T2TSubwords):
        return T2T_TYPE
    return "words" if isinstance(encoder, WordEncoder) else "subwords"


def _in_folder(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return the vocabularies of a run or of the data in a folder."""
    if (folder / JOINT_FILE).is_file():
        return [folder / JOINT_FILE]
    sides = [folder / name for name in SIDE_FILES]
    if all(path.is_file() for path in sides):
        return sides[::-1] if _is_reversed(folder) else sides
    if (folder / T2T_VOCABULARY).is_file():
        imported = [folder / T2T_VOCABULARY, folder / T2T_TARGET_VOCABULARY]
        return [path for path in imported if path.is_file()]
    manifests = [Manifest.load(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    found = {
        tuple(entry["sha256"] for entry in manifest.vocabulary): [
            folder / entry["file"] for entry in manifest.vocabulary
        ]
        for manifest in manifests
        if manifest is not None and manifest.complete
    }
    if len(found) > 1:
        names = ", ".join(path.name for paths in found.values() for path in paths)
        raise UserError(
            f"--vocab_from={folder} has several vocabularies: {names}; name one with --vocab_file"
        )
    if not found:
        raise UserError(
            f"--vocab_from={folder} has no vocabulary: give the --data_dir of finished data, the "
            "--output_dir of a training run, or a run of t2t-phrase-import with --vocab_file"
        )
    return next(iter(found.values()))


def _is_reversed(folder: pathlib.Path) -> bool:
    """Return whether a run translates from the target language of its data to the source."""
    try:
        return str(json.loads((folder / _RECORD).read_bytes())["problem"]).endswith("_rev")
    except (OSError, ValueError, KeyError, TypeError):
        return False

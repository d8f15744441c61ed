"""Import of tensor2tensor's TensorFlow 1 checkpoints of Transformers."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.io import files
from t2t_phrase.io.files import expanded
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.checkpoint_reader import SUFFIX
from t2t_phrase.runs.record import FILE as RECORD_FILE
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.writing import writing
from t2t_phrase.tensor2tensor.names import t2t_pattern
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.vocabularies import T2T_TARGET_VOCABULARY, T2T_VOCABULARY

TARGET_SPACE = "target_space/embeddings"
_EMBEDDING = re.compile(
    r"symbol_modality_(\d+)_\d+/(shared|input_emb|target_emb|softmax)/weights_\d+"
)
# Slots of Adam and Adafactor, and counters of the training.
_STATE = re.compile(
    r"(^|.*/)(Adam|Adam_1|Momentum|vr|vc|v|m|ExponentialMovingAverage|beta[12]_power|"
    r"global_step)$|^(training|losses_avg|problem_\d+_steps|train_stats)\b.*"
)


@dataclasses.dataclass(frozen=True)
class Imported:
    """The contents of a checkpoint.

    Attributes:
        tensors: values of our variables by name.
        sizes: the hyperparameters that the checkpoint determines.
        vocab_size: entries of the source vocabulary.
        target_vocab_size: entries of the target vocabulary; None: source and target share one.
        step: updates made; 0 if not recorded.
        notes: one sentence for each variable that needed a decision.
        unused: variables of the checkpoint that no tensor uses, except those counted in `state`.
        state: number of variables that hold the optimizer's state and counters.
    """

    tensors: dict[str, np.ndarray]
    sizes: dict[str, Any]
    vocab_size: int
    target_vocab_size: int | None
    step: int
    notes: tuple[str, ...]
    unused: tuple[str, ...]
    state: int


def read_t2t_checkpoint(
    path: str | os.PathLike[str],
    hparams: Any,
    *,
    model: str = "transformer",
    source_vocab_size: int | None = None,
) -> Imported:
    """Read the variables of one of our models from a tensor2tensor checkpoint.

    Args:
        path: the training folder, or a checkpoint in it.
        hparams: hyperparameters of the model, whose sizes must be those of the checkpoint.
        model: registered name of the model.
        source_vocab_size: entries of the source vocabulary; needed only where the checkpoint holds
            two embeddings and does not say which is the source's.

    Raises:
        UserError: the checkpoint does not exist or is not one of tensor2tensor's, sizes differ (the
            message lists the overrides that would fit), or variables are missing.
    """
    prefix_path = checkpoints.resolve(path)
    reader = checkpoints.reader(prefix_path)
    all_shapes = reader.shapes
    shapes, prefix = _body(all_shapes, prefix_path)
    sizes = infer_sizes(shapes, source_vocab_size=source_vocab_size)
    vocab_size, target_vocab_size = sizes.pop("vocab_size"), sizes.pop("target_vocab_size")
    _check_sizes(sizes, hparams, prefix_path)

    skeleton = registry.models[model].from_hparams(
        hparams, vocab_size=vocab_size, target_vocab_size=target_vocab_size
    )
    tensors, notes, used, missing, other = {}, [], set(), [], []
    for name, variable in checkpoints.model_variables(skeleton).items():
        rows = vocab_size if name.startswith("embedding/") else target_vocab_size or vocab_size
        names = _matching(name, shapes, hparams.norm, rows)
        if names:
            used.update(names)
            if _fit([shapes[n] for n in names], variable.shape):
                parts = [reader.get(prefix + n) for n in names]
                tensors[name] = np.concatenate(parts).reshape(variable.shape).astype("float32")
            else:
                found = " and ".join(str(tuple(shapes[n])) for n in names)
                other.append(f"{names[0]}: {found} instead of {tuple(variable.shape)}")
        elif name == TARGET_SPACE:
            # The model was trained without a target space; zeros have no effect.
            tensors[name] = np.zeros(variable.shape, "float32")
            notes.append(f"{name}: not in the checkpoint; set to zero, which has no effect")
        else:
            missing.append(name)
    if missing:
        raise UserError(
            f"checkpoint {prefix_path} lacks {len(missing)} variables of {model}: "
            + ", ".join(missing)
        )
    if other:
        raise UserError(
            f"checkpoint {prefix_path}: {len(other)} variables of {model} have other shapes, so it "
            f"cannot be imported: {', '.join(other)}"
        )
    rest = [n for n in all_shapes if not (n.startswith(prefix) and n[len(prefix) :] in used)]
    unused = sorted(name for name in rest if not _STATE.match(name))
    step = int(reader.get("global_step")) if "global_step" in all_shapes else 0
    return Imported(
        tensors=tensors,
        sizes=sizes,
        vocab_size=vocab_size,
        target_vocab_size=target_vocab_size,
        step=step,
        notes=tuple(notes),
        unused=tuple(unused),
        state=len(rest) - len(unused),
    )


def _fit(parts: Sequence[Sequence[int]], shape: Sequence[int]) -> bool:
    """Return whether parts, joined along the first axis, have a shape, but for axes of size 1."""
    if len({tuple(part[1:]) for part in parts}) > 1:
        return False
    joined = (sum(part[0] for part in parts), *parts[0][1:]) if parts[0] else ()
    return [size for size in joined if size > 1] == [size for size in shape if size > 1]


def infer_sizes(
    shapes: Mapping[str, tuple[int, ...]], *, source_vocab_size: int | None
) -> dict[str, Any]:
    """Return the hyperparameters that the shapes of T2T's variables determine.

    Args:
        shapes: shapes of the variables by name, without the model's prefix.
        source_vocab_size: see `read_t2t_checkpoint`.

    Raises:
        UserError: the checkpoint does not say which vocabulary is the source's.
    """
    tables: dict[tuple[str, int], int] = {}
    for name, shape in shapes.items():
        if found := _EMBEDDING.fullmatch(name):
            table = found[2], int(found[1])
            tables[table] = tables.get(table, 0) + shape[0]
            hidden_size = shape[1]
    for (kind, size), rows in tables.items():
        if rows != size:
            raise UserError(
                f"the checkpoint has {rows} of the {size} rows of {kind}: it is damaged"
            )
    vocab_size, target_vocab_size = _vocab_sizes(tables, source_vocab_size)
    kinds = {kind for kind, _ in tables}
    encoder, decoder = (_depth(shapes, stack) for stack in ("encoder", "decoder"))
    first = "body/encoder/layer_0/"
    final_norm = "body/encoder/layer_prepostprocess/"
    sizes = {
        "vocab_size": vocab_size,
        "target_vocab_size": target_vocab_size,
        "hidden_size": hidden_size,
        "num_encoder_layers": encoder,
        "num_decoder_layers": decoder,
        # With "shared" alone, one table embeds and is the softmax.
        "shared_embedding_and_softmax_weights": "shared" in kinds and "softmax" not in kinds,
        "norm": "pre" if any(name.startswith(final_norm) for name in shapes) else "post",
        "max_relative_position": 0,
    }
    if f"{first}ffn/conv1/bias" in shapes:
        sizes["filter_size"] = shapes[f"{first}ffn/conv1/bias"][0]
    for name, shape in shapes.items():
        if name.startswith(first) and name.endswith("relative_positions_keys/embeddings"):
            sizes["max_relative_position"] = (shape[0] - 1) // 2
            sizes["num_heads"] = hidden_size // shape[1]
    return sizes


def _vocab_sizes(
    tables: Iterable[tuple[str, int]], source_vocab_size: int | None
) -> tuple[int, int | None]:
    """Return the sizes of the source and the target vocabulary; None: they share one.

    Args:
        tables: the kind and the number of rows of each embedding.
        source_vocab_size: see `read_t2t_checkpoint`.
    """
    sizes = {size for _, size in tables}
    if len(sizes) == 1:
        return sizes.pop(), None
    inputs = next((size for kind, size in tables if kind == "input_emb"), source_vocab_size)
    if len(sizes) > 2 or inputs is None or inputs not in sizes:
        found = " and ".join(map(str, sorted(sizes)))
        raise UserError(
            f"the checkpoint has embeddings of {found} rows and does not say which is the "
            "source's; give the vocabularies with --vocab_file and --target_vocab_file"
        )
    return inputs, (sizes - {inputs}).pop()


def _check_sizes(sizes: Mapping[str, Any], hparams: Any, path: str) -> None:
    sizes, ours = dict(sizes), hparams.to_dict()
    stated = ours["num_encoder_layers"] or ours["num_decoder_layers"]
    if not stated and sizes["num_encoder_layers"] == sizes["num_decoder_layers"]:
        sizes["num_hidden_layers"] = sizes.pop("num_encoder_layers")
        del sizes["num_decoder_layers"]
    for name in ("num_encoder_layers", "num_decoder_layers"):
        ours[name] = ours[name] or ours["num_hidden_layers"]
    wrong = {name: value for name, value in sizes.items() if ours[name] != value}
    if wrong:
        told = "; ".join(f"{n}: {ours[n]} instead of {v}" for n, v in wrong.items())
        fix = ",".join(f"{name}={value}" for name, value in wrong.items())
        raise UserError(f"the hparams do not match {path}: {told}; add --hparams={fix}")


def _body(
    shapes: Mapping[str, tuple[int, ...]], path: str
) -> tuple[dict[str, tuple[int, ...]], str]:
    """Return the shapes by name without the model's prefix, and the prefix ("transformer/")."""
    for name in shapes:
        found = re.match(r"(.*?/)body/encoder/layer_0/", name)
        if found:
            prefix = found[1]
            own = {k[len(prefix) :]: v for k, v in shapes.items() if k.startswith(prefix)}
            if any(_EMBEDDING.fullmatch(name) for name in own):
                return own, prefix
    raise UserError(
        f"{path} is not a tensor2tensor checkpoint of a Transformer: it has no variables named "
        "MODEL/body/encoder/layer_0/... and MODEL/symbol_modality_V_D/..."
    )


def _matching(name: str, shapes: Iterable[str], norm: str, vocab_size: int) -> list[str]:
    """Return the T2T variables that make up our variable `name`, with shards in order."""
    try:
        pattern = re.compile(t2t_pattern(name, norm=norm, vocab_size=vocab_size))
    except (KeyError, AttributeError):
        # The model does not exist in tensor2tensor.
        return []
    found = [other for other in shapes if pattern.fullmatch(other)]
    return sorted(found, key=lambda other: int(re.findall(r"\d+$", other)[0]) if found[1:] else 0)


def _depth(shapes: Iterable[str], stack: str) -> int:
    found = (re.match(rf"body/{stack}/layer_(\d+)/", name) for name in shapes)
    return 1 + max((int(match[1]) for match in found if match), default=-1)


def write_run(
    imported: Imported,
    folder: str | os.PathLike[str],
    record: RunRecord,
    *,
    vocabularies: Sequence[str | os.PathLike[str]] = (),
) -> str:
    """Write an imported checkpoint as a run of this library.

    Args:
        imported: from `read_t2t_checkpoint`.
        folder: a new `--output_dir`.
        record: the record of the run.
        vocabularies: tensor2tensor's `vocab.*.subwords` of the source and, if separate, of the
            target; copied into the run.

    Raises:
        UserError: the folder already contains checkpoints, cannot be written, or is being written
            by another process, or the vocabulary has another size.
        WriteError: the disk is full or fails.
    """
    target = expanded(folder)
    sizes = (imported.vocab_size, imported.target_vocab_size or imported.vocab_size)
    names = (T2T_VOCABULARY, T2T_TARGET_VOCABULARY)
    contents = {}
    for vocabulary, size, name in zip(vocabularies, sizes, names, strict=False):
        found = T2TSubwords.load(vocabulary).vocab_size
        if found != size:
            raise UserError(
                f"{vocabulary} has {found} pieces, the checkpoint {size}; give the vocabulary "
                "that it was trained with"
            )
        contents[name] = pathlib.Path(vocabulary).read_bytes()
    if contents:
        sums = [hashlib.sha256(content).hexdigest() for content in contents.values()]
        record = dataclasses.replace(
            record, vocabulary=sums[0], target_vocabulary="".join(sums[1:])
        )
    with writing(target):
        _check_free(target)
        for name, content in contents.items():
            files.write(target / name, content)
        path = str(target / f"{checkpoints.PREFIX}-{imported.step}")
        checkpoints.write(path, model=imported.tensors, step=imported.step)
        checkpoints.set_latest(target, [path])
        # Written last, so that an interrupted import can be repeated.
        record.save(target)
    return path


def _check_free(folder: pathlib.Path) -> None:
    """Refuse a folder with checkpoints, unless an interrupted import left them without a record."""
    for path in checkpoints.complete(folder):
        ours = f"step{SUFFIX}" in checkpoints.reader(path).shapes
        if not ours or (folder / RECORD_FILE).exists():
            raise UserError(
                f"--output_dir={folder} already contains a run ({path}); give a new folder"
            )

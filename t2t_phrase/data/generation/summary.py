"""A summary of a problem's data in a few lines."""

from __future__ import annotations

import inspect
import pathlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from t2t_phrase import registry
from t2t_phrase.corpus_sizes import corpus_size
from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.segmentations import sample_splits
from t2t_phrase.data.generation.vocabulary import entries_of
from t2t_phrase.data.problem import Problem
from t2t_phrase.features import Feature
from t2t_phrase.io.line_counts import counted, inflected


def summary(problem: Problem, manifest: Manifest, features: Sequence[Feature]) -> Iterator[str]:
    """Yield lines on vocabularies, shards, faults and kept text.

    Args:
        problem: the problem of the data.
        manifest: manifest of complete data.
        features: the features that the records hold.
    """
    options = manifest.options
    titles = ("joint",) if options["shared_vocab"] else problem.languages
    for title, entry in zip(titles, manifest.vocabulary, strict=True):
        yield f"{entry['file']}: {entry['size']:,} {title} {entries_of(options['vocab_type'])}"
    for name, entry in manifest.labels.items():
        yield f"{entry['file']}: {entry['size']:,} labels of {name}"
    samples = sample_splits(manifest.options)
    for split, entry in manifest.splits.items():
        if split in samples[1:]:
            continue
        shards = len(entry["shards"])
        totals = {
            name: sum(shard[name] for shard in entry["shards"])
            for name in ("source_tokens", "target_tokens", *(f.name for f in features))
        }
        yield (
            f"{problem.base_name}-{split}-*: {counted(shards, 'shard')}, "
            f"{entry['pairs']:,} {inflected('pair', entry['pairs'])}, "
            f"{totals['source_tokens']:,} source and {totals['target_tokens']:,} target tokens"
            + "".join(f", {totals[feature.name]:,} {feature.name}" for feature in features)
            + (f"; one of {len(samples)} random segmentations" if split in samples else "")
        )
        for kind, count in entry["faults"].items():
            yield f"  {count:,} x {kind} ({'dropped' if split == 'train' else 'kept'})"
    if kept := kept_texts(problem.base_name, manifest):
        yield f"as text: {kept}"


def next_steps(problem: Problem, manifest: Manifest, folder: pathlib.Path) -> Iterator[str]:
    """Yield the hparams sets that suit the corpus, if the problem has none, and a command to train.

    Args:
        problem: the problem of the data.
        manifest: manifest of complete data.
        folder: the data folder.
    """
    chosen, train_steps = problem.hparams_set, problem.train_steps
    if not chosen:
        pairs = manifest.splits["train"]["pairs"]
        size = corpus_size(pairs)
        chosen, train_steps = f"transformer_{size.name}", size.train_steps
        yield (
            f"for {pairs:,} {inflected('training pair', pairs)}: hparams sets ending in "
            f"_{size.name}, for {size.train_steps:,} updates, such as transformer_{size.name} and "
            f"phrase_interleaved_convkv_1_2_{size.name}"
        )
    changes = ",".join(_changes(chosen, manifest.options))
    own = _user_folder(problem)
    yield (
        f"next: t2t-phrase-trainer {shlex.quote(f'--t2t_usr_dir={own}') + ' ' if own else ''}"
        f"--problem={problem.name} "
        f"{shlex.quote(f'--data_dir={folder}')} --hparams_set={chosen} "
        f"{f'--hparams={changes} ' if changes else ''}"
        f"{f'--train_steps={train_steps} ' if train_steps else ''}--output_dir=..."
    )


def _user_folder(problem: Problem) -> str:
    """Return the user's folder that defines a problem; "": the library does."""
    file = pathlib.Path(inspect.getfile(type(problem)))
    return next((own for own in registry.user_folders() if file.is_relative_to(own)), "")


def _changes(hparams_set: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changes to an hparams set that data with these options need."""
    hparams = registry.hparams[hparams_set]() if hparams_set in registry.hparams else None
    joint = ("share_source_embedding", "shared_embedding_and_softmax_weights")
    if not options["shared_vocab"] and all(getattr(hparams, name, False) for name in joint):
        yield "share_source_embedding=false"
    if samples := sample_splits(options):
        yield f"sampled_segmentations={len(samples)}"


def kept_texts(base: str, manifest: Manifest) -> str:
    """Return the names of the text files in shell notation: "x-{dev,test}.{en,de}".

    Args:
        base: base name of the problem, with which the names begin.
        manifest: manifest of complete data.
    """
    splits: dict[tuple[str, ...], list[str]] = {}
    for split, entry in manifest.splits.items():
        names = [*entry["text"], *entry["side"]]
        endings = tuple(name.removeprefix(f"{base}-{split}.") for name in names)
        if endings:
            splits.setdefault(endings, []).append(split)
    return ", ".join(f"{base}-{_any(own)}.{_any(endings)}" for endings, own in splits.items())


def _any(names: Sequence[str]) -> str:
    return f"{{{','.join(names)}}}" if len(names) > 1 else names[0]

"""The vocabularies of labels: files with one label per line, the most frequent first."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from t2t_phrase.data.generation.progress import Log
from t2t_phrase.data.generation.staged import has_checksum
from t2t_phrase.features import Feature
from t2t_phrase.io.files import sha256_of, write
from t2t_phrase.text.annotations.base import annotation_of
from t2t_phrase.text.annotations.labels import LabelAnnotation
from t2t_phrase.text.most_frequent import most_frequent


def labelled(features: Sequence[Feature]) -> dict[str, LabelAnnotation]:
    """Return the annotations that have labels, by the names of their features."""
    found = {feature.name: annotation_of(feature) for feature in features}
    return {name: form for name, form in found.items() if isinstance(form, LabelAnnotation)}


def labels_intact(
    folder: pathlib.Path, entries: Mapping[str, Mapping[str, Any]], features: Sequence[Feature]
) -> bool:
    """Return whether the label files of all features with labels are on disk, undamaged."""
    return all(
        name in entries and has_checksum(folder / entries[name]["file"], entries[name]["sha256"])
        for name in labelled(features)
    )


def write_labels(
    base_name: str,
    folder: pathlib.Path,
    counts: Mapping[str, Mapping[str, int]],
    features: Sequence[Feature],
    log: Log,
) -> dict[str, dict[str, Any]]:
    """Write the most frequent labels of each feature with labels.

    Args:
        base_name: base name of the problem.
        folder: the data folder.
        counts: how often each label occurs in the training set, by feature.
        features: the features that the records will hold.
        log: takes a line for each feature whose rarest labels are left out.

    Returns:
        Entries of the manifest, by feature.

    Raises:
        WriteError: the disk is full, or the folder is not writable.
    """
    entries = {}
    for name, annotation in labelled(features).items():
        found = counts.get(name, {})
        kept = most_frequent(found, annotation.most_labels)
        if left := len(found) - len(kept):
            log(f"{base_name}: the {left:,} rarest labels of {name} share one class")
        path = folder / f"vocab.{base_name}.{name}.txt"
        write(path, "".join(f"{label}\n" for label in kept))
        entries[name] = {"file": path.name, "sha256": sha256_of(path), "size": len(kept)}
    return entries


def read_labels(
    folder: pathlib.Path, entries: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Return the labels of each feature with labels, in the order of their integers."""
    return {
        name: (folder / entry["file"]).read_text(encoding="utf-8").split("\n")[:-1]
        for name, entry in entries.items()
    }

"""Writes raw pairs to clean text files; faulty pairs are dropped, counted and reported."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.checks import check_all
from t2t_phrase.data.generation.faults import LISTED, Faults, find_faults
from t2t_phrase.data.generation.output_files import Outputs, open_outputs
from t2t_phrase.data.generation.progress import Progress
from t2t_phrase.data.sources.corpus import Pair
from t2t_phrase.features import Feature
from t2t_phrase.text.whitespace import normalize_whitespace


def feature_streams(features: Sequence[Feature]) -> tuple[str, ...]:
    """Return the streams that features are made from, each once."""
    return tuple(dict.fromkeys(feature.side_stream for feature in features))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Staged:
    """Result of `stage`.

    Attributes:
        pairs: number of pairs written.
        faults: number of faults by kind.
        labels: how often each label occurs in dealt pairs, for each feature that has labels.
        messages: lines to be logged.
    """

    pairs: int
    faults: dict[str, int]
    labels: dict[str, dict[str, int]]
    messages: list[str]


def stage(
    pairs: Iterator[Pair],
    *,
    outputs: Outputs,
    drop_faulty: bool,
    max_characters: int,
    progress: Progress,
    streams: Sequence[str] = (),
    features: Sequence[Feature] = (),
    workers: int = 1,
) -> Staged:
    """Write the pairs, with normalised blanks, to parallel text files.

    Args:
        pairs: raw pairs.
        outputs: the files.
        drop_faulty: leave out faulty pairs (training). Otherwise empty and over-long sides are
            kept, so that line numbers and scores do not change, and invalid UTF-8 is an error.
        max_characters: a longer side is a fault.
        progress: counts the pairs.
        streams: names of the lines in `Pair.side`.
        features: the features made from the streams, whose lines are checked.
        workers: number of processes that check them; 1: this process.

    Raises:
        UserError: invalid UTF-8 where it is an error, a line that does not fit its sentence, no
            pairs at all, or a full disk.
    """
    labels: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    dealt_streams = [streams.index(stream) for stream in feature_streams(features)]
    faults = Faults()
    misfits: dict[str, None] = {}  # several features may read the same line
    indices: collections.deque[int] = collections.deque()  # of pairs that are being checked
    written = 0

    def usable() -> Iterator[Pair]:
        for index, pair in enumerate(pairs):
            progress.advance()
            found = list(find_faults(pair, max_characters=max_characters))
            for kind, place in found:
                faults.add(kind, index, place)
            if not found or not (drop_faulty or None in pair.texts):
                indices.append(index)
                yield pair._replace(
                    texts=tuple(normalize_whitespace(text or "") for text in pair.texts)
                )

    with open_outputs(outputs, dealt_streams) as files:
        for checked in check_all(usable(), streams, features, workers=workers):
            misfits.update(dict.fromkeys(checked.misfits))
            if len(misfits) >= LISTED:
                break
            if outputs.dealt:
                for name, counts in checked.labels.items():
                    labels[name].update(counts)
            for pair in checked.pairs:
                files.write(indices.popleft(), pair)
                written += 1
        files.to_disk()
    if misfits:
        listed = itertools.islice(misfits, LISTED)
        raise UserError("lines that do not fit their sentences: " + "; ".join(listed))
    if not drop_faulty and faults.counts["invalid UTF-8"]:
        described = faults.describe("not allowed in a dev or test set")
        found = next(line for line in described if "x invalid UTF-8" in line)
        raise UserError(f"{found}; convert the file to UTF-8, for example with iconv")
    require_pairs(written, faults)
    return Staged(
        pairs=written,
        faults=faults.by_kind(),
        labels={name: dict(sorted(counts.items())) for name, counts in labels.items()},
        messages=faults.describe(
            "dropped" if drop_faulty else "kept, so that scores remain comparable"
        ),
    )


def require_pairs(count: int, faults: Faults) -> None:
    """Check that a split has pairs.

    Raises:
        UserError: there are no usable pairs; the message lists the faults of those that were read.
    """
    if not count:
        detail = "; ".join(faults.describe("dropped"))
        raise UserError(f"no usable sentence pair: {detail or 'the files are empty'}")

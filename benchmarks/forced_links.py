"""Links that models make when t2t-phrase-decoder forces them to a given translation."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from alignment_steps import System, Text
from trained_runs import newest

from t2t_phrase.comparison import steps


def forced_links(
    system: System,
    text: Text,
    *,
    data_dir: pathlib.Path,
    work_dir: pathlib.Path,
    stem: str,
    options: Sequence[str] = (),
) -> tuple[pathlib.Path, list[str]]:
    """Score the pairs of a text unless it is done already; return the link file and the flags.

    Args:
        system: trained models.
        text: source and references.
        data_dir: folder of the data.
        work_dir: folder for the files.
        stem: start of the names of this system's files.
        options: of decoding, besides the one that writes alignments.
    """
    scores, pairs = work_dir / f"{stem}.scores", write_pairs(text, work_dir)
    flags = [
        *system.flags,
        f"--data_dir={data_dir}",
        f"--score_file={pairs}",
        f"--decode_to_file={scores}",
        f"--decode_hparams={','.join([*filter(None, options), 'write_alignments=true'])}",
        *features(system, text),
    ]
    log = work_dir / f"{stem}.scores.log"
    sources = [newest(system.inputs), pairs]
    steps.make("decoder", flags, made=scores, sources=sources, log=log)
    return pathlib.Path(f"{scores}.align"), flags


def write_pairs(text: Text, work_dir: pathlib.Path) -> pathlib.Path:
    """Write source and reference of each line; an unchanged file keeps its time stamp."""
    from t2t_phrase.io.text_files import read_text, write_text

    pairs = work_dir / "pairs.tsv"
    sides = (read_text(str(path)) for path in (text.source, text.target))
    lines = ["\t".join(pair) for pair in zip(*sides, strict=True)]
    if not pairs.exists() or read_text(str(pairs)) != lines:
        write_text(str(pairs), lines)
    return pairs


def features(system: System, text: Text) -> list[str]:
    """Return the flag with the files of features of the source, such as trees."""
    from t2t_phrase.features import of_side
    from t2t_phrase.runs.record import RunRecord

    # Members of an ensemble may read the same feature.
    files = {
        feature.name: text.source.with_suffix(f".{feature.side_stream}")
        for folder in system.models
        for feature in of_side(RunRecord.load(folder).resolved().features, "source")
    }
    return [f"--feature_files={','.join(f'{n}={f}' for n, f in files.items())}"] if files else []

"""t2t-phrase-align: aligns the words of parallel text, in Pharaoh format.

    t2t-phrase-align --source=train.en --target=train.de
    t2t-phrase-align --source=train.en --target=train.de --source=dev.en --target=dev.de

Files given together are aligned together, so that a small one benefits from the statistics of all.
Words are separated by blanks. No data but the text are needed.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Sequence

from absl import app, flags

from t2t_phrase.bin import common
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.config import UserError
from t2t_phrase.data.sources.corpus import pairs_of
from t2t_phrase.features import ALIGN
from t2t_phrase.io.files import expanded, is_special
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.reporting import note
from t2t_phrase.io.terminal import Screen
from t2t_phrase.io.text_files import write_text
from t2t_phrase.io.text_job import check_paths
from t2t_phrase.text.alignments.pharaoh import write_links
from t2t_phrase.word_aligner import aligner
from t2t_phrase.word_aligner.aligner import AlignerOptions, align, can_align
from t2t_phrase.word_aligner.symmetrization import SYMMETRIZATIONS, Link
from t2t_phrase.word_aligner.translation_table import count_translations, write_translation

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_multi_string(
        "source", None, "Text, one sentence per line, plain or gzipped; repeat the flag for more."
    )
    flags.DEFINE_multi_string(
        "target", None, "Its translation, line by line; one for each --source, in the same order."
    )
    flags.DEFINE_multi_string(
        "output_file",
        None,
        "File for the alignment, one for each pair of files in the same order; default: the name "
        f"of the target with `.{ALIGN}` appended, where t2t-phrase-datagen looks for it.",
    )
    flags.DEFINE_string(
        "lexicon_file",
        None,
        "File for the translations of each word in all texts, with probabilities and counts: "
        "t2t-phrase-decoder --lexicon_file reads it.",
    )
    flags.DEFINE_integer(
        "iterations",
        AlignerOptions.iterations,
        "Iterations of EM, for each model and direction.",
        lower_bound=1,
        upper_bound=1000,
    )
    flags.DEFINE_enum(
        "symmetrization",
        AlignerOptions.symmetrization,
        list(SYMMETRIZATIONS),
        "How the alignments of both directions are combined; forward: at most one source word for "
        "each target word, backward: the reverse.",
    )
    flags.DEFINE_bool("lowercase", AlignerOptions.lowercase, "Ignore case.")


@dataclasses.dataclass(frozen=True)
class Text:
    """Two parallel files, and the file for their alignment.

    Attributes:
        source, target, output: names of files.
        pairs: the words of each pair of lines.
    """

    source: str
    target: str
    output: str
    pairs: list[tuple[list[str], list[str]]]


def main(argv: Sequence[str]) -> None:
    """Align all files."""
    del argv
    names = checked_names()
    texts = [Text(*three, read(*three[:2])) for three in names]
    pairs = [pair for text in texts for pair in text.pairs]
    options = AlignerOptions(
        iterations=FLAGS.iterations,
        symmetrization=FLAGS.symmetrization,
        lowercase=FLAGS.lowercase,
    )
    screen = Screen("stderr")
    links = align([own for own, _ in pairs], [other for _, other in pairs], options, log=screen)
    screen.close()
    if long := sum(all(pair) and not can_align(*pair) for pair in pairs):
        note(f"no links: {counted(long, 'sentence pair')} with a side over {aligner.LONGEST} words")
    if empty := sum(not all(pair) for pair in pairs):
        note(f"no links: {counted(empty, 'sentence pair')} with an empty side")
    first = 0
    for text in texts:
        write(text, links[first : first + len(text.pairs)])
        first += len(text.pairs)
    if FLAGS.lexicon_file:
        # Words of pairs that were not aligned are not words without a link.
        aligned = [can_align(*pair) for pair in pairs]
        found = count_translations(
            (own for own, _ in itertools.compress(pairs, aligned)),
            (other for _, other in itertools.compress(pairs, aligned)),
            itertools.compress(links, aligned),
        )
        write_text(FLAGS.lexicon_file, [write_translation(entry) for entry in found])
        note(f"{counted(len(found), 'translation')} of words written to {FLAGS.lexicon_file}")


def checked_names() -> list[tuple[str, str, str]]:
    """Return the names of source, target and output of each pair of files.

    Raises:
        UsageError: no files are named, or their numbers differ.
        UserError: an output is an input or another output, cannot be written, or has the name of a
            compressed file.
    """
    refuse_empty("lexicon_file")
    sources, targets, outputs = FLAGS.source or [], FLAGS.target or [], FLAGS.output_file or []
    if not (sources and targets and all((*sources, *targets, *outputs))):
        raise app.UsageError("--source and --target are required, and name files")
    if len(sources) != len(targets) or (outputs and len(outputs) != len(sources)):
        raise app.UsageError(
            f"{len(sources)} x --source, {len(targets)} x --target, {len(outputs)} x "
            "--output_file: give the same number of each, or no --output_file"
        )
    lexicon = [FLAGS.lexicon_file] if FLAGS.lexicon_file else []
    outputs = outputs or [f"{name.removesuffix('.gz')}.{ALIGN}" for name in targets]
    taken: dict[str, str] = {}
    for name in (*outputs, *lexicon):
        check_paths(name, (*sources, *targets))
        place = os.path.realpath(os.path.expanduser(name))
        if place in taken and not is_special(name):
            raise UserError(f"{name} is given for two outputs; give each a different name")
        taken[place] = name
    return list(zip(sources, targets, outputs, strict=True))


def read(source: str, target: str) -> list[tuple[list[str], list[str]]]:
    """Return the words of each line of two parallel files.

    Raises:
        UserError: a file cannot be read, a line is not valid UTF-8, or one file has more lines.
    """
    found = []
    # Equal words share one string, so that memory does not grow with their letters.
    known: dict[str, str] = {}
    for pair in pairs_of([expanded(name) for name in (source, target)]):
        own, other = pair.texts
        if own is None or other is None:
            name = pair.names[0 if own is None else 1]
            raise UserError(
                f"{name}:{pair.line}: the line is not valid UTF-8; convert the file, for example "
                "with iconv"
            )
        first, second = (
            [known.setdefault(word, word) for word in line.split()] for line in (own, other)
        )
        found.append((first, second))
    return found


def write(text: Text, links: Sequence[set[Link]]) -> None:
    """Write the alignment of two files.

    Raises:
        WriteError: the disk is full, or the file is not writable.
    """
    write_text(text.output, [write_links(found) for found in links])
    count = sum(map(len, links))
    pairs = counted(len(links), "sentence pair")
    note(f"{pairs}: {counted(count, 'link')} written to {text.output}")


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=False)


if __name__ == "__main__":
    run()

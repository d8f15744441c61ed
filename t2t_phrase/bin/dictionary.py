"""t2t-phrase-dictionary: makes dictionaries for single sentences, or of words, from references.

    t2t-phrase-dictionary --source=dev.en --reference=dev.de --alignments=dev.de.align \\
        --translation=plain.de --output_file=dev.dictionary
    t2t-phrase-decoder ... --decode_from_file=dev.en --sentence_dictionary=dev.dictionary

These commands show how much a translation would gain if a customer specified the translations of
some words: the experiment of Alkhouli et al. (2018), Section 7.

    t2t-phrase-dictionary --words --source=train.en --reference=train.de \\
        --alignments=train.de.align --output_file=words.tsv
    t2t-phrase-decoder ... --decode_hparams=replace_unknown=true --unknown_dictionary=words.tsv

With --words, the dictionary has a translation for every source word: the target word with which it
is aligned most often in a corpus.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from absl import app, flags

from t2t_phrase.bin import common
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.config import UserError
from t2t_phrase.io.line_counts import check_one_to_one, counted
from t2t_phrase.io.reporting import note
from t2t_phrase.io.text_files import read_text, stream_text, write_text
from t2t_phrase.io.text_job import check_paths
from t2t_phrase.text.alignments.pharaoh import check_range, read_links
from t2t_phrase.text.alignments.word_dictionary import dictionary_lines, word_dictionary
from t2t_phrase.text.dictionaries.reader import Entry, write_sentence_dictionaries
from t2t_phrase.text.dictionaries.simulated import MOST, simulated_entries
from t2t_phrase.text.dictionaries.stop_words import english_stop_words, read_stop_words

FLAGS = flags.FLAGS
INPUTS = {
    "source": "Text, one sentence per line, plain or gzipped.",
    "reference": "A human translation, line by line.",
    "alignments": "Links between the words of both in Pharaoh format, such as those of "
    "t2t-phrase-align.",
    "translation": "Its translation by a model without a dictionary: words in it need no entry.",
}


def define_flags() -> None:
    """Define the command's flags."""
    for name, meaning in INPUTS.items():
        flags.DEFINE_string(name, None, meaning)
    flags.DEFINE_string(
        "output_file",
        None,
        "File for sentence number<TAB>source word<TAB>target word, which t2t-phrase-decoder reads "
        "with --sentence_dictionary; with --words: source word<TAB>target word.",
    )
    flags.DEFINE_bool(
        "words",
        False,
        "Make one dictionary of words for all sentences, which t2t-phrase-decoder reads with "
        "--unknown_dictionary; --translation is not needed.",
    )
    flags.DEFINE_integer(
        "least",
        1,
        "With --words: how often a word and its translation must be linked.",
        lower_bound=1,
    )
    flags.DEFINE_string(
        "stop_words",
        None,
        "File of words that get no entries, separated by blanks; # begins a comment. Default: "
        "English words that come with the library.",
    )
    flags.DEFINE_enum(
        "stop_words_of", "source", ("source", "target"), "Side to which the stop words belong."
    )
    flags.DEFINE_integer(
        "max_entries",
        MOST,
        "Maximum number of entries per sentence.",
        lower_bound=1,
        upper_bound=1000,
    )


def main(argv: Sequence[str]) -> None:
    """Make a dictionary for each sentence, or a dictionary of words."""
    del argv
    refuse_empty("stop_words")
    read = [name for name in INPUTS if not (FLAGS.words and name == "translation")]
    if missing := [name for name in (*read, "output_file") if not FLAGS[name].value]:
        raise app.UsageError(f"--{missing[0]} is required, and names a file")
    others = ("translation", "stop_words", "stop_words_of", "max_entries")
    for name in others if FLAGS.words else ("least",):
        if FLAGS[name].present:
            raise app.UsageError(
                f"--{name} {'cannot be used with' if FLAGS.words else 'is only used with'} --words"
            )
    names = {name: str(FLAGS[name].value) for name in read}
    check_paths(FLAGS.output_file, [*names.values(), FLAGS.stop_words])
    if FLAGS.words:
        found_words = word_dictionary(corpus(names), least=FLAGS.least, name=names["alignments"])
        write_text(FLAGS.output_file, dictionary_lines(found_words))
        note(f"{counted(len(found_words), 'word')} with translations: {FLAGS.output_file}")
        return
    if FLAGS.stop_words:
        stop_words = read_stop_words(read_text(FLAGS.stop_words))
    else:
        stop_words = english_stop_words()
    texts = {name: read_text(path) for name, path in names.items()}
    for name, lines in texts.items():
        check_one_to_one(names[name], len(lines), names["source"], len(texts["source"]))
    found = dict(entries_of_sentences(names, texts, stop_words))
    write_text(FLAGS.output_file, write_sentence_dictionaries(found))
    count = sum(map(len, found.values()))
    words = sum(len(line.split()) for line in texts["reference"])
    note(
        f"{count} {'entry' if count == 1 else 'entries'} for {len(found)} of "
        f"{counted(len(texts['source']), 'sentence')}, "
        f"{100 * count / max(words, 1):.1f}% of the words of the reference, written to "
        f"{FLAGS.output_file}"
    )


def corpus(names: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the source, target and alignment of every sentence pair.

    Args:
        names: names of the files.

    Raises:
        UserError: the files have different numbers of lines.
    """
    files = [names[name] for name in ("source", "reference", "alignments")]
    for number, lines in enumerate(
        itertools.zip_longest(*(stream_text(file) for file in files)), start=1
    ):
        ended = [file for file, line in zip(files, lines, strict=True) if line is None]
        if ended:
            raise UserError(
                f"{ended[0]} has no line {number}, unlike the others; the lines must correspond "
                "one to one"
            )
        source, target, alignment = lines
        yield str(source), str(target), str(alignment)


def entries_of_sentences(
    names: dict[str, str], texts: dict[str, list[str]], stop_words: frozenset[str]
) -> Iterator[tuple[int, list[Entry]]]:
    """Yield the number of each sentence that has entries, and its entries.

    Args:
        names: names of the files, for messages.
        texts: the lines of each file.
        stop_words: see `simulated_entries`.

    Raises:
        UserError: a line of alignments is malformed or links words that do not exist.
    """
    lines = zip(*(texts[name] for name in INPUTS), strict=True)
    for number, (source, reference, line, translation) in enumerate(lines, start=1):
        try:
            links = read_links(line)
            check_range(links.all, len(source.split()), len(reference.split()))
        except UserError as error:
            raise UserError(f"{names['alignments']}:{number}: {error}") from error
        entries = simulated_entries(
            source,
            reference,
            links.sure,
            translation,
            stop_words=stop_words,
            stop_side=FLAGS.stop_words_of,
            most=FLAGS.max_entries,
        )
        if entries:
            yield number, entries


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=False)


if __name__ == "__main__":
    run()

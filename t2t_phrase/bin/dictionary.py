"""t2t-phrase-dictionary: makes a dictionary for each sentence from reference translations.

    t2t-phrase-dictionary --source=dev.en --reference=dev.de --alignments=dev.de.align \
        --translation=plain.de --output=dev.dictionary
    t2t-phrase-decoder ... --decode_from_file=dev.en --sentence_dictionary=dev.dictionary

So much would a translation gain if a customer said how some words are to be translated: the
experiment of Alkhouli et al. (2018), Section 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from absl import app, flags

from t2t_phrase.bin import common
from t2t_phrase.bin.decoder import note
from t2t_phrase.config import UserError
from t2t_phrase.evaluation.text_files import check_writable, read_text, write_text
from t2t_phrase.files import refuse_inputs
from t2t_phrase.text.alignments.pharaoh import check_range, read_links
from t2t_phrase.text.dictionaries.reader import Entry, write_sentence_dictionaries
from t2t_phrase.text.dictionaries.simulated import MOST, simulated_entries
from t2t_phrase.text.dictionaries.stop_words import english_stop_words, read_stop_words

FLAGS = flags.FLAGS
INPUTS = {
    "source": "Text with a sentence in each line, plain or gzipped.",
    "reference": "Its translation by somebody, line by line.",
    "alignments": "Links between the words of both in Pharaoh format, such as those of "
    "t2t-phrase-align.",
    "translation": "Its translation by a model without a dictionary: words that it has need no "
    "entry.",
}


def define_flags() -> None:
    """Define the command's flags."""
    for name, meaning in INPUTS.items():
        flags.DEFINE_string(name, None, meaning)
    flags.DEFINE_string(
        "output",
        None,
        "File for sentence number<TAB>source word<TAB>target word, which t2t-phrase-decoder reads "
        "by --sentence_dictionary.",
    )
    flags.DEFINE_string(
        "stop_words",
        None,
        "File of words that get no entries, separated by blanks, # begins a comment. Default: "
        "English words that come with the library.",
    )
    flags.DEFINE_enum(
        "stop_words_of", "source", ("source", "target"), "The side that stop words are words of."
    )
    flags.DEFINE_integer(
        "max_entries", MOST, "Most entries of a sentence.", lower_bound=1, upper_bound=1000
    )


def main(argv: Sequence[str]) -> None:
    """Make a dictionary for each sentence."""
    del argv
    if missing := [name for name in (*INPUTS, "output") if not FLAGS[name].value]:
        raise app.UsageError(f"--{missing[0]} is required, and names a file")
    names = {name: str(FLAGS[name].value) for name in INPUTS}
    refuse_inputs(FLAGS.output, [*names.values(), FLAGS.stop_words])
    check_writable(FLAGS.output)
    if FLAGS.stop_words:
        stop_words = read_stop_words(read_text(FLAGS.stop_words))
    else:
        stop_words = english_stop_words()
    texts = {name: read_text(path) for name, path in names.items()}
    for name, lines in texts.items():
        if len(lines) != len(texts["source"]):
            raise UserError(
                f"{names[name]} has {len(lines)} lines and {names['source']} has "
                f"{len(texts['source'])}; the lines must correspond one to one"
            )
    found = dict(entries_of_sentences(names, texts, stop_words))
    write_text(FLAGS.output, write_sentence_dictionaries(found))
    count = sum(map(len, found.values()))
    words = sum(len(line.split()) for line in texts["reference"])
    note(
        f"{count} entries for {len(found)} of {len(texts['source'])} sentences, "
        f"{100 * count / max(words, 1):.1f}% of the words of the reference, written to "
        f"{FLAGS.output}"
    )


def entries_of_sentences(
    names: dict[str, str], texts: dict[str, list[str]], stop_words: frozenset[str]
) -> Iterator[tuple[int, list[Entry]]]:
    """Yield the number of each sentence that has entries, and these.

    Args:
        names: of the files, for messages.
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

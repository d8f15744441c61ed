"""The vocabularies of a problem's data: their options, and how they are learned or taken over."""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from t2t_phrase.config import UserError
from t2t_phrase.corpus_sizes import AUTO, vocabulary_size
from t2t_phrase.data.generation.dealing import place_of
from t2t_phrase.data.generation.given_vocabulary import given_options, given_vocabularies
from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.options import GenerateOptions, VocabType
from t2t_phrase.data.generation.progress import Log
from t2t_phrase.data.generation.t2t_vocabulary import T2T_TYPE
from t2t_phrase.data.problem import Problem
from t2t_phrase.io.files import write
from t2t_phrase.io.lines import read_lines
from t2t_phrase.text.encoders import SpellingEncoder, StoredEncoder, make_encoder
from t2t_phrase.text.subwords.encoder import BLANK, SubwordEncoder
from t2t_phrase.text.subwords.training import least_pieces, train_subwords
from t2t_phrase.text.words.training import train_words


class NewVocabulary(NamedTuple):
    """A vocabulary that may not be written yet.

    Attributes:
        path: path of its file.
        content: bytes of its file.
    """

    path: pathlib.Path
    content: bytes

    def entry(self) -> dict[str, Any]:
        """Return the entry of the file in the manifest."""
        return {
            "file": self.path.name,
            "sha256": hashlib.sha256(self.content).hexdigest(),
            "size": make_encoder(self.content).vocab_size,
        }

    def write(self) -> None:
        """Write the file.

        Raises:
            WriteError: the disk is full, or the folder is write-protected.
        """
        write(self.path, self.content)


def new_entries(
    vocabularies: Sequence[NewVocabulary], known: Sequence[dict[str, Any]], *, given: bool
) -> list[dict[str, Any]]:
    """Return the entries of vocabularies that are to be written.

    Args:
        vocabularies: the vocabularies.
        known: entries of the files that they may replace.
        given: whether they are copies of given vocabularies, not learned.

    Raises:
        UserError: an unrelated file has the name of a vocabulary.
    """
    names = [entry["file"] for entry in known]
    for path, content in vocabularies:
        if path.is_file() and path.read_bytes() != content and path.name not in names:
            if given:
                raise UserError(
                    f"{path} exists and differs from the given vocabulary, which is copied to this "
                    "name; move it away, or use another --data_dir"
                )
            raise UserError(
                f"{path} exists and was not made from this corpus: add --vocab_file={path} to use "
                "it, or move it away to learn a vocabulary"
            )
    return [vocabulary.entry() for vocabulary in vocabularies]


def vocabulary_options(problem: Problem, options: GenerateOptions) -> dict[str, Any]:
    """Return the type, number and sizes of the vocabularies: given options, else the problem's.

    Raises:
        UserError: a size is given for a target vocabulary that does not exist, a given vocabulary
            cannot be used.
    """
    if given := given_vocabularies(options):
        return given_options(given)
    shared = problem.shared_vocab if options.shared_vocab is None else options.shared_vocab
    if shared and options.target_vocab_size:
        raise UserError(
            f"--target_vocab_size={options.target_vocab_size}: source and target share one "
            "vocabulary, whose size is --vocab_size; for two vocabularies add --noshared_vocab"
        )
    vocab_size = options.vocab_size or problem.vocab_size
    target_vocab_size = options.target_vocab_size or problem.target_vocab_size or vocab_size
    symbols = options.user_defined_symbols or problem.user_defined_symbols
    return {
        "vocab_type": options.vocab_type or problem.vocab_type,
        "shared_vocab": shared,
        "vocab_size": "auto" if vocab_size == AUTO else vocab_size,
        "target_vocab_size": 0
        if shared
        else "auto"
        if target_vocab_size == AUTO
        else target_vocab_size,
        # Data that were made without symbols have no such option.
        **({"user_defined_symbols": list(symbols)} if symbols else {}),
    }


def take_vocabularies(
    problem: Problem, folder: pathlib.Path, encoders: Sequence[StoredEncoder], log: Log
) -> list[NewVocabulary]:
    """Return given vocabularies under the names that they have next to the data.

    Args:
        problem: the problem of the data.
        folder: the data folder.
        encoders: one for both languages, or one for each.
        log: takes a line for each vocabulary.
    """
    languages = ("",) if len(encoders) == 1 else tuple(f".{x}" for x in problem.languages)
    found = []
    for language, encoder in zip(languages, encoders, strict=True):
        size = encoder.vocab_size
        path = folder / f"vocab.{problem.base_name}{language}.{size}.{encoder.file_ending}"
        found.append(NewVocabulary(path, encoder.model_bytes))
        log(f"{problem.base_name}: {size:,} entries of the given vocabulary, as {path.name}")
        if isinstance(encoder, SubwordEncoder) and encoder.normalizer:
            log(
                f"{problem.base_name}: {path.name} changes text by the rules {encoder.normalizer}, "
                "so translations are in changed text, too"
            )
        # Symbols that tensor2tensor's subwords split are never one entry.
        pieces = set(encoder.pieces(range(size)) if isinstance(encoder, SpellingEncoder) else ())
        missing = [x for x in problem.user_defined_symbols if not pieces & {x, BLANK + x}]
        if missing:
            log(
                f"{problem.base_name}: {path.name} has no entry for {', '.join(missing)}, which "
                "the problem defines as symbols"
            )
    return found


def learn_vocabularies(
    problem: Problem,
    manifest: Manifest,
    folder: pathlib.Path,
    dealt: Sequence[Sequence[pathlib.Path]],
    log: Log,
) -> list[NewVocabulary]:
    """Learn the vocabularies that a manifest's options ask for.

    Args:
        problem: the problem of the data.
        manifest: manifest with the options and the number of training pairs.
        folder: the data folder.
        dealt: the text files of each training shard.
        log: takes a line for each vocabulary.

    Raises:
        UserError: as for `learn_vocabulary`.
    """
    options = manifest.options
    pairs = manifest.splits["train"]["pairs"]
    name = f"vocab.{problem.base_name}"
    wanted: list[tuple[str, str, Sequence[int], int | str]]
    if options["shared_vocab"]:
        wanted = [(name, "joint", (0, 1), options["vocab_size"])]
    else:
        sizes = [options[n] for n in ("vocab_size", "target_vocab_size")]
        wanted = [
            (f"{name}.{language}", language, (column,), sizes[column])
            for column, language in enumerate(problem.languages)
        ]
    share = min(1.0, options["vocab_pairs"] / pairs)
    taken = f"about {options['vocab_pairs']:,} of " if share < 1 else ""
    units = entries_of(options["vocab_type"])
    found = []
    for stem, title, columns, asked in wanted:
        text = sample(dealt, columns, share)
        size = _auto_size(options, pairs, text) if asked == "auto" else int(asked)
        log(
            f"{problem.base_name}: learning {size:,} {title} {units} from {taken}{pairs:,} "
            "sentence pairs"
        )
        try:
            content = learn_vocabulary(
                sample(dealt, columns, share),
                vocab_type=options["vocab_type"],
                vocab_size=size,
                character_coverage=options["character_coverage"],
                user_defined_symbols=options.get("user_defined_symbols", ()),
            )
        except UserError as error:
            raise UserError(f"{title} vocabulary: {error}") from error
        ending = "txt" if options["vocab_type"] == "words" else "model"
        found.append(NewVocabulary(folder / f"{stem}.{size}.{ending}", content))
        entries = found[-1].entry()["size"]
        if entries < size:
            log(f"{problem.base_name}: the text has only {entries:,} {title} {units}")
    return found


def entries_of(vocab_type: str) -> str:
    """Return the name of the entries of such a vocabulary."""
    return {"unigram": "unigram subwords", T2T_TYPE: "subwords of tensor2tensor"}.get(
        vocab_type, vocab_type
    )


def learn_vocabulary(
    text: Iterable[str],
    *,
    vocab_type: VocabType,
    vocab_size: int,
    character_coverage: float,
    user_defined_symbols: Sequence[str] = (),
) -> bytes:
    """Learn a vocabulary and return the content of its file.

    Args:
        text: text to learn from.
        vocab_type: units of the vocabulary.
        vocab_size: maximum number of entries.
        character_coverage: see `train_subwords`.
        user_defined_symbols: words that are always one entry, such as tags.

    Raises:
        UserError: the text is empty, or `vocab_size` is too small.
    """
    if vocab_type == "words":
        return train_words(text, vocab_size=vocab_size, user_defined_symbols=user_defined_symbols)
    return train_subwords(
        text,
        vocab_size=vocab_size,
        character_coverage=character_coverage,
        model_type="unigram" if vocab_type == "unigram" else "bpe",
        user_defined_symbols=user_defined_symbols,
    )


def _auto_size(options: Mapping[str, Any], pairs: int, text: Iterable[str]) -> int:
    """Return a size that suits the number of pairs, and the characters of a text."""
    if options["vocab_type"] == "words":
        return vocabulary_size(pairs)
    least = least_pieces(
        text,
        character_coverage=options["character_coverage"],
        user_defined_symbols=options.get("user_defined_symbols", ()),
    )
    return vocabulary_size(pairs, least)


def sample(
    shards: Sequence[Sequence[pathlib.Path]], columns: Sequence[int], share: float
) -> Iterator[str]:
    """Yield a share of the sentences of a corpus that was distributed by `dealing.deal`.

    They are chosen by the text of the pairs, so the number of shards is irrelevant.

    Args:
        shards: the text files of each shard, source and target first.
        columns: which of a shard's files to read.
        share: share of the pairs, in (0, 1].
    """
    for source, target, *_ in shards:
        for column in columns:
            sides = (read_lines(path, drop_mark=False) for path in (source, target))
            for pair in zip(*sides, strict=True):
                if share == 1 or place_of(*map(str, pair)) < share:
                    yield str(pair[column])

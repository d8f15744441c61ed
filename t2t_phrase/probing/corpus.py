"""Distinct sentences with their trees, in three splits."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from t2t_phrase.config import UserError
from t2t_phrase.probing.tasks import Labels, Task
from t2t_phrase.probing.treebank import Parse, read_parse
from t2t_phrase.text.trees.trees import TreeError, unescaped, word_ends

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
# One sentence in this many belongs to dev, and one to test: 10/1/1.
SHARE = 12


@dataclasses.dataclass(frozen=True)
class ProbeSentence:
    """A sentence and its labels.

    Attributes:
        text: natural text.
        tree: its tree in brackets, for the features that models read.
        line: its line in the file of trees, from 1.
        words: its words as written in the tree.
        starts: for each word, the number, from 0, of its first visible character.
        labels: the labels to predict, by task.
    """

    text: str
    tree: str
    line: int
    words: tuple[str, ...]
    starts: tuple[int, ...]
    labels: dict[str, Labels]


@dataclasses.dataclass(frozen=True)
class ProbeCorpus:
    """Distinct sentences by split, and the reasons for leaving out others.

    Attributes:
        splits: the sentences.
        left_out: numbers of lines left out, by reason.
    """

    splits: dict[Split, list[ProbeSentence]]
    left_out: dict[str, int]

    def describe(self) -> str:
        """Return a line about the numbers of sentences."""
        counts = ", ".join(f"{len(self.splits[split])} {split}" for split in SPLITS)
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
        return f"sentences: {counts}" + (f"; lines left out: {reasons}" if reasons else "")


def split_of(text: str) -> Split:
    """Return the split of a sentence, which depends only on the sentence.

    Sentences that differ only in blanks and case are in the same split.
    """
    # Not the hash of the grammar's own splits, which would make these depend on them.
    digest = hashlib.blake2b(_key(text).encode(), digest_size=8, person=b"probing").digest()
    place = int.from_bytes(digest, "big") % SHARE
    return "test" if place == 0 else "dev" if place == 1 else "train"


def make_corpus(
    lines: Iterable[tuple[str, str | None]],
    tasks: Sequence[Task],
    *,
    name: str,
    most: int | None = None,
) -> ProbeCorpus:
    """Read trees, label sentences and assign them to splits.

    A sentence that repeats an earlier one, apart from blanks and case, is left out.

    Args:
        lines: (tree, sentence); None for a sentence: the words of the tree, separated by blanks.
        tasks: the tasks for which sentences are labelled.
        name: name of the file of trees, for messages.
        most: maximum number of sentences; None: all.

    Raises:
        UserError: a tree cannot be read or does not spell its sentence; the message names the line.
    """
    splits: dict[Split, list[ProbeSentence]] = {split: [] for split in SPLITS}
    left_out: Counter[str] = Counter()
    seen: set[str] = set()
    for number, (tree, text) in enumerate(lines, start=1):
        if most is not None and len(seen) == most:
            break
        if not tree.strip() and not (text or "").strip():
            left_out["without words"] += 1
            continue
        try:
            parse = read_parse(tree)
            sentence = text if text is not None else " ".join(map(unescaped, parse.words))
            ends = word_ends(parse.words, sentence)
        except TreeError as error:
            raise UserError(f"{name}:{number}: {error}") from error
        key = _key(sentence)
        if parse.is_flat:
            left_out["without a parse"] += 1
        elif key in seen:
            left_out["repeated"] += 1
        else:
            seen.add(key)
            splits[split_of(sentence)].append(
                _labelled(parse, sentence, number, (0, *ends[:-1]), tasks)
            )
    return ProbeCorpus(splits, dict(left_out))


def _labelled(
    parse: Parse, text: str, line: int, starts: tuple[int, ...], tasks: Sequence[Task]
) -> ProbeSentence:
    labels = {task.name: task.label(parse) for task in tasks}
    tree = " ".join(parse.line.split())
    return ProbeSentence(text, tree, line, parse.words, starts, labels)


def _key(text: str) -> str:
    return "".join(text.split()).lower()

"""Accuracy on the idioms, compounds and particle verbs of the grammar corpus."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from t2t_phrase import grammar
from t2t_phrase.config import UserError
from t2t_phrase.evaluation.mcnemar import mcnemar
from t2t_phrase.evaluation.p_text import p_text
from t2t_phrase.io.line_counts import check_one_to_one
from t2t_phrase.io.strict_json import parse_json
from t2t_phrase.io.text_files import read_text


@dataclasses.dataclass(frozen=True)
class Judgement:
    """Whether one idiom, compound or particle verb is translated correctly.

    Attributes:
        kind: one of `grammar.PHENOMENA`.
        right: the translation contains all its German words.
        in_order: the same, in the order of the reference.
    """

    kind: str
    right: bool
    in_order: bool


@dataclasses.dataclass(frozen=True)
class Accuracy:
    """The accuracy on one kind of phenomenon.

    Attributes:
        kind: one of `grammar.PHENOMENA`.
        right, in_order: counts, see `Judgement`.
        total: number of items.
    """

    kind: str
    right: int
    in_order: int
    total: int

    @property
    def percent(self) -> float:
        """The accuracy in per cent."""
        return 100 * self.right / self.total

    def __str__(self) -> str:
        return (
            f"{self.kind}: {self.right} of {self.total} right = {self.percent:.2f}%, "
            f"in the right order {100 * self.in_order / self.total:.2f}%"
        )


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A comparison of two systems on one kind of phenomenon.

    Attributes:
        kind: one of `grammar.PHENOMENA`.
        gained, lost: items that only the system, or only the baseline, has right.
        p_value: of McNemar's exact test.
    """

    kind: str
    gained: int
    lost: int
    p_value: float

    def __str__(self) -> str:
        return (
            f"{self.kind}: {self.gained} right here only, {self.lost} right in the baseline only, "
            f"p = {p_text(self.p_value)}".replace("= <", "< ")
        )


def read_facts(path: str) -> list[list[grammar.Rendering]]:
    """Read the phenomena of each sentence from a `.facts` file of the grammar corpus.

    Raises:
        UserError: the file cannot be read, or a line does not contain such facts.
    """
    sentences = []
    for number, line in enumerate(read_text(path), start=1):
        try:
            found = parse_json(line, path)
            sentences.append([_rendering(item) for item in found["renderings"]])
        except (ValueError, KeyError, TypeError):
            raise UserError(
                f"{path}:{number}: expected facts with renderings; regenerate the file with "
                "t2t-phrase-datagen --problem=translate_ende_grammar"
            ) from None
    if not any(sentences):
        raise UserError(f"{path} has no idioms, compounds or particle verbs to judge")
    return sentences


def _rendering(item: Any) -> grammar.Rendering:
    kind, citation, words = item["kind"], item["citation"], item["words"]
    if (
        kind not in grammar.PHENOMENA
        or not isinstance(citation, str)
        or not isinstance(words, list)
    ):
        raise ValueError
    if not words or not all(isinstance(word, str) for word in words):
        raise ValueError
    return grammar.Rendering(kind, citation, tuple(words))


def judge(
    hypotheses: Sequence[str], facts: Sequence[Sequence[grammar.Rendering]]
) -> list[Judgement]:
    """Judge every phenomenon of every sentence, in order.

    An item is right if the translation contains each of its words as a token, inflected as in the
    reference and as often as needed. Matching is case-sensitive, except for the first letter of a
    sentence.

    Args:
        hypotheses: one translation for each sentence.
        facts: see `read_facts`.

    Raises:
        UserError: the numbers of sentences differ.
    """
    check_lengths(hypotheses, facts)
    return [
        _judge(grammar.tokenize(hypothesis), rendering)
        for hypothesis, renderings in zip(hypotheses, facts, strict=True)
        for rendering in renderings
    ]


def check_lengths(hypotheses: Sequence[str], facts: Sequence[Sequence[grammar.Rendering]]) -> None:
    """Check that there are facts for each translation.

    Raises:
        UserError: the numbers of sentences differ.
    """
    check_one_to_one("the translation", len(hypotheses), "the file of facts", len(facts))


def _judge(tokens: list[str], rendering: grammar.Rendering) -> Judgement:
    words = rendering.words
    # The first word may be capitalised only because it begins the sentence.
    variants = [tokens]
    if tokens:
        variants.append([tokens[0][0].lower() + tokens[0][1:], *tokens[1:]])
    needed = collections.Counter(words)
    return Judgement(
        rendering.kind,
        right=any(needed <= collections.Counter(variant) for variant in variants),
        in_order=any(_is_within(words, variant) for variant in variants),
    )


def _is_within(words: Iterable[str], tokens: Sequence[str]) -> bool:
    rest = iter(tokens)
    return all(word in rest for word in words)


def accuracies(judgements: Sequence[Judgement]) -> list[Accuracy]:
    """Count the judgements of each kind that occurs."""
    made = []
    for kind in grammar.PHENOMENA:
        own = [judgement for judgement in judgements if judgement.kind == kind]
        if own:
            right, in_order = (sum(getattr(j, name) for j in own) for name in ("right", "in_order"))
            made.append(Accuracy(kind, right, in_order, len(own)))
    return made


def compare(judgements: Sequence[Judgement], baseline: Sequence[Judgement]) -> list[Comparison]:
    """Compare two systems by McNemar's exact test, once for each kind that occurs."""
    pairs = list(zip(judgements, baseline, strict=True))
    made = []
    for kind in grammar.PHENOMENA:
        own = [(ours.right, theirs.right) for ours, theirs in pairs if ours.kind == kind]
        if own:
            gained, lost = own.count((True, False)), own.count((False, True))
            made.append(Comparison(kind, gained, lost, mcnemar(gained, lost)))
    return made

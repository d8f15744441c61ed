"""Which idioms, compounds and particle verbs of the grammar corpus a translation has right."""

from __future__ import annotations

import collections
import dataclasses
import json
import math
from collections.abc import Iterable, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.text_files import read_text
from t2t_phrase.grammar import PHENOMENA, Rendering, tokenize


@dataclasses.dataclass(frozen=True)
class Judgement:
    """One idiom, compound or particle verb of the source, and what became of it.

    Attributes:
        kind: one of `grammar.PHENOMENA`.
        right: all its German words are in the translation.
        in_order: they are, and in the reference's order.
    """

    kind: str
    right: bool
    in_order: bool


@dataclasses.dataclass(frozen=True)
class Accuracy:
    """How many of a kind are right.

    Attributes:
        kind: one of `grammar.PHENOMENA`.
        right, in_order: counts, see `Judgement`.
        total: how many there are.
    """

    kind: str
    right: int
    in_order: int
    total: int

    @property
    def percent(self) -> float:
        """Share that is right, in per cent."""
        return 100 * self.right / self.total

    def __str__(self) -> str:
        return (
            f"{self.kind}: {self.right} of {self.total} right = {self.percent:.2f}%, "
            f"in the right order {100 * self.in_order / self.total:.2f}%"
        )


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The same phenomena in the translations of two systems.

    Attributes:
        kind: one of `grammar.PHENOMENA`.
        gained, lost: right in the system's translation alone, in the baseline's alone.
        p_value: McNemar's exact test: chance of so uneven a division between equals.
    """

    kind: str
    gained: int
    lost: int
    p_value: float

    def __str__(self) -> str:
        return (
            f"{self.kind}: {self.gained} right here only, {self.lost} in the baseline only, "
            f"p = {self.p_value:.4f}"
        )


def read_facts(path: str) -> list[list[Rendering]]:
    """Read the phenomena of each sentence from a `.facts` file of the grammar corpus.

    Raises:
        UserError: it cannot be read, or a line is no facts; file and line are named.
    """
    sentences = []
    for number, line in enumerate(read_text(path), start=1):
        try:
            found = json.loads(line)["renderings"]
            sentences.append(
                [Rendering(item["kind"], item["citation"], tuple(item["words"])) for item in found]
            )
        except (ValueError, KeyError, TypeError):
            raise UserError(
                f"{path}:{number}: no facts with renderings; t2t-phrase-datagen "
                "--problem=translate_ende_grammar writes such files, earlier versions did not"
            ) from None
    return sentences


def judge(hypotheses: Sequence[str], facts: Sequence[Sequence[Rendering]]) -> list[Judgement]:
    """Judge every phenomenon of every sentence, in order.

    A phenomenon is right if each of its words, in the reference's form, is a token of the
    translation, as often as it is needed. Case counts, but for a sentence's first letter.

    Args:
        hypotheses: one translation a sentence.
        facts: see `read_facts`.

    Raises:
        UserError: not as many sentences as facts.
    """
    if len(hypotheses) != len(facts):
        raise UserError(
            f"the translation has {len(hypotheses)} lines and the facts {len(facts)}; each line of "
            "one must belong to the same line of the other"
        )
    return [
        _judge(tokenize(hypothesis), rendering)
        for hypothesis, renderings in zip(hypotheses, facts, strict=True)
        for rendering in renderings
    ]


def _judge(tokens: list[str], rendering: Rendering) -> Judgement:
    words = rendering.words
    # A sentence's first word may owe its capital to its place.
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
    for kind in PHENOMENA:
        own = [judgement for judgement in judgements if judgement.kind == kind]
        if own:
            right, in_order = (sum(getattr(j, name) for j in own) for name in ("right", "in_order"))
            made.append(Accuracy(kind, right, in_order, len(own)))
    return made


def compare(judgements: Sequence[Judgement], baseline: Sequence[Judgement]) -> list[Comparison]:
    """Compare two systems on the same phenomena, each kind that occurs by McNemar's exact test."""
    pairs = list(zip(judgements, baseline, strict=True))
    made = []
    for kind in PHENOMENA:
        own = [(ours.right, theirs.right) for ours, theirs in pairs if ours.kind == kind]
        if own:
            gained, lost = own.count((True, False)), own.count((False, True))
            made.append(Comparison(kind, gained, lost, mcnemar(gained, lost)))
    return made


def mcnemar(gained: int, lost: int) -> float:
    """Return the two-sided p of McNemar's exact test.

    Under the null hypothesis each of the cases in which two systems differ falls to either with
    probability one half.

    Args:
        gained: cases that one system alone has right.
        lost: cases that the other alone has right.
    """
    cases = gained + lost
    tail = sum(math.comb(cases, k) for k in range(min(gained, lost) + 1))
    return min(1.0, 2 * tail / 2**cases)

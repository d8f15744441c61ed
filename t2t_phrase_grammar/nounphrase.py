"""Noun phrases with a determiner, in both languages."""

from __future__ import annotations

import dataclasses
from typing import Any

from t2t_phrase_grammar import german
from t2t_phrase_grammar.derivation import Context, Token, Tree
from t2t_phrase_grammar.english import indefinite_article
from t2t_phrase_grammar.pair import COMPOUND
from t2t_phrase_grammar.phrase import NounPhrase
from t2t_phrase_grammar.pronouns import NamePhrase
from t2t_phrase_grammar.words import Noun

CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("bei", "dem"): "beim",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Determiner:
    """A row of the determiner table; `de` ends in `-` for der-words, begins with `=` if fixed."""

    en: str
    tag: str
    de: str
    declension: str
    definite: bool


@dataclasses.dataclass(slots=True)
class AttributiveAdjective:
    """An adjective before a noun, with an optional degree adverb or conjunction."""

    en: Tree
    stem: str
    link: int
    before: list[Token]
    conjunction: Tree | None = None


class CommonPhrase(NounPhrase):
    """A determiner, adjectives, a noun, and what follows the noun."""

    def __init__(
        self,
        ctx: Context,
        noun: Noun,
        *,
        determiner: Determiner,
        plural: bool,
        adjectives: list[AttributiveAdjective] | None = None,
        possessor: NounPhrase | None = None,
        after: tuple[list[Token], Tree] | None = None,
    ) -> None:
        self.noun = noun
        self.determiner = determiner
        self.agreement = "3p" if plural else "3s"
        self.gender = "p" if plural else noun.gender
        self.definite = determiner.definite
        self.adjectives = adjectives or []
        self.possessor = possessor
        self.after = after
        self.head = ctx.link()
        self._article = ctx.link()
        self._genitive = ctx.link() if possessor is not None else 0
        if noun.compound:
            ctx.phenomenon(COMPOUND, noun.en, self.head)

    def _noun_leaves(self) -> list[Tree]:
        word = self.noun.en_plural if self.plural else self.noun.en  # type: ignore[union-attr]
        parts = word.split(" ")
        tags = ["NN"] * (len(parts) - 1) + ["NNS" if self.plural else "NN"]
        if self.plural and parts[0].endswith("s") and "of" in parts:
            tags = ["NNS" if i == 0 else tag for i, tag in enumerate(tags)]
        return [
            ("IN" if part == "of" else tag, part, self.head)
            for tag, part in zip(tags, parts, strict=True)
        ]

    def english(self, case: str = "nom") -> Tree:
        """Return the constituent."""
        children: list[Tree] = []
        inner: list[Tree] = []
        for adjective in self.adjectives:
            if adjective.conjunction is not None:
                inner.append(adjective.conjunction)
            inner.append(adjective.en)
        nouns = self._noun_leaves()
        if self.possessor is not None:
            possessor = self.possessor.english()
            clitic = ("POS", "'s", self._genitive)
            children.append(("NP", [*possessor[1], clitic]))
        elif self.determiner.en == "a":
            following = inner[0] if inner else nouns[0]
            while not isinstance(following[1], str):
                following = following[1][0]
            children.append(("DT", indefinite_article(following[1]), self._article))
        elif self.determiner.en:
            children.append((self.determiner.tag, self.determiner.en, self._article))
        core = ("NP", children + inner + nouns)
        return core if self.after is None else ("NP", [core, self.after[1]])

    def german(self, case: str) -> list[Token]:
        """Return the tokens in a case."""
        tokens: list[Token] = []
        lemma, gender, declension = self.determiner.de, self.gender, self.determiner.declension
        links = (self._article,)
        after: list[Token] = []
        if self.possessor is not None:
            genitive_link = self._genitive
            if isinstance(self.possessor, NamePhrase):
                form = self.possessor.name + "s"
                tokens.append(Token(form, (self.possessor.head, genitive_link)))
                declension = "strong"
            else:
                owner = self.possessor.german("gen")
                first = owner[0]
                after = [first._replace(links=(*first.links, genitive_link)), *owner[1:]]
                note = ("det", "der", "weak", case, gender, self.head)
                tokens.append(Token(german.determiner("der", case, gender), (genitive_link,), note))
                declension = "weak"
        elif lemma.startswith("="):
            tokens.append(Token(lemma[1:], links))
        elif lemma:
            form = german.determiner(lemma, case, gender)
            tokens.append(Token(form, links, ("det", lemma, declension, case, gender, self.head)))
        for adjective in self.adjectives:
            tokens += adjective.before
            note = ("adj", adjective.stem, declension, case, gender, self.head)
            form = german.adjective(adjective.stem, declension, case, gender)
            tokens.append(Token(form, (adjective.link,), note))
        noun = self.noun
        assert noun is not None
        forms = noun.plural if self.plural else noun.singular
        tokens.append(Token(forms[case], (self.head,)))
        tokens += after
        if self.after is not None:
            tokens += self.after[0]
        return tokens


class CoordinatedPhrase(NounPhrase):
    """Two noun phrases joined by `and`, or by `both ... and` (`sowohl ... als auch`)."""

    agreement = "3p"
    gender = "p"

    def __init__(self, ctx: Context, first: NounPhrase, second: NounPhrase) -> None:
        self.first, self.second = first, second
        self.noun = second.noun
        self.head = second.head
        self.definite = first.definite and second.definite
        self._and = ctx.link()
        self._both = ctx.link() if ctx.chance(0.2) else 0
        ctx.fact("both and" if self._both else "coordinated noun phrases")

    def english(self, case: str = "nom") -> Tree:
        """Return the constituent."""
        phrases = [self.first.english(case), ("CC", "and", self._and), self.second.english(case)]
        if self._both:
            phrases.insert(0, ("CC", "both", self._both))
        return ("NP", phrases)

    def german(self, case: str) -> list[Token]:
        """Return the tokens in a case."""
        first, second = self.first.german(case), self.second.german(case)
        if self._both:
            also = [Token("als", (self._and,)), Token("auch", (self._and,))]
            return [Token("sowohl", (self._both,)), *first, *also, *second]
        return [*first, Token("und", (self._and,)), *second]


_KEIN = Determiner("no", "DT", "kein", "mixed", False)


class KeinPhrase(NounPhrase):
    """An indefinite phrase in a negated clause: `not ... a` is `kein`."""

    def __init__(self, phrase: CommonPhrase, not_link: int) -> None:
        self.phrase = phrase
        self.noun = phrase.noun
        self.agreement, self.gender, self.head = phrase.agreement, phrase.gender, phrase.head
        self.definite = False
        self.relative = phrase.relative
        self.not_link = not_link

    def english(self, case: str = "nom") -> Tree:
        """Return the constituent."""
        return self.phrase.english(case)

    def german(self, case: str) -> list[Token]:
        """Return the tokens in a case."""
        phrase = self.phrase
        english = phrase.determiner
        phrase.determiner = _KEIN
        tokens = phrase.german(case)
        phrase.determiner = english
        links = (self.not_link,) if not english.en else (self.not_link, *tokens[0].links)
        tokens[0] = tokens[0]._replace(links=links)
        return tokens


def with_preposition(preposition: str, link: int, tokens: list[Token]) -> list[Token]:
    """Prepend a German preposition, contracted with a definite article."""
    first = tokens[0]
    note: Any = first.note
    if note and note[0] == "det" and note[1] == "der":
        contracted = CONTRACTIONS.get((preposition, first.form))
        if contracted:
            merged = Token(contracted, (link, *first.links), ("contraction", preposition, *note))
            return [merged, *tokens[1:]]
    return [Token(preposition, (link,)), *tokens]

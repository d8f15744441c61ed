"""Noun phrases without a determiner: pronouns, relative pronouns, names."""

from __future__ import annotations

from t2t_phrase_grammar import german
from t2t_phrase_grammar.derivation import Context, Token, Tree
from t2t_phrase_grammar.phrase import NounPhrase
from t2t_phrase_grammar.words import Noun


class PronounPhrase(NounPhrase):
    """A personal pronoun."""

    pronoun = True

    def __init__(self, ctx: Context, row: dict[str, str]) -> None:
        self.row = row
        self.agreement = row["agreement"]
        self.gender = "p" if self.plural else {"he": "m", "she": "f"}.get(row["en"], "n")
        self.head = ctx.link()

    def english(self, case: str = "nom") -> Tree:
        """Return the constituent."""
        word = self.row["en" if case == "nom" else "en_object"]
        return ("NP", [("PRP", word, self.head)])

    def german(self, case: str) -> list[Token]:
        """Return the tokens in a case."""
        key = {"nom": "de", "acc": "accusative", "dat": "dative"}[case]
        return [Token(self.row[key], (self.head,), ("pronoun",))]


class NamePhrase(NounPhrase):
    """A first name."""

    def __init__(self, ctx: Context, name: str, gender: str) -> None:
        self.name = name
        self.gender = gender
        self.head = ctx.link()

    def english(self, case: str = "nom") -> Tree:
        """Return the constituent."""
        return ("NP", [("NNP", self.name, self.head)])

    def german(self, case: str) -> list[Token]:
        """Return the tokens in a case."""
        return [Token(self.name, (self.head,))]


class RelativePronounPhrase(NounPhrase):
    """`who`, `whom`, `that` or `whose` noun, and `der`, `die`, `das`, `dessen` noun."""

    def __init__(self, ctx: Context, antecedent: NounPhrase, *, person: bool) -> None:
        self.agreement = antecedent.agreement
        self.gender = antecedent.gender
        self.head = ctx.link()
        self.person = person

    def english(self, case: str = "nom") -> Tree:
        """Return the constituent."""
        if not self.person:
            return ("WHNP", [("WDT", "that", self.head)])
        return ("WHNP", [("WP", "who" if case == "nom" else "whom", self.head)])

    def german(self, case: str) -> list[Token]:
        """Return the tokens in a case."""
        form = german.relative_pronoun(case, self.gender)
        return [Token(form, (self.head,), ("relative", case, self.gender, self.head))]


class PossessiveRelativePhrase(NounPhrase):
    """`whose` and a noun: `dessen` or `deren`, which agrees with the owner, not with the noun."""

    def __init__(self, ctx: Context, antecedent: NounPhrase, noun: Noun, *, plural: bool) -> None:
        self.noun = noun
        self.owner_gender = antecedent.gender
        self.agreement = "3p" if plural else "3s"
        self.gender = "p" if plural else noun.gender
        self.head = ctx.link()
        self.whose = ctx.link()

    def english(self, case: str = "nom") -> Tree:
        """Return the constituent."""
        assert self.noun is not None
        word = self.noun.en_plural if self.plural else self.noun.en
        tag = "NNS" if self.plural else "NN"
        nouns: list[Tree] = [(tag, part, self.head) for part in word.split(" ")]
        return ("WHNP", [("WP$", "whose", self.whose), *nouns])

    def german(self, case: str) -> list[Token]:
        """Return the tokens in a case."""
        assert self.noun is not None
        forms = self.noun.plural if self.plural else self.noun.singular
        owner = german.relative_pronoun("gen", self.owner_gender)
        return [Token(owner, (self.whose,)), Token(forms[case], (self.head,))]

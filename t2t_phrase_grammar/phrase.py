"""The interface of noun phrases."""

from __future__ import annotations

from t2t_phrase_grammar.derivation import Token, Tree
from t2t_phrase_grammar.words import Noun


class NounPhrase:
    """A noun phrase in both languages.

    Attributes:
        agreement: `1s 2s 3s 1p 3p`.
        gender: `m f n`, or `p` in the plural.
        head: link of the head word.
        definite: whether it is definite, and precedes `nicht` and adverbs of manner.
        pronoun: whether it is ordered like a pronoun in German.
        relative: its relative clause: German with commas, and English.
        noun: the head noun, if there is one.
    """

    agreement = "3s"
    gender = "n"
    head = 0
    definite = True
    pronoun = False
    noun: Noun | None = None
    relative: tuple[list[Token], Tree] | None = None

    def english(self, case: str = "nom") -> Tree:
        """Return the constituent; the case is relevant for pronouns."""
        raise NotImplementedError

    def german(self, case: str) -> list[Token]:
        """Return the tokens in a case."""
        raise NotImplementedError

    @property
    def plural(self) -> bool:
        """Whether the phrase is plural."""
        return self.agreement[1] == "p"

    @property
    def nominative_is_accusative(self) -> bool:
        """Whether nominative and accusative are the same in German."""
        return [t.form for t in self.german("nom")] == [t.form for t in self.german("acc")]

    def english_full(self, case: str = "nom") -> Tree:
        """Return the constituent with its relative clause."""
        core = self.english(case)
        return ("NP", [core, self.relative[1]]) if self.relative else core

    def german_full(self, case: str) -> list[Token]:
        """Return the tokens, followed by the relative clause."""
        core = self.german(case)
        return core + self.relative[0] if self.relative else core

"""Words with all their forms."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from t2t_phrase_grammar.german import CASES, GermanVerb


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun: one or more English words, and one German word."""

    en: str
    en_plural: str
    de: str
    gender: str
    singular: dict[str, str]
    plural: dict[str, str]
    kind: str
    place: str = ""
    en_place: str = ""
    compound: bool = False

    @property
    def countable(self) -> bool:
        """Whether the noun has a plural."""
        return bool(self.en_plural)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb in one frame, with its English and German forms, preposition and case."""

    en: str
    third: str
    past: str
    participle: str
    gerund: str
    rest: tuple[str, ...]
    de: GermanVerb
    frame: str
    subject: str
    object: str
    preposition: str = ""
    de_preposition: str = ""
    de_case: str = ""
    idiom: str = ""
    de_words: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The English citation form."""
        return " ".join((self.en, *self.rest))

    @property
    def past_is_base(self) -> bool:
        """Whether the English past equals the present, except in the third person."""
        return self.past == self.en


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective; `comparison` has the English and German comparatives and superlatives."""

    en: str
    de: str
    stem: str
    nouns: str
    comparison: tuple[str, str, str, str] | None = None
    attributive_only: bool = False


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Adverb:
    """An adverb or fixed adverbial phrase, with the tenses in which it can be used."""

    en: tuple[str, ...]
    de: tuple[str, ...]
    kind: str
    tenses: frozenset[str]
    negative: bool


def make_noun(row: Mapping[str, str]) -> Noun:
    """Build all case forms of a noun from its row in the table, which has the principal forms."""
    de, plural, place = row["de"], row["plural"], row["place"]
    accusative = row["accusative"] or de
    dative = row["dative"] or accusative
    singular = dict(zip(CASES, (de, accusative, dative, row["genitive"]), strict=True))
    dative_plural = plural if plural[-1:] in ("n", "s", "a", "") else plural + "n"
    forms = dict(zip(CASES, (plural, plural, dative_plural, plural), strict=True))
    return Noun(
        en=row["en"],
        en_plural=row["en_plural"],
        de=de,
        gender=row["gender"],
        singular=singular,
        plural=forms,
        kind=row["class"],
        place=place.partition(":")[0],
        en_place=place.partition(":")[2] or {"an": "at", "auf": "on"}.get(place, "in"),
    )


def join_compound(modifier: str, head: Noun, en: str, *, kind: str = "") -> Noun:
    """Build a compound from its German modifier (with linking element) and its head noun."""

    def forms(table: dict[str, str]) -> dict[str, str]:
        return {case: modifier + form.lower() if form else "" for case, form in table.items()}

    return Noun(
        en=f"{en} {head.en}",
        en_plural=f"{en} {head.en_plural}" if head.en_plural else "",
        de=modifier + head.de.lower(),
        gender=head.gender,
        singular=forms(head.singular),
        plural=forms(head.plural),
        kind=kind or head.kind,
        place=head.place,
        en_place=head.en_place,
        compound=True,
    )

"""Draws noun phrases of a selectional class."""

from __future__ import annotations

import functools

from t2t_phrase_grammar.derivation import Context, Token, Tree
from t2t_phrase_grammar.nounphrase import (
    AttributiveAdjective,
    CommonPhrase,
    CoordinatedPhrase,
    Determiner,
    with_preposition,
)
from t2t_phrase_grammar.phrase import NounPhrase
from t2t_phrase_grammar.pools import Weighted, read_table
from t2t_phrase_grammar.pronouns import NamePhrase, PronounPhrase
from t2t_phrase_grammar.words import Adjective, Noun

PERSONAL = frozenset(("per", "agt", "liv"))


THE = Determiner("the", "DT", "der", "weak", True)
A = Determiner("a", "DT", "ein", "mixed", False)
NO = Determiner("no", "DT", "kein", "mixed", False)
BARE = Determiner("", "", "", "strong", False)


def _row_determiner(row: dict[str, str]) -> Determiner:
    if row["en"] == "the":
        return THE
    definite = row["article"] == "definite"
    return Determiner(row["en"], row["tag"], row["de"], row["declension"], definite)


@functools.cache
def determiners(number: str) -> Weighted[Determiner]:
    """Return the determiners for `s`, `p`, or `m` (mass nouns)."""
    rows = [row for row in read_table("determiners") if number in row["numbers"].split("+")]
    found = [_row_determiner(row) for row in rows]
    return Weighted(found, [float(row["weight"]) for row in rows])


@functools.cache
def pronouns() -> Weighted[dict[str, str]]:
    """Return the personal pronouns."""
    rows = list(read_table("pronouns"))
    return Weighted(rows, [float(row["weight"]) for row in rows])


@functools.cache
def names() -> list[tuple[str, str]]:
    """Return first names with their gender, `m` or `f`."""
    return [(row["name"], row["class"][0]) for row in read_table("names")]


def pronoun_phrase(ctx: Context) -> PronounPhrase:
    """Draw a personal pronoun."""
    return PronounPhrase(ctx, pronouns().draw(ctx.rng))


def name_phrase(ctx: Context) -> NamePhrase:
    """Draw a first name."""
    name, gender = ctx.rng.choice(names())
    return NamePhrase(ctx, name, gender)


def attributive(
    ctx: Context, adjective: Adjective, determiner: Determiner | None = None
) -> AttributiveAdjective:
    """Make an attributive adjective, with some probability of an adverb or a superlative."""
    link = ctx.link()
    if adjective.comparison and determiner is THE and ctx.chance(0.12):
        ctx.fact("superlative")
        _, superlative, _, stem = adjective.comparison
        words = superlative.split(" ")
        if len(words) == 1:
            tree: Tree = ("JJS", superlative, link)
        else:
            tree = ("ADJP", [("RBS", words[0], link), ("JJ", words[1], link)])
        return AttributiveAdjective(tree, stem, link, [])
    leaf = ("JJ", adjective.en, link)
    if ctx.chance(0.1):
        adverb = ctx.lexicon.adverbs_in("degree", "pres").draw(ctx.rng)
        if adverb.en[0] not in ("too", "so", "quite"):
            at = ctx.link()
            tree = ("ADJP", [("RB", adverb.en[0], at), leaf])
            return AttributiveAdjective(tree, adjective.stem, link, [Token(adverb.de[0], (at,))])
    return AttributiveAdjective(leaf, adjective.stem, link, [])


def draw_adjectives(
    ctx: Context, noun: Noun, chance: float, determiner: Determiner
) -> list[AttributiveAdjective]:
    """Draw no adjective, one, or two joined by `and`."""
    if not ctx.chance(chance):
        return []
    pool = ctx.lexicon.adjectives_of(noun)
    if pool is None:
        return []
    first = attributive(ctx, pool.draw(ctx.rng), determiner)
    if not ctx.chance(0.08):
        return [first]
    second = attributive(ctx, pool.draw(ctx.rng))
    if second.stem == first.stem or first.before or first.en[0] != "JJ":
        return [first]
    link = ctx.link()
    second.conjunction = ("CC", "and", link)
    second.before = [Token("und", (link,)), *second.before]
    return [first, second]


def common_phrase(
    ctx: Context,
    noun: Noun,
    *,
    determiner: Determiner | None = None,
    plural: bool | None = None,
    adjective_chance: float = 0.36,
    modifiers: bool = True,
) -> CommonPhrase:
    """Draw the determiner, number, adjectives and modifiers of a noun."""
    if not noun.countable:
        plural = False
        if determiner is None:
            determiner = determiners("m").draw(ctx.rng)
    else:
        if plural is None:
            plural = ctx.chance(0.3)
        if determiner is None:
            determiner = determiners("p" if plural else "s").draw(ctx.rng)
    adjectives = draw_adjectives(ctx, noun, adjective_chance, determiner)
    possessor: NounPhrase | None = None
    after: tuple[list[Token], Tree] | None = None
    if modifiers and determiner.en == "the" and ctx.chance(0.16):
        possessor, after = _modifier(ctx, noun)
    return CommonPhrase(
        ctx,
        noun,
        determiner=determiner,
        plural=plural,
        adjectives=adjectives,
        possessor=possessor,
        after=after,
    )


_OWNED = frozenset(
    [
        "animal",
        "clothing",
        "tool",
        "furniture",
        "device",
        "thing",
        "vehicle",
        "document",
        "art",
        "body",
        "building",
    ]
)
_COMPANIONS = {
    "person": ("with", "mit", "clothing+animal+thing+document"),
    "building": ("next to", "neben", "building+outdoor"),
    "plant": ("behind", "hinter", "building"),
    "vehicle": ("in front of", "vor", "building"),
}
_WHOLES = {
    "structure": "bld",
    "room": "bld",
    "idea": "org",
    "document": "org",
    "event": "org",
    "quality": "per",
}


def _modifier(
    ctx: Context, noun: Noun
) -> tuple[NounPhrase | None, tuple[list[Token], Tree] | None]:
    """Draw a possessor (`the man's car`) or an `of` phrase (`the roof of the house`)."""
    if noun.kind in _OWNED and ctx.chance(0.6):
        if ctx.chance(0.4):
            ctx.fact("genitive of a name")
            return name_phrase(ctx), None
        owner = ctx.lexicon.nouns_in("per").draw(ctx.rng)
        ctx.fact("genitive")
        possessor = common_phrase(
            ctx, owner, determiner=THE, plural=False, adjective_chance=0.15, modifiers=False
        )
        return possessor, None
    companion = _COMPANIONS.get(noun.kind)
    if companion is not None and ctx.chance(0.7):
        english, german, groups = companion
        other = ctx.lexicon.nouns_in(groups).draw(ctx.rng)
        companion_phrase = common_phrase(
            ctx, other, determiner=THE, plural=False, adjective_chance=0.3, modifiers=False
        )
        tree, tokens = prepositional(ctx, english, german, "dat", companion_phrase)
        ctx.fact("prepositional modifier")
        return None, (tokens, tree)
    groups = _WHOLES.get(noun.kind, "")
    if not groups:
        return None, None
    owner = ctx.lexicon.nouns_in(groups).draw(ctx.rng)
    whole = common_phrase(
        ctx, owner, determiner=THE, plural=False, adjective_chance=0.15, modifiers=False
    )
    ctx.fact("genitive")
    link = ctx.link()
    tokens = whole.german("gen")
    tokens[0] = tokens[0]._replace(links=(link, *tokens[0].links))
    return None, (tokens, ("PP", [("IN", "of", link), whole.english()]))


def noun_phrase(
    ctx: Context, groups: str, *, light: bool = False, names_too: bool = True
) -> NounPhrase:
    """Draw a noun phrase from selectional groups joined by `+`.

    Args:
        light: whether to exclude possessors and coordination.
        names_too: whether persons can be pronouns and first names.
    """
    personal = names_too and any(group in PERSONAL for group in groups.split("+"))
    if personal:
        dice = ctx.rng.random()
        if dice < 0.24:
            return pronoun_phrase(ctx)
        if dice < 0.36:
            name = name_phrase(ctx)
            if not light and dice > 0.345:
                another = name_phrase(ctx)
                if another.name != name.name:
                    return CoordinatedPhrase(ctx, name, another)
            return name
    pool = ctx.lexicon.nouns_in(groups)
    noun = pool.draw(ctx.rng)
    if not light and noun.countable and ctx.chance(0.05):
        other = pool.draw(ctx.rng)
        if other is not noun and other.countable:
            determiner = THE if ctx.chance(0.6) else A
            first, second = (
                common_phrase(
                    ctx,
                    one,
                    determiner=determiner,
                    plural=False,
                    adjective_chance=0.15,
                    modifiers=False,
                )
                for one in (noun, other)
            )
            return CoordinatedPhrase(ctx, first, second)
    return common_phrase(ctx, noun, modifiers=not light)


def prepositional(
    ctx: Context, en: str, de: str, case: str, phrase: NounPhrase
) -> tuple[Tree, list[Token]]:
    """Build a prepositional phrase in both languages."""
    link = ctx.link()
    words: list[Tree] = [("TO" if word == "to" else "IN", word, link) for word in en.split(" ")]
    tree = ("PP", [*words, phrase.english_full("acc")])
    return tree, with_preposition(de, link, phrase.german_full(case))

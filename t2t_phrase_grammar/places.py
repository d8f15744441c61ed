"""Places, directions and origins, with prepositions of one or two cases."""

from __future__ import annotations

import functools

from t2t_phrase_grammar.derivation import Context, Token, Tree
from t2t_phrase_grammar.pools import Weighted, read_table
from t2t_phrase_grammar.sampling import THE, common_phrase, prepositional


@functools.cache
def places() -> Weighted[dict[str, str]]:
    """Return cities and countries."""
    rows = list(read_table("places"))
    return Weighted(rows, [1.0] * len(rows))


def place_phrase(ctx: Context, relation: str) -> tuple[Tree, list[Token]]:
    """Draw a place (`in`), a direction (`to`) or an origin (`from`)."""
    if ctx.chance(0.2):
        return _geographic(ctx, relation)
    noun = ctx.lexicon.nouns_in("plc").draw(ctx.rng)
    phrase = common_phrase(
        ctx,
        noun,
        determiner=THE if ctx.chance(0.7) else None,
        plural=False,
        adjective_chance=0.2,
        modifiers=False,
    )
    place = noun.place
    if relation == "in":
        return prepositional(ctx, noun.en_place, place, "dat", phrase)
    if relation == "to":
        if place == "an":
            return prepositional(ctx, "to", "zu", "dat", phrase)
        return prepositional(ctx, "to", place, "acc", phrase)
    german = "aus" if place == "in" else "von"
    return prepositional(ctx, "from", german, "dat", phrase)


def _geographic(ctx: Context, relation: str) -> tuple[Tree, list[Token]]:
    row = places().draw(ctx.rng)
    english, link, name_link = relation, ctx.link(), ctx.link()
    words = row["en"].split(" ")
    name: Tree = ("NP", [("DT" if w == "the" else "NNP", w, name_link) for w in words])
    preposition, article = {
        "in": ("in", row["dative"]),
        "to": ("in" if row["accusative"] else "nach", row["accusative"]),
        "from": ("aus", row["dative"]),
    }[relation]
    tree = ("PP", [("TO" if english == "to" else "IN", english, link), name])
    tokens = [Token(row["de"], (name_link,))]
    if article:
        tokens.insert(0, Token(article, (name_link,)))
    return tree, [Token(preposition, (link,)), *tokens]


def two_way(
    ctx: Context, case: str, prepositions: tuple[str, str], groups: str
) -> tuple[Tree, list[Token]]:
    """Draw a phrase with a two-way preposition (English, German) in a case."""
    noun = ctx.lexicon.nouns_in(groups).draw(ctx.rng)
    phrase = common_phrase(ctx, noun, plural=False, modifiers=False, adjective_chance=0.2)
    return prepositional(ctx, *prepositions, case, phrase)


def spot(ctx: Context, case: str) -> tuple[Tree, list[Token]]:
    """Draw a position relative to furniture or things; the case distinguishes place and goal."""
    surface = ctx.chance(0.5)
    if surface:
        pair, groups = ("on", "auf"), "table+chair+bed+bench+carpet+sofa+desk"
    else:
        pairs = (
            ("under", "unter"),
            ("behind", "hinter"),
            ("next to", "neben"),
            ("in front of", "vor"),
        )
        pair, groups = ctx.rng.choice(pairs), "furniture+house+tree+church+tent"
    ctx.fact("two-way preposition")
    return two_way(ctx, case, pair, groups)

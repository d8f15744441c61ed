"""Adverbs and adverbial phrases of a clause."""

from __future__ import annotations

from t2t_phrase_grammar.clause import Clause, Rank
from t2t_phrase_grammar.derivation import Context, Tree, fixed
from t2t_phrase_grammar.english import word_tag
from t2t_phrase_grammar.places import place_phrase
from t2t_phrase_grammar.words import Adverb


def adverbial_tree(adverb: Adverb, link: int) -> Tree:
    """Build the constituent of an adverb or an adverbial phrase."""
    words = adverb.en
    if len(words) == 1:
        return ("ADVP", [("RB", words[0], link)])
    tags = [word_tag(word) for word in words]
    if tags[0] == "IN":
        inner = list(zip(tags[1:], words[1:], [link] * (len(words) - 1), strict=True))
        return ("PP", [("IN", words[0], link), ("NP", inner)])
    return ("NP", list(zip(tags, words, [link] * len(words), strict=True)))


def add_adverbials(ctx: Context, clause: Clause) -> None:
    """Draw adverbials of manner, place, time and frequency, where the clause allows them."""
    tense = clause.tense
    if clause.modal is not None:
        tense = "fut" if clause.tense == "pres" else "past"
        if clause.modal.en == "should":
            tense = "fut"
    frame = clause.verb.frame
    extraposed = bool(clause.after)
    if not extraposed and not clause.passive and not clause.negated:
        if frame in ("transitive", "intransitive", "ditransitive") and ctx.chance(0.12):
            _manner(ctx, clause)
        if (
            frame in ("transitive", "intransitive", "stative", "dative")
            and not clause.verb.idiom
            and ctx.chance(0.14)
        ):
            tree, tokens = place_phrase(ctx, "in")
            clause.adverbials.append(tree)
            clause.middle.append((Rank.PLACE, tokens))
    elif clause.passive and ctx.chance(0.2):
        tree, tokens = place_phrase(ctx, "in")
        clause.adverbials.append(tree)
        clause.middle.append((Rank.PLACE, tokens))
    dice = ctx.rng.random()
    if dice < 0.14 and clause.modal is None and not clause.negated:
        pool = ctx.lexicon.adverbs_in("frequency", clause.tense)
        if len(pool):
            adverb = pool.draw(ctx.rng)
            link = ctx.link()
            clause.before = ("ADVP", [("RB", word, link) for word in adverb.en])
            clause.middle.append((Rank.FREQUENCY, fixed(adverb.de, link)))
            if adverb.negative:
                ctx.fact("never")
    elif dice < (0.2 if frame == "copula" else 0.46) and not extraposed:
        kind = "time"
        if frame in ("intransitive", "position") and ctx.chance(0.1):
            kind = "duration"
        pool = ctx.lexicon.adverbs_in(kind, tense)
        if len(pool) and tense != "plup":
            adverb = pool.draw(ctx.rng)
            link = ctx.link()
            clause.adverbials.append(adverbial_tree(adverb, link))
            clause.middle.append((Rank.TIME, fixed(adverb.de, link)))


def _manner(ctx: Context, clause: Clause) -> None:
    adverb = ctx.lexicon.adverbs_in("manner", "pres").draw(ctx.rng)
    link = ctx.link()
    clause.adverbials.append(adverbial_tree(adverb, link))
    clause.middle.append((Rank.MANNER, fixed(adverb.de, link)))

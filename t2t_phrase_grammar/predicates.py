"""Predicates of a copula: adjectives, comparisons, professions, places."""

from __future__ import annotations

from t2t_phrase_grammar.clause import Clause, Rank
from t2t_phrase_grammar.derivation import Context, Token, Tree
from t2t_phrase_grammar.nounphrase import KeinPhrase
from t2t_phrase_grammar.phrase import NounPhrase
from t2t_phrase_grammar.places import place_phrase
from t2t_phrase_grammar.sampling import BARE, A, common_phrase, noun_phrase
from t2t_phrase_grammar.words import Noun


def predicate(ctx: Context, clause: Clause) -> None:
    """Draw the predicate of a copula."""
    verb, subject = clause.verb, clause.subject
    noun = subject.noun
    link = ctx.link()
    dice = ctx.rng.random()
    person = noun is None or noun.kind == "person"
    if person and dice < 0.25 and verb.en != "seem":
        role = ctx.lexicon.nouns_in("profession").draw(ctx.rng)
        _role(ctx, clause, role)
        return
    if dice > 0.86 and verb.en == "be" and noun is not None and noun.kind != "quality":
        tree, tokens = place_phrase(ctx, "in")
        clause.complements.append(tree)
        clause.middle.append((Rank.PLACE, tokens))
        return
    pool = ctx.lexicon.adjectives_of(noun or ctx.lexicon.by_name["teacher"])
    assert pool is not None
    adjective = pool.draw(ctx.rng)
    while adjective.attributive_only:
        adjective = pool.draw(ctx.rng)
    if adjective.comparison and ctx.chance(0.45):
        _comparison(ctx, clause, adjective.en, adjective.de, adjective.comparison)
        return
    children: list[Tree] = [("JJ", adjective.en, link)]
    tokens = [Token(adjective.de, (link,))]
    if ctx.chance(0.35):
        adverb = ctx.lexicon.adverbs_in("degree", "pres").draw(ctx.rng)
        at = ctx.link()
        children.insert(0, ("RB", adverb.en[0], at))
        tokens.insert(0, Token(adverb.de[0], (at,)))
    clause.complements.append(("ADJP", children))
    clause.middle.append((Rank.PREDICATE, tokens))


def _role(ctx: Context, clause: Clause, role: Noun) -> None:
    plural = clause.subject.plural
    phrase = common_phrase(
        ctx,
        role,
        determiner=BARE if plural else A,
        plural=plural,
        adjective_chance=0.5,
        modifiers=False,
    )
    bare = not plural and not phrase.adjectives
    tokens = phrase.german("nom")
    if bare:
        # In German, professions have no article.
        article, noun = tokens
        tokens = [noun._replace(links=article.links + noun.links)]
        ctx.fact("profession without article")
    elif clause.negated and phrase.determiner.en in ("a", ""):
        tokens = KeinPhrase(phrase, clause.not_link).german("nom")
        clause.german_not = False
    clause.complements.append(phrase.english())
    clause.middle.append((Rank.PREDICATE, tokens))


def _comparison(
    ctx: Context, clause: Clause, en: str, de: str, forms: tuple[str, str, str, str]
) -> None:
    ctx.fact("comparison")
    subject = clause.subject
    standard = _comparison_standard(ctx, subject)
    link = ctx.link()
    than = ctx.link()
    if ctx.chance(0.65):
        words = forms[0].split(" ")
        adjective: list[Tree] = [("JJR", forms[0], link)]
        if len(words) == 2:
            adjective = [("RBR", words[0], link), ("JJ", words[1], link)]
        tree = ("PP", [("IN", "than", than), standard.english_full("acc")])
        tokens, particle = [Token(forms[2], (link,))], "als"
    else:
        first = ctx.link()
        adjective = [("RB", "as", first), ("JJ", en, link)]
        tree = ("PP", [("IN", "as", than), standard.english_full("acc")])
        tokens, particle = [Token("so", (first,)), Token(de, (link,))], "wie"
    clause.complements.append(("ADJP", [*adjective, tree]))
    clause.middle.append((Rank.PREDICATE, tokens))
    clause.after += [Token(particle, (than,)), *standard.german("nom")]


def _comparison_standard(ctx: Context, subject: NounPhrase) -> NounPhrase:
    if subject.noun is None or subject.noun.kind == "person":
        return noun_phrase(ctx, "person", light=True)
    noun = ctx.lexicon.nouns_in(subject.noun.kind).draw(ctx.rng)
    return common_phrase(ctx, noun, modifiers=False, adjective_chance=0.1)

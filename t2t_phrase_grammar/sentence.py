"""A sentence under construction, and what all kinds of sentences share."""

from __future__ import annotations

import dataclasses

from t2t_phrase_grammar.adverbials import adverbial_tree
from t2t_phrase_grammar.clause import Clause, Rank
from t2t_phrase_grammar.derivation import Context, Token, Tree, fixed, leaves
from t2t_phrase_grammar.sampling import PERSONAL
from t2t_phrase_grammar.words import Verb

PERSON_FRAMES = ("transitive", "intransitive", "prepositional", "motion", "dative", "idiom")


@dataclasses.dataclass(slots=True)
class Sentence:
    """Both sides of a sentence, without the final punctuation, and its main clause."""

    tree: Tree
    tokens: list[Token]
    main: Clause
    kind: str = "statement"
    mark: str = "."


def person_verb(ctx: Context, frames: tuple[str, ...] = PERSON_FRAMES) -> Verb:
    """Draw a verb whose subject can be a person."""
    while True:
        verb = ctx.lexicon.verbs_in(ctx.rng.choice(frames)).draw(ctx.rng)
        if not PERSONAL.isdisjoint(verb.subject.split("+")):
            return verb


def front_adverbial(ctx: Context, clause: Clause) -> None:
    """Move an adverbial to the front, or add a sentence adverb there."""
    dice = ctx.rng.random()
    if dice < 0.3:
        times = [i for i, (rank, _) in enumerate(clause.middle) if rank == Rank.TIME]
        last = list(leaves(clause.adverbials[-1])) if clause.adverbials else []
        if len(times) == 1 and not clause.progressive and last and last[0][1] != "again":
            _, tokens = clause.middle.pop(times[0])
            clause.front = clause.adverbials.pop(), tokens
            ctx.fact("fronted adverbial")
            return
    if dice < 0.12 and not clause.negated:
        tense = "fut" if clause.modal is not None else clause.tense
        if clause.modal is not None and clause.modal.tense == "past":
            tense = "past"
        bare = ctx.chance(0.2)
        pool = ctx.lexicon.adverbs_in("sentence_bare" if bare else "sentence", tense)
        if len(pool):
            adverb = pool.draw(ctx.rng)
            link = ctx.link()
            clause.front = adverbial_tree(adverb, link), fixed(adverb.de, link)
            ctx.fact("fronted adverbial")
            if bare:
                return
            clause.front_comma = ctx.link()
            # German has no comma here; the English comma is aligned with the adverb.
            first, *others = clause.front[1]
            links = (*first.links, clause.front_comma)
            clause.front = clause.front[0], [first._replace(links=links), *others]

"""Whole sentences of all kinds; those without subordinate clauses."""

from __future__ import annotations

from collections.abc import Callable

from t2t_phrase_grammar.clause import Clause
from t2t_phrase_grammar.derivation import Context, Token, Tree, comma
from t2t_phrase_grammar.places import place_phrase
from t2t_phrase_grammar.pools import Weighted
from t2t_phrase_grammar.pronouns import PronounPhrase
from t2t_phrase_grammar.questions import wh_question, yes_no_question
from t2t_phrase_grammar.sampler import ClauseRules, ClauseSampler
from t2t_phrase_grammar.sampling import common_phrase, determiners, noun_phrase, pronouns
from t2t_phrase_grammar.sentence import Sentence, front_adverbial, person_verb
from t2t_phrase_grammar.subordination import (
    complement_sentence,
    infinitive_sentence,
    subordinate_sentence,
)


def sentence(ctx: Context) -> Sentence:
    """Draw a sentence of any kind."""
    return _KINDS.draw(ctx.rng)(ctx)


def _statement(ctx: Context) -> Sentence:
    clause = ClauseSampler(ctx).clause()
    front_adverbial(ctx, clause)
    return Sentence(clause.english_clause(), clause.german_main(), clause)


def _coordinated(ctx: Context) -> Sentence:
    """Draw two main clauses joined by a conjunction."""
    first = ClauseSampler(ctx, depth=1).clause()
    second_tense = first.tense if first.modal is None else None
    second = ClauseSampler(ctx, depth=1).clause(tense=second_tense)
    link = ctx.link()
    en, de = ctx.rng.choice((("and", "und"), ("but", "aber"), ("or", "oder")))
    tree: Tree = (
        "S",
        [
            first.english_clause(),
            (",", ",", link),
            ("CC", en, link),
            second.english_clause(),
        ],
    )
    tokens = [*first.german_main(), comma(link), Token(de, (link,)), *second.german_main()]
    ctx.clauses.append(en)
    return Sentence(tree, tokens, first)


def _shared_subject(ctx: Context) -> Sentence:
    """Draw a subject with two predicates."""
    sampler = ClauseSampler(ctx, depth=1)
    verb = person_verb(ctx)
    subject = noun_phrase(ctx, "per")
    tense = ctx.rng.choice(("pres", "past"))
    first = sampler.clause(verb=verb, subject=subject, tense=tense, rules=ClauseRules(plain=True))
    other = person_verb(ctx)
    second = sampler.clause(
        verb=other,
        subject=subject,
        tense=first.tense,
        rules=ClauseRules(plain=True, adverbials=False),
    )
    link = ctx.link()
    first_tree = first.english_clause()
    second_tree = second.english_clause(silent=True)
    predicates = [*first_tree[1][1:], ("CC", "and", link), *second_tree[1]]
    tree: Tree = ("S", [first_tree[1][0], ("VP", predicates)])
    second.silent_subject = True
    tokens = [*first.german_main(), Token("und", (link,)), *second.german_question()]
    ctx.clauses.append("shared subject")
    return Sentence(tree, tokens, first)


_COMMANDS = ("transitive", "transitive", "ditransitive", "placement", "dative")


def _command(ctx: Context) -> Sentence:
    sampler = ClauseSampler(ctx, depth=1)
    subject = PronounPhrase(ctx, next(row for row in pronouns().items if row["en"] == "you"))
    verb = person_verb(ctx, _COMMANDS)
    clause = sampler.clause(
        verb=verb,
        subject=subject,
        tense="pres",
        rules=ClauseRules(plain=True, nonfinite=True, adverbials=False),
    )
    clause.silent_subject = True
    tree: Tree = ("S", [clause.english_imperative()])
    return Sentence(tree, clause.german_imperative(), clause, "command", "!")


def _existential(ctx: Context) -> Sentence:
    """Draw `there is`: `es gibt` with an accusative."""
    lexicon = ctx.lexicon
    noun = lexicon.nouns_in("building+outdoor+person+animal+vehicle").draw(ctx.rng)
    plural = ctx.chance(0.5)
    pool = determiners("p" if plural else "s")
    determiner = pool.draw(ctx.rng)
    while determiner.definite:
        determiner = pool.draw(ctx.rng)
    phrase = common_phrase(
        ctx, noun, determiner=determiner, plural=plural, adjective_chance=0.5, modifiers=False
    )
    there = ctx.link()
    give = next(verb for verb in lexicon.verbs if verb.en == "give" and not verb.rest)
    tense = ctx.rng.choice(("pres", "past"))
    tree, tokens = place_phrase(ctx, "in")
    form = {"pres": ("is", "are"), "past": ("was", "were")}[tense][plural]
    verb_link = ctx.link()
    clause = Clause(ctx, give, phrase, tense=tense)
    paradigm = give.de.preterite if tense == "past" else give.de.present
    tag = "VBD" if tense == "past" else ("VBP" if plural else "VBZ")
    english: Tree = (
        "S",
        [
            ("NP", [("EX", "There", there)]),
            ("VP", [(tag, form, verb_link), phrase.english(), tree]),
        ],
    )
    note = ("finite", paradigm, "3s", there, False, "")
    finite = Token(paradigm["3s"], (verb_link,), note)
    german = [Token("es", (there,)), finite, *phrase.german("acc"), *tokens]
    clause.links["verb"] = verb_link
    clause.subject.head = there
    ctx.fact("existential")
    return Sentence(english, german, clause)


_KINDS: Weighted[Callable[[Context], Sentence]] = Weighted(
    (
        _statement,
        subordinate_sentence,
        complement_sentence,
        infinitive_sentence,
        yes_no_question,
        wh_question,
        _coordinated,
        _shared_subject,
        _command,
        _existential,
    ),
    (46, 13, 9, 7, 6, 6, 5, 4, 3, 2),
)

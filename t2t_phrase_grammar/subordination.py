"""Sentences with subordinate clauses: adverbial, `that`, `whether`, infinitives."""

from __future__ import annotations

import dataclasses

from t2t_phrase_grammar.clause import Clause
from t2t_phrase_grammar.derivation import Context, Token, Tree, comma
from t2t_phrase_grammar.nounphrase import CoordinatedPhrase
from t2t_phrase_grammar.phrase import NounPhrase
from t2t_phrase_grammar.pools import Weighted
from t2t_phrase_grammar.pronouns import PronounPhrase
from t2t_phrase_grammar.sampler import ClauseRules, ClauseSampler
from t2t_phrase_grammar.sampling import pronouns
from t2t_phrase_grammar.sentence import Sentence, front_adverbial, person_verb


@dataclasses.dataclass(frozen=True, slots=True)
class Subordinator:
    """A conjunction, and the tenses of main and subordinate clause that it allows."""

    en: tuple[str, ...]
    de: str
    tenses: tuple[tuple[str, str], ...]


_ANY = (("past", "past"), ("pres", "pres"), ("past", "past"), ("fut", "pres"), ("perf", "perf"))
SUBORDINATORS = Weighted(
    (
        Subordinator(("because",), "weil", _ANY),
        Subordinator(("although",), "obwohl", _ANY),
        Subordinator(("if",), "wenn", (("pres", "pres"), ("fut", "pres"))),
        Subordinator(("when",), "als", (("past", "past"),)),
        Subordinator(("when",), "wenn", (("fut", "pres"), ("pres", "pres"))),
        Subordinator(("before",), "bevor", (("past", "past"), ("fut", "pres"))),
        Subordinator(("after",), "nachdem", (("past", "plup"),)),
        Subordinator(("while",), "während", (("past", "past"), ("pres", "pres"))),
        Subordinator(("until",), "bis", (("past", "past"), ("fut", "pres"))),
        Subordinator(("as", "soon", "as"), "sobald", (("fut", "pres"), ("past", "past"))),
        Subordinator(("so", "that"), "sodass", (("past", "past"),)),
    ),
    (5, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1),
)


def subordinate_sentence(ctx: Context) -> Sentence:
    """Draw a main clause, preceded or followed by an adverbial clause."""
    conjunction = SUBORDINATORS.draw(ctx.rng)
    main_tense, tense = ctx.rng.choice(conjunction.tenses)
    main = ClauseSampler(ctx, depth=1).clause(tense=main_tense)
    link = ctx.link()
    shared = _take_up(ctx, main) if conjunction.de in ("weil", "obwohl") else None
    if shared is None and ctx.chance(0.4):
        shared = _echo(ctx, main.subject)
    inner = _embedded(ctx, tense, shared)
    words: list[Tree] = [("IN", word, link) for word in conjunction.en]
    clause_tree = ("SBAR", [*words, inner.english_clause()])
    first = [Token(conjunction.de, (link,))]
    ctx.clauses.append(" ".join(conjunction.en))
    fronted = conjunction.de != "sodass" and shared is None and ctx.chance(0.35)
    if fronted:
        mark = ctx.link()
        main.front = clause_tree, [*inner.german_final(first), comma(mark)]
        main.front_comma = mark
        ctx.fact("fronted clause")
        return Sentence(main.english_clause(), main.german_main(), main)
    tokens = inner.german_final([comma(link), *first])
    main.after += tokens
    main.after_english.append(clause_tree)
    return Sentence(main.english_clause(), main.german_main(), main)


def _embedded(ctx: Context, tense: str, subject: NounPhrase | None = None) -> Clause:
    sampler = ClauseSampler(ctx, depth=1)
    if subject is None:
        return sampler.clause(tense=tense)
    if subject.noun is not None:
        return sampler.clause(frame="copula", subject=subject, tense=tense)
    return sampler.clause(verb=person_verb(ctx), subject=subject, tense=tense)


def _echo(ctx: Context, subject: NounPhrase) -> NounPhrase | None:
    """Return a pronoun that refers to a personal subject."""
    if isinstance(subject, PronounPhrase):
        return PronounPhrase(ctx, subject.row)
    if subject.noun is not None and subject.noun.kind != "person":
        return None
    if subject.plural:
        wanted = "they"
    elif subject.gender == "m":
        wanted = "he"
    elif subject.gender == "f":
        wanted = "she"
    else:
        return None
    row = next(row for row in pronouns().items if row["en"] == wanted)
    return PronounPhrase(ctx, row)


_IT = {"m": "er", "f": "sie", "n": "es"}


def _take_up(ctx: Context, main: Clause) -> NounPhrase | None:
    """Return `it` or `they` for an object that is a thing; German agrees with its gender."""
    thing = main.direct_object
    if thing is None or thing.noun is None or thing.noun.kind == "person":
        return None
    if isinstance(thing, CoordinatedPhrase) or main.subject.noun is thing.noun:
        return None
    if ctx.chance(0.5):
        return None
    ctx.fact("it for an object")
    if thing.plural:
        row = next(row for row in pronouns().items if row["en"] == "they")
    else:
        row = {"en": "it", "de": _IT[thing.gender], "agreement": "3s"}
    phrase = PronounPhrase(ctx, row)
    phrase.noun = thing.noun
    return phrase


def complement_sentence(ctx: Context) -> Sentence:
    """Draw a `that` or `whether` clause after a verb of saying or knowing."""
    sampler = ClauseSampler(ctx, depth=1)
    verb = ctx.lexicon.verbs_in("clausal").draw(ctx.rng)
    options = verb.object.split("+")
    word = ctx.rng.choice(options)
    main = sampler.clause(verb=verb, rules=ClauseRules(adverbials=False))
    if main.tense in ("past", "plup"):
        tense = ctx.rng.choice(("past", "plup", "past"))
    else:
        tense = ctx.rng.choice(("pres", "past", "perf", "fut", "pres"))
    inner = ClauseSampler(ctx, depth=1).clause(tense=tense)
    link = ctx.link()
    german = {"that": "dass", "whether": "ob"}[word]
    main.after_english.append(("SBAR", [("IN", word, link), inner.english_clause()]))
    main.after += [comma(link), *inner.german_final([Token(german, (link,))])]
    ctx.clauses.append(word)
    front_adverbial(ctx, main)
    return Sentence(main.english_clause(), main.german_main(), main)


def infinitive_sentence(ctx: Context) -> Sentence:
    """Draw an infinitive complement (`tries to`) or a purpose clause (`in order to`)."""
    sampler = ClauseSampler(ctx, depth=1)
    purpose = ctx.chance(0.35)
    if purpose:
        main = sampler.clause(
            frame=ctx.rng.choice(("motion", "transitive", "intransitive")),
            rules=ClauseRules(passive=False),
        )
    else:
        main = sampler.clause(frame="infinitive", rules=ClauseRules(adverbials=False))
    shared = main.subject
    personal = shared.noun is None or shared.noun.kind in ("person", "organization")
    if not personal:
        front_adverbial(ctx, main)
        return Sentence(main.english_clause(), main.german_main(), main)
    verb = person_verb(ctx)
    inner = sampler.clause(
        verb=verb,
        subject=shared,
        tense="pres",
        rules=ClauseRules(plain=True, nonfinite=True, adverbials=False),
    )
    inner.links["to"] = ctx.link()
    inner.silent_subject = True
    tree = inner.english_infinitive()
    link = inner.links["to"]
    if purpose:
        order = ctx.link()
        tree = ("SBAR", [("IN", "in", order), ("NN", "order", order), tree])
        main.after += [comma(order), Token("um", (order,))]
        ctx.clauses.append("in order to")
    else:
        main.after.append(comma(link))
        ctx.clauses.append("infinitive")
    main.after_english.append(tree)
    main.after += inner.german_infinitive()
    front_adverbial(ctx, main)
    return Sentence(main.english_clause(), main.german_main(), main)

"""Whole sentences: main clauses, and what is joined to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from t2t_phrase.grammar.clause import Clause, Rank
from t2t_phrase.grammar.derivation import Context, Token, Tree, comma, fixed, leaves
from t2t_phrase.grammar.nounphrase import CommonPhrase, CoordinatedPhrase, NounPhrase, PronounPhrase
from t2t_phrase.grammar.sampler import ClauseSampler, adverbial_tree
from t2t_phrase.grammar.sampling import Weighted, determiners, noun_phrase, pronouns


@dataclasses.dataclass(slots=True)
class Sentence:
    """Both sides of a sentence without its final punctuation, and its main clause."""

    tree: Tree
    tokens: list[Token]
    main: Clause
    kind: str = "statement"
    mark: str = "."


def sentence(ctx: Context) -> Sentence:
    """Draw a sentence of any kind."""
    return _KINDS.draw(ctx)(ctx)


def _front(ctx: Context, clause: Clause) -> None:
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
            # German has no comma there: the English one goes with the adverb.
            first, *others = clause.front[1]
            links = (*first.links, clause.front_comma)
            clause.front = clause.front[0], [first._replace(links=links), *others]


def _statement(ctx: Context) -> Sentence:
    clause = ClauseSampler(ctx).clause()
    _front(ctx, clause)
    return Sentence(clause.english_clause(), clause.german_main(), clause)


@dataclasses.dataclass(frozen=True, slots=True)
class Subordinator:
    """A conjunction and the tenses of main and subordinate clause that go with it."""

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


def _subordinate(ctx: Context) -> Sentence:
    """Draw a main clause with an adverbial clause before or behind it."""
    conjunction = SUBORDINATORS.draw(ctx)
    main_tense, tense = ctx.rng.choice(conjunction.tenses)
    main = ClauseSampler(ctx, depth=1).clause(tense=main_tense)
    link = ctx.link()
    thing = _take_up(ctx, main) if conjunction.de in ("weil", "obwohl") else None
    shared = _echo(ctx, main.subject) if thing is None and ctx.chance(0.4) else None
    if thing is not None:
        sampler = ClauseSampler(ctx, depth=1)
        inner = sampler.clause(frame="copula", subject=thing, tense=tense)
        shared = thing
    else:
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
    for _ in range(6):
        frame = ctx.rng.choice(_PERSON_FRAMES)
        verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
        if any(group in ("per", "agt", "liv") for group in verb.subject.split("+")):
            return sampler.clause(verb=verb, subject=subject, tense=tense)
    return sampler.clause(tense=tense)


_PERSON_FRAMES = ("transitive", "intransitive", "prepositional", "motion", "dative", "idiom")


def _echo(ctx: Context, subject: NounPhrase) -> NounPhrase | None:
    """Return a pronoun that takes up a personal subject."""
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
    """Return `it` or `they` for a thing that is the object: German agrees with its gender."""
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


def _complement(ctx: Context) -> Sentence:
    """Draw a `that` or `whether` clause behind a verb of saying or knowing."""
    sampler = ClauseSampler(ctx, depth=1)
    verb = ctx.lexicon.verbs_in("clausal").draw(ctx.rng)
    options = verb.object.split("+")
    word = ctx.rng.choice(options)
    main = sampler.clause(verb=verb, adverbials=False)
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
    _front(ctx, main)
    return Sentence(main.english_clause(), main.german_main(), main)


def _infinitive(ctx: Context) -> Sentence:
    """Draw an infinitive complement (`tries to`) or a purpose clause (`in order to`)."""
    sampler = ClauseSampler(ctx, depth=1)
    purpose = ctx.chance(0.35)
    if purpose:
        main = sampler.clause(
            frame=ctx.rng.choice(("motion", "transitive", "intransitive")), allow_passive=False
        )
    else:
        main = sampler.clause(frame="infinitive", adverbials=False)
    shared = main.subject
    personal = shared.noun is None or shared.noun.kind in ("person", "organization")
    if not personal:
        _front(ctx, main)
        return Sentence(main.english_clause(), main.german_main(), main)
    frame = ctx.rng.choice(_PERSON_FRAMES)
    verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
    while not any(group in ("per", "agt", "liv") for group in verb.subject.split("+")):
        verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
    inner = sampler.clause(
        verb=verb, subject=shared, tense="pres", plain=True, nonfinite=True, adverbials=False
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
    _front(ctx, main)
    return Sentence(main.english_clause(), main.german_main(), main)


def _yes_no(ctx: Context) -> Sentence:
    clause = ClauseSampler(ctx, depth=1).clause(allow_negation=False)
    return Sentence(clause.english_question(), clause.german_question(), clause, "question", "?")


_ADVERB_QUESTIONS = (
    ("WRB", "where", "wo"),
    ("WRB", "when", "wann"),
    ("WRB", "why", "warum"),
    ("WRB", "how", "wie"),
)


def _wh(ctx: Context) -> Sentence:
    """Draw a question for the subject, the object, or a circumstance."""
    sampler = ClauseSampler(ctx, depth=1)
    dice = ctx.rng.random()
    link = ctx.link()
    if dice < 0.25:
        subject = WhoPhrase(ctx)
        frame = ctx.rng.choice(_PERSON_FRAMES)
        verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
        while not any(group in ("per", "agt", "liv") for group in verb.subject.split("+")):
            verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
        clause = sampler.clause(verb=verb, subject=subject, allow_negation=False)
        clause.silent_subject = True
        ctx.fact("who")
        tree: Tree = (
            "SBARQ",
            [subject.english(), ("SQ", clause.english_clause(silent=True)[1])],
        )
        return Sentence(
            tree, clause.german_question(subject.german("nom")), clause, "wh-question", "?"
        )
    if dice < 0.6:
        return _object_question(ctx, sampler)
    tag, en, de = ctx.rng.choice(_ADVERB_QUESTIONS)
    frames: tuple[str, ...] = ("transitive", "intransitive", "dative", "ditransitive", "idiom")
    if en == "where":
        frames = ("transitive", "intransitive", "ditransitive")
    clause = sampler.clause(
        frame=ctx.rng.choice(frames), allow_negation=False, adverbials=en in ("why",)
    )
    clause.before = None
    clause.middle = [part for part in clause.middle if part[0] != Rank.FREQUENCY]
    ctx.fact(en)
    tree = ("SBARQ", [("WHADVP", [(tag, en, link)]), clause.english_question()])
    tokens = clause.german_question([Token(de, (link,))])
    return Sentence(tree, tokens, clause, "wh-question", "?")


def _object_question(ctx: Context, sampler: ClauseSampler) -> Sentence:
    link = ctx.link()
    frame = ctx.rng.choice(("transitive", "transitive", "dative"))
    verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
    personal = any(group in ("per", "liv") for group in verb.object.split("+"))
    if frame == "dative" and not personal:
        frame, verb = "transitive", ctx.lexicon.verbs_in("transitive").draw(ctx.rng)
        personal = any(group in ("per", "liv") for group in verb.object.split("+"))
    gap = WhoPhrase(ctx)
    clause = sampler.clause(verb=verb, gap=gap, allow_negation=False)
    if not personal and ctx.chance(0.5):
        noun = ctx.lexicon.nouns_in(verb.object).draw(ctx.rng)
        which = WhichPhrase(ctx, noun)
        tree: Tree = ("SBARQ", [which.english(), clause.english_question()])
        ctx.fact("which")
        return Sentence(
            tree, clause.german_question(which.german("acc")), clause, "wh-question", "?"
        )
    if personal:
        word, german = "who", "wem" if frame == "dative" else "wen"
    else:
        word, german = "what", "was"
    ctx.fact(word)
    tree = ("SBARQ", [("WHNP", [("WP", word, link)]), clause.english_question()])
    return Sentence(
        tree, clause.german_question([Token(german, (link,))]), clause, "wh-question", "?"
    )


class WhoPhrase(NounPhrase):
    """The question word for a person."""

    gender = "m"

    def __init__(self, ctx: Context) -> None:
        self.head = ctx.link()

    def english(self, case: str = "nom") -> Tree:
        return ("WHNP", [("WP", "who", self.head)])

    def german(self, case: str) -> list[Token]:
        return [Token({"nom": "wer", "acc": "wen", "dat": "wem"}[case], (self.head,))]


class WhichPhrase(CommonPhrase):
    """`which` and a noun."""

    def __init__(self, ctx: Context, noun: object) -> None:
        from t2t_phrase.grammar.nounphrase import Determiner

        which = Determiner("which", "WDT", "welch-", "weak", True)
        plural = noun.countable and ctx.chance(0.3)  # type: ignore[attr-defined]
        super().__init__(ctx, noun, determiner=which, plural=plural)  # type: ignore[arg-type]

    def english(self, case: str = "nom") -> Tree:
        return ("WHNP", super().english(case)[1])


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
    """Draw one subject with two predicates."""
    sampler = ClauseSampler(ctx, depth=1)
    frame = ctx.rng.choice(_PERSON_FRAMES)
    verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
    while "per" not in verb.subject.split("+"):
        verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
    subject = noun_phrase(ctx, "per")
    tense = ctx.rng.choice(("pres", "past"))
    first = sampler.clause(verb=verb, subject=subject, tense=tense, plain=True)
    other = ctx.lexicon.verbs_in(ctx.rng.choice(_PERSON_FRAMES)).draw(ctx.rng)
    while "per" not in other.subject.split("+") or other is verb:
        other = ctx.lexicon.verbs_in(ctx.rng.choice(_PERSON_FRAMES)).draw(ctx.rng)
    second = sampler.clause(
        verb=other, subject=subject, tense=first.tense, plain=True, adverbials=False
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


def _command(ctx: Context) -> Sentence:
    sampler = ClauseSampler(ctx, depth=1)
    subject = PronounPhrase(ctx, next(row for row in pronouns().items if row["en"] == "you"))
    frame = ctx.rng.choice(("transitive", "transitive", "ditransitive", "placement", "dative"))
    verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
    while not any(group in ("per", "agt", "liv") for group in verb.subject.split("+")):
        verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
    clause = sampler.clause(
        verb=verb, subject=subject, tense="pres", plain=True, nonfinite=True, adverbials=False
    )
    clause.silent_subject = True
    tree: Tree = ("S", [clause.english_imperative()])
    return Sentence(tree, clause.german_imperative(), clause, "command", "!")


def _existential(ctx: Context) -> Sentence:
    """Draw `there is`: `es gibt` with an accusative."""
    lexicon = ctx.lexicon
    sampler = ClauseSampler(ctx, depth=1)
    noun = lexicon.nouns_in("building+outdoor+person+animal+vehicle").draw(ctx.rng)
    plural = ctx.chance(0.5)
    pool = determiners("p" if plural else "s")
    determiner = pool.draw(ctx)
    while determiner.definite:
        determiner = pool.draw(ctx)
    from t2t_phrase.grammar.sampling import common_phrase

    phrase = common_phrase(
        ctx, noun, determiner=determiner, plural=plural, adjective_chance=0.5, modifiers=False
    )
    there = ctx.link()
    give = next(verb for verb in lexicon.verbs if verb.en == "give" and not verb.rest)
    tense = ctx.rng.choice(("pres", "past"))
    tree, tokens = sampler.place_phrase("in")
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
        _subordinate,
        _complement,
        _infinitive,
        _yes_no,
        _wh,
        _coordinated,
        _shared_subject,
        _command,
        _existential,
    ),
    (46, 13, 9, 7, 6, 6, 5, 4, 3, 2),
)

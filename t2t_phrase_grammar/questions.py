"""Yes-no questions, and questions with a question word."""

from __future__ import annotations

from t2t_phrase_grammar.clause import Rank
from t2t_phrase_grammar.derivation import Context, Token, Tree
from t2t_phrase_grammar.nounphrase import CommonPhrase, Determiner
from t2t_phrase_grammar.phrase import NounPhrase
from t2t_phrase_grammar.sampler import ClauseRules, ClauseSampler
from t2t_phrase_grammar.sentence import Sentence, person_verb
from t2t_phrase_grammar.words import Noun


def yes_no_question(ctx: Context) -> Sentence:
    """Draw a yes-no question."""
    clause = ClauseSampler(ctx, depth=1).clause(rules=ClauseRules(negation=False))
    return Sentence(clause.english_question(), clause.german_question(), clause, "question", "?")


_ADVERB_QUESTIONS = (
    ("WRB", "where", "wo"),
    ("WRB", "when", "wann"),
    ("WRB", "why", "warum"),
    ("WRB", "how", "wie"),
)


def wh_question(ctx: Context) -> Sentence:
    """Draw a question about the subject, the object, or a circumstance."""
    sampler = ClauseSampler(ctx, depth=1)
    dice = ctx.rng.random()
    link = ctx.link()
    if dice < 0.25:
        subject = WhoPhrase(ctx)
        verb = person_verb(ctx)
        clause = sampler.clause(verb=verb, subject=subject, rules=ClauseRules(negation=False))
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
        frame=ctx.rng.choice(frames), rules=ClauseRules(negation=False, adverbials=en in ("why",))
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
    clause = sampler.clause(verb=verb, gap=gap, rules=ClauseRules(negation=False))
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
        """Return the constituent."""
        return ("WHNP", [("WP", "who", self.head)])

    def german(self, case: str) -> list[Token]:
        """Return the tokens in a case."""
        return [Token({"nom": "wer", "acc": "wen", "dat": "wem"}[case], (self.head,))]


class WhichPhrase(CommonPhrase):
    """`which` and a noun."""

    def __init__(self, ctx: Context, noun: Noun) -> None:
        which = Determiner("which", "WDT", "welch-", "weak", True)
        plural = noun.countable and ctx.chance(0.3)
        super().__init__(ctx, noun, determiner=which, plural=plural)

    def english(self, case: str = "nom") -> Tree:
        """Return the question phrase."""
        return ("WHNP", super().english(case)[1])

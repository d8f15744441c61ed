"""Draws whole clauses: verb, tense, arguments, adverbials, relative clauses."""

from __future__ import annotations

import dataclasses
import functools

from t2t_phrase_grammar.adverbials import add_adverbials
from t2t_phrase_grammar.arguments import NEVER_WITH_TO, ArgumentSampler
from t2t_phrase_grammar.clause import Clause
from t2t_phrase_grammar.derivation import Token, Tree, comma
from t2t_phrase_grammar.english import Modal
from t2t_phrase_grammar.nounphrase import CommonPhrase
from t2t_phrase_grammar.phrase import NounPhrase
from t2t_phrase_grammar.pools import Weighted, read_table
from t2t_phrase_grammar.pronouns import PossessiveRelativePhrase, RelativePronounPhrase
from t2t_phrase_grammar.sampling import noun_phrase
from t2t_phrase_grammar.words import Verb

_FRAME_WEIGHTS = {
    "intransitive": 11,
    "transitive": 42,
    "stative": 5,
    "dative": 6,
    "dative_stative": 2,
    "ditransitive": 9,
    "prepositional": 11,
    "prepositional_stative": 2,
    "motion": 8,
    "position": 5,
    "placement": 3,
    "copula": 13,
    "idiom": 8,
}
FRAMES = Weighted(tuple(_FRAME_WEIGHTS), tuple(_FRAME_WEIGHTS.values()))
# Frames of states and of momentary events.
NO_PROGRESSIVE = frozenset(
    {
        "stative",
        "copula",
        "dative",
        "dative_stative",
        "prepositional_stative",
        "position",
        "idiom",
        "clausal",
        "infinitive",
    }
)


@functools.cache
def modals() -> Weighted[Modal]:
    """Return the modal verbs."""
    rows = list(read_table("modals"))
    made = [Modal(r["en"], r["kind"], r["de"], r["tense"], r["negative_de"]) for r in rows]
    return Weighted(made, [float(row["weight"]) for row in rows])


TENSES = Weighted(("pres", "past", "perf", "plup", "fut"), (34, 34, 15, 3, 10))
_OWNED_BY_PERSONS = "animal+son+daughter+brother+sister+uncle+aunt+neighbour+friend+colleague"
_WITH_RELATIVE = frozenset(("the", "a", "this", "that", "these", "those", "many", "two", "three"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClauseRules:
    """The constructions that a clause may have.

    Attributes:
        plain: no negation, passive, modal, progressive or perfect.
        nonfinite: the clause becomes an infinitive or a command.
        passive: whether a passive may be drawn.
        negation: whether a negation may be drawn.
        adverbials: whether adverbials are added.
    """

    plain: bool = False
    nonfinite: bool = False
    passive: bool = True
    negation: bool = True
    adverbials: bool = True


ANY_CLAUSE = ClauseRules()


class ClauseSampler(ArgumentSampler):
    """Draws clauses in one context."""

    def clause(
        self,
        *,
        frame: str | None = None,
        verb: Verb | None = None,
        subject: NounPhrase | None = None,
        tense: str | None = None,
        gap: NounPhrase | None = None,
        rules: ClauseRules = ANY_CLAUSE,
    ) -> Clause:
        """Draw a clause.

        Args:
            frame: verb frame; None: drawn.
            verb: the verb; None: drawn for the frame.
            subject: the subject, for relative pronouns and shared subjects; None: drawn.
            tense: the tense, without a modal; None: drawn.
            gap: a relative pronoun that is the accusative or dative object.
            rules: the constructions that may be drawn.
        """
        ctx = self.ctx
        if verb is None:
            frame = frame or FRAMES.draw(ctx.rng)
            verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
        frame = verb.frame
        passive = (
            rules.passive
            and not rules.plain
            and subject is None
            and gap is None
            and frame in ("transitive", "dative", "ditransitive")
            and not verb.de.reflexive
            and not verb.idiom
            and verb.en not in NEVER_WITH_TO
            and ctx.chance(0.05 if frame == "dative" else 0.2)
        )
        modal = None
        if not rules.plain and tense is None and ctx.chance(0.16):
            modal = modals().draw(ctx.rng)
        chosen = modal.tense if modal else (tense or TENSES.draw(ctx.rng))
        negated = rules.negation and not rules.plain and ctx.chance(0.12)
        # Instead of `nicht ein Ende setzen`, German has `kein Ende setzen`.
        negated = negated and not any(word.startswith("ein") for word in verb.de_words)
        impersonal = False
        if subject is None:
            if passive:
                groups = verb.object
                impersonal = frame == "dative"
                subject = noun_phrase(ctx, groups)
            else:
                subject = noun_phrase(ctx, verb.subject)
            self.relative(subject, after_object=False)
        bare = modal is None and not passive and not rules.nonfinite and chosen in ("pres", "past")
        if bare and verb.past_is_base and subject.agreement != "3s":
            # Without ending or auxiliary, `put` can be present or past.
            chosen = "perf"
        if frame == "copula" and verb.en == "be" and chosen == "plup":
            chosen = "past"
        progressive = (
            not rules.plain
            and modal is None
            and not passive
            and chosen in ("pres", "past")
            and frame not in NO_PROGRESSIVE
            and not negated
            and ctx.chance(0.12)
        )
        clause = Clause(
            ctx,
            verb,
            subject,
            tense=chosen,
            modal=modal,
            passive=passive,
            negated=negated,
            progressive=progressive,
            impersonal=impersonal,
        )
        if passive:
            self.passive_arguments(clause)
        else:
            self.arguments(clause, gap)
        if rules.adverbials and not progressive:
            add_adverbials(self.ctx, clause)
        return clause

    def relative(self, phrase: NounPhrase, *, after_object: bool) -> None:
        """Add a relative clause to a common noun phrase, with some probability."""
        ctx = self.ctx
        if self.depth or not isinstance(phrase, CommonPhrase) or "relative" in ctx.clauses:
            return
        if phrase.after is not None or phrase.determiner.en not in _WITH_RELATIVE:
            return
        if ctx.chance(0.1 if after_object else 0.17):
            self.attach_relative(phrase)

    def attach_relative(self, phrase: CommonPhrase) -> bool:
        """Attach a relative clause; False if no verb fits the noun."""
        ctx = self.ctx
        noun = phrase.noun
        assert noun is not None
        inner = ClauseSampler(ctx, depth=self.depth + 1)
        person = noun.kind == "person"
        dice = ctx.rng.random()
        lexicon = ctx.lexicon
        pronoun: RelativePronounPhrase | PossessiveRelativePhrase
        if person and dice < 0.1:
            owned = lexicon.nouns_in(_OWNED_BY_PERSONS).draw(ctx.rng)
            pronoun = PossessiveRelativePhrase(ctx, phrase, owned, plural=ctx.chance(0.3))
            verb = lexicon.verb_for(owned, "subject", ctx.rng)
        else:
            pronoun = RelativePronounPhrase(ctx, phrase, person=person)
            verb = lexicon.verb_for(noun, "subject", ctx.rng) if dice < 0.55 else None
        if dice < 0.55:
            if verb is None:
                return False
            clause = inner.clause(verb=verb, subject=pronoun)
            tree: Tree = ("SBAR", [pronoun.english("nom"), clause.english_clause(silent=True)])
            clause.silent_subject = True
            tokens = clause.german_final(pronoun.german("nom"))
            ctx.fact("subject relative" if pronoun.noun is None else "possessive relative")
        else:
            verb = lexicon.verb_for(noun, "object", ctx.rng)
            if verb is None:
                return False
            case = "dat" if verb.frame.startswith("dative") else "acc"
            clause = inner.clause(verb=verb, gap=pronoun, rules=ClauseRules(negation=False))
            preposition: list[Token] = []
            if verb.frame.startswith("prepositional"):
                case = verb.de_case
                preposition = [Token(verb.de_preposition, (clause.links["verb"],))]
                if verb.preposition:
                    stranded = ("IN", verb.preposition, clause.links["verb"])
                    clause.complements.insert(0, ("PP", [stranded]))
            tree = ("SBAR", [pronoun.english("acc"), clause.english_clause()])
            tokens = clause.german_final([*preposition, *pronoun.german(case)])
            ctx.fact("object relative")
        ctx.clauses.append("relative")
        mark = comma(tokens[0].links[0])
        phrase.relative = ([mark, *tokens, mark], tree)
        return True

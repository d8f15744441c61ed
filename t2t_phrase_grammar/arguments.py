"""The objects of a clause, frame by frame."""

from __future__ import annotations

from t2t_phrase_grammar.clause import Clause, Rank
from t2t_phrase_grammar.derivation import Context
from t2t_phrase_grammar.english import PARTICLES
from t2t_phrase_grammar.nounphrase import CommonPhrase, KeinPhrase, with_preposition
from t2t_phrase_grammar.phrase import NounPhrase
from t2t_phrase_grammar.places import place_phrase, spot, two_way
from t2t_phrase_grammar.predicates import predicate
from t2t_phrase_grammar.pronouns import PronounPhrase
from t2t_phrase_grammar.sampling import THE, common_phrase, noun_phrase, prepositional

# Verbs with two objects: `explained the plan to her`, `owed her money`; others take both forms.
ONLY_WITH_TO = frozenset(("explain", "dictate", "recommend"))
NEVER_WITH_TO = frozenset(("allow", "refuse", "wish", "owe", "grant"))


# `nicht einige`, `nicht viele` do not mean the same as the English negation.
_VAGUE = frozenset(("some", "much", "little", "many", "several", "few"))


def _vague(phrase: NounPhrase) -> bool:
    return isinstance(phrase, CommonPhrase) and phrase.determiner.en in _VAGUE


class ArgumentSampler:
    """Draws the objects of clauses in one context.

    Args:
        ctx: the sentence under construction.
        depth: depth of the clause in the sentence; relative clauses are drawn at depth 0 only.
    """

    def __init__(self, ctx: Context, *, depth: int = 0) -> None:
        self.ctx = ctx
        self.depth = depth

    def relative(self, phrase: NounPhrase, *, after_object: bool) -> None:
        """Add a relative clause to a common noun phrase, with some probability."""
        raise NotImplementedError

    def _predicate(self, clause: Clause, gap: NounPhrase | None) -> None:
        predicate(self.ctx, clause)

    def _object(self, clause: Clause, groups: str, *, light: bool = False) -> NounPhrase:
        ctx = self.ctx
        subject = clause.subject
        for _ in range(8):
            phrase = noun_phrase(ctx, groups, light=light or clause.negated)
            speaker = isinstance(phrase, PronounPhrase) and phrase.agreement[0] != "3"
            if speaker and subject.agreement[0] == phrase.agreement[0]:
                continue
            if phrase.noun is not None and phrase.noun is subject.noun:
                continue
            if clause.negated and _vague(phrase):
                continue
            return phrase
        return common_phrase(ctx, ctx.lexicon.nouns_in(groups).draw(ctx.rng), determiner=THE)

    def _negative_object(self, clause: Clause, phrase: NounPhrase) -> NounPhrase:
        """Turn `not ... a` into `kein`; leave other objects to `nicht`."""
        if not clause.negated or not isinstance(phrase, CommonPhrase):
            return phrase
        if phrase.determiner.en in ("a", "") and phrase.possessor is None:
            kein = KeinPhrase(phrase, clause.not_link)
            clause.german_not = False
            self.ctx.fact("kein")
            return kein
        return phrase

    def _place_object(self, clause: Clause, phrase: NounPhrase, case: str) -> None:
        if phrase.pronoun:
            rank = Rank.ACCUSATIVE_PRONOUN if case == "acc" else Rank.DATIVE_PRONOUN
        elif case == "dat":
            rank = Rank.DATIVE
        else:
            rank = Rank.ACCUSATIVE if phrase.definite else Rank.INDEFINITE
        clause.middle.append((rank, phrase.german(case)))
        if phrase.relative:
            clause.after += phrase.relative[0]

    def _check_ambiguity(self, clause: Clause, phrase: NounPhrase) -> None:
        """Note whether agreement with the object would give another correct sentence."""
        subject = clause.subject
        clause.ambiguous = (
            phrase.plural != subject.plural
            and subject.agreement[0] == "3"
            and not isinstance(phrase, PronounPhrase)
            and phrase.nominative_is_accusative
            and subject.nominative_is_accusative
        )

    def arguments(self, clause: Clause, gap: NounPhrase | None) -> None:
        """Draw the objects that the verb's frame requires, except for the gap."""
        handler = {
            "intransitive": self._none,
            "transitive": self._accusative,
            "stative": self._accusative,
            "dative": self._dative,
            "dative_stative": self._dative,
            "ditransitive": self._ditransitive,
            "prepositional": self._prepositional,
            "prepositional_stative": self._prepositional,
            "motion": self._motion,
            "position": self._position,
            "placement": self._placement,
            "copula": self._predicate,
            "idiom": self._idiom,
            "clausal": self._none,
            "infinitive": self._none,
        }[clause.verb.frame]
        handler(clause, gap)

    def _none(self, clause: Clause, gap: NounPhrase | None) -> None:
        pass

    def _accusative(self, clause: Clause, gap: NounPhrase | None) -> None:
        if gap is not None:
            return
        phrase = self._object(clause, clause.verb.object)
        self.relative(phrase, after_object=True)
        phrase = self._negative_object(clause, phrase)
        self._check_ambiguity(clause, phrase)
        clause.direct_object = phrase
        if phrase.pronoun and all(word in PARTICLES for word in clause.verb.rest):
            clause.before_rest = phrase.english("acc")
        else:
            clause.complements.append(phrase.english_full("acc"))
        self._place_object(clause, phrase, "acc")

    def _dative(self, clause: Clause, gap: NounPhrase | None) -> None:
        self.ctx.fact("dative object")
        if gap is not None:
            return
        phrase = self._object(clause, clause.verb.object, light=True)
        phrase = self._negative_object(clause, phrase)
        clause.complements.append(phrase.english_full("acc"))
        self._place_object(clause, phrase, "dat")

    def _ditransitive(self, clause: Clause, gap: NounPhrase | None) -> None:
        ctx, verb = self.ctx, clause.verb
        ctx.fact("two objects")
        recipient = self._object(clause, "per", light=True)
        noun = ctx.lexicon.nouns_in(verb.object).draw(ctx.rng)
        thing = common_phrase(ctx, noun, modifiers=False)
        if clause.negated and _vague(thing):
            thing = common_phrase(ctx, noun, determiner=THE, modifiers=False)
        # `her books` would read as a possessive.
        her = isinstance(recipient, PronounPhrase) and recipient.row["en"] == "she"
        her = her and thing.determiner.tag in ("", "JJ", "CD")
        with_to = bool(verb.rest) or verb.en in ONLY_WITH_TO or her
        with_to = with_to or (verb.en not in NEVER_WITH_TO and ctx.chance(0.35))
        tokens = recipient.german("dat")
        if with_to:
            link = ctx.link()
            tokens[0] = tokens[0]._replace(links=(link, *tokens[0].links))
            shown = self._negative_object(clause, thing)
            tree = ("PP", [("TO", "to", link), recipient.english_full("acc")])
            clause.complements += [shown.english("acc"), tree]
        else:
            self.relative(thing, after_object=True)
            shown = self._negative_object(clause, thing)
            clause.complements += [recipient.english_full("acc"), shown.english_full("acc")]
        rank = Rank.DATIVE_PRONOUN if recipient.pronoun else Rank.DATIVE
        clause.middle.append((rank, tokens))
        self._place_object(clause, shown, "acc")

    def _prepositional(self, clause: Clause, gap: NounPhrase | None) -> None:
        ctx, verb = self.ctx, clause.verb
        ctx.fact("prepositional object")
        if gap is not None:
            return
        phrase = self._object(clause, verb.object)
        link = ctx.link() if verb.preposition else clause.links["verb"]
        tokens = with_preposition(verb.de_preposition, link, phrase.german(verb.de_case))
        clause.middle.append((Rank.PLACE, tokens))
        english = phrase.english("acc")
        if verb.preposition:
            tag = "TO" if verb.preposition == "to" else "IN"
            english = ("PP", [(tag, verb.preposition, link), english])
        clause.complements.append(english)

    def _motion(self, clause: Clause, gap: NounPhrase | None) -> None:
        tree, tokens = place_phrase(self.ctx, "to" if self.ctx.chance(0.75) else "from")
        clause.complements.append(tree)
        clause.middle.append((Rank.PLACE, tokens))

    def _position(self, clause: Clause, gap: NounPhrase | None) -> None:
        if clause.verb.en in ("live", "stay", "play", "hide"):
            tree, tokens = place_phrase(self.ctx, "in")
        elif clause.verb.en == "hang":
            tree, tokens = two_way(self.ctx, "dat", ("on", "an"), "wall")
        else:
            tree, tokens = spot(self.ctx, "dat")
        clause.complements.append(tree)
        clause.middle.append((Rank.PLACE, tokens))

    def _placement(self, clause: Clause, gap: NounPhrase | None) -> None:
        if gap is None:
            phrase = common_phrase(
                self.ctx,
                self.ctx.lexicon.nouns_in(clause.verb.object).draw(self.ctx.rng),
                modifiers=False,
            )
            shown = self._negative_object(clause, phrase)
            clause.complements.append(shown.english_full("acc"))
            self._place_object(clause, shown, "acc")
        if clause.verb.en == "hang":
            tree, tokens = two_way(self.ctx, "acc", ("on", "an"), "wall+tree")
        elif clause.verb.en in ("stick", "throw"):
            tree, tokens = two_way(self.ctx, "acc", ("into", "in"), "cont")
        else:
            tree, tokens = spot(self.ctx, "acc")
        self.ctx.fact("two-way preposition")
        clause.complements.append(tree)
        clause.middle.append((Rank.PLACE, tokens))

    def _idiom(self, clause: Clause, gap: NounPhrase | None) -> None:
        self.ctx.fact("idiom")
        verb = clause.verb
        if not verb.object:
            return
        phrase = self._object(clause, verb.object, light=True)
        case = verb.de_case or "acc"
        if gap is None:
            english = phrase.english("acc")
            if verb.preposition:
                link = clause.links["verb"]
                english = ("PP", [("IN", verb.preposition, link), english])
                clause.complements.append(english)
            else:
                clause.before_rest = english
            self._place_object(clause, phrase, case)

    def passive_arguments(self, clause: Clause) -> None:
        """Draw the agent or the recipient of a passive clause."""
        ctx = self.ctx
        ctx.fact("impersonal passive" if clause.impersonal else "passive")
        if clause.verb.frame == "ditransitive":
            # The thing becomes the subject: `the book was given to the child`.
            recipient = noun_phrase(ctx, "per", light=True)
            link = ctx.link()
            clause.complements.append(("PP", [("TO", "to", link), recipient.english_full("acc")]))
            tokens = recipient.german("dat")
            tokens[0] = tokens[0]._replace(links=(link, *tokens[0].links))
            rank = Rank.DATIVE_PRONOUN if recipient.pronoun else Rank.DATIVE
            clause.middle.append((rank, tokens))
        elif not clause.negated and ctx.chance(0.5):
            agent = noun_phrase(ctx, clause.verb.subject, light=True)
            ctx.fact("agent")
            tree, tokens = prepositional(ctx, "by", "von", "dat", agent)
            clause.complements.append(tree)
            clause.middle.append((Rank.AGENT, tokens))

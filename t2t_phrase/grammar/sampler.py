"""Draws whole clauses: verb, tense, arguments, adverbials."""

from __future__ import annotations

import functools

from t2t_phrase.grammar.clause import Clause, Rank
from t2t_phrase.grammar.derivation import Context, Token, Tree, comma, fixed
from t2t_phrase.grammar.english import PARTICLES, Modal, word_tag
from t2t_phrase.grammar.lexicon import Adverb, Noun, Verb, read_table
from t2t_phrase.grammar.nounphrase import (
    CommonPhrase,
    NounPhrase,
    PossessiveRelativePhrase,
    PronounPhrase,
    RelativePronounPhrase,
    with_preposition,
)
from t2t_phrase.grammar.sampling import (
    BARE,
    NO,
    THE,
    A,
    Weighted,
    common_phrase,
    noun_phrase,
    prepositional,
)

FRAMES = Weighted(
    (
        "intransitive",
        "transitive",
        "stative",
        "dative",
        "dative_stative",
        "ditransitive",
        "prepositional",
        "motion",
        "position",
        "placement",
        "copula",
        "idiom",
    ),
    (11, 42, 5, 6, 2, 9, 13, 8, 5, 3, 13, 8),
)
NO_PROGRESSIVE = frozenset(["stative", "copula", "dative", "dative_stative", "position", "idiom"])


@functools.cache
def modals() -> Weighted[Modal]:
    """Return the modal verbs."""
    rows = list(read_table("modals"))
    made = [Modal(r["en"], r["kind"], r["de"], r["tense"], r["negative_de"]) for r in rows]
    return Weighted(made, [float(row["weight"]) for row in rows])


TENSES = Weighted(("pres", "past", "perf", "plup", "fut"), (34, 34, 15, 3, 10))


class ClauseSampler:
    """Draws clauses into one context.

    Args:
        ctx: the sentence under construction.
        depth: how deep in the sentence the clause stands; relative clauses only at depth 0.
    """

    def __init__(self, ctx: Context, *, depth: int = 0) -> None:
        self.ctx = ctx
        self.depth = depth

    def clause(
        self,
        *,
        frame: str | None = None,
        verb: Verb | None = None,
        subject: NounPhrase | None = None,
        subject_noun: Noun | None = None,
        tense: str | None = None,
        plain: bool = False,
        nonfinite: bool = False,
        allow_passive: bool = True,
        allow_negation: bool = True,
        allow_modal: bool = True,
        adverbials: bool = True,
        gap: NounPhrase | None = None,
    ) -> Clause:
        """Draw a clause.

        Args:
            frame: verb frame; drawn if absent.
            subject: given subject (relative pronouns, shared subjects).
            tense: fixed tense, without modal.
            plain: neither negation, passive, modal, progressive nor perfect.
            nonfinite: the clause will be an infinitive or a command.
            gap: a relative pronoun that is the accusative or dative object.
        """
        ctx = self.ctx
        if verb is None:
            frame = frame or FRAMES.draw(ctx)
            verb = ctx.lexicon.verbs_in(frame).draw(ctx.rng)
        frame = verb.frame
        passive = (
            allow_passive
            and not plain
            and subject is None
            and gap is None
            and frame in ("transitive", "dative", "ditransitive")
            and not verb.de.reflexive
            and not verb.idiom
            and ctx.chance(0.05 if frame == "dative" else 0.2)
        )
        modal = None
        if allow_modal and not plain and tense is None and ctx.chance(0.16):
            modal = modals().draw(ctx)
        chosen = modal.tense if modal else (tense or TENSES.draw(ctx))
        negated = allow_negation and not plain and ctx.chance(0.12)
        # `nicht ein Ende setzen` would have to be `kein Ende setzen`.
        negated = negated and not any(word.startswith("ein") for word in verb.de_words)
        impersonal = False
        if subject is None:
            if passive:
                groups = verb.object
                impersonal = frame == "dative"
                subject = noun_phrase(ctx, groups)
            else:
                subject = noun_phrase(ctx, verb.subject)
            self._relative(subject, after_object=False)
        # Without an ending or auxiliary, `put` could be present or past.
        if verb.past_is_base and modal is None and not passive and not nonfinite:
            if chosen in ("pres", "past") and subject.agreement != "3s":
                chosen = "perf"
        if frame == "copula" and verb.en == "be" and chosen == "plup":
            chosen = "past"
        progressive = (
            not plain
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
            self._passive_arguments(clause)
        else:
            self._arguments(clause, gap)
        if adverbials and not progressive:
            self._adverbials(clause, gap is not None)
        return clause

    # Arguments

    def _object(self, clause: Clause, groups: str, *, light: bool = False) -> NounPhrase:
        ctx = self.ctx
        subject = clause.subject
        for _ in range(8):
            phrase = noun_phrase(ctx, groups, light=light or clause.negated)
            if isinstance(phrase, PronounPhrase) and phrase.agreement[0] != "3":
                if subject.agreement[0] == phrase.agreement[0]:
                    continue
            if phrase.noun is not None and phrase.noun is subject.noun:
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
        """A verb that agreed with the object instead would be another sentence, not a wrong one."""
        subject = clause.subject
        clause.ambiguous = (
            phrase.plural != subject.plural
            and subject.agreement[0] == "3"
            and not isinstance(phrase, PronounPhrase)
            and phrase.nominative_is_accusative
            and subject.nominative_is_accusative
        )

    def _arguments(self, clause: Clause, gap: NounPhrase | None) -> None:
        handler = {
            "intransitive": self._none,
            "transitive": self._accusative,
            "stative": self._accusative,
            "dative": self._dative,
            "dative_stative": self._dative,
            "ditransitive": self._ditransitive,
            "prepositional": self._prepositional,
            "motion": self._motion,
            "position": self._position,
            "placement": self._placement,
            "copula": self._copula,
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
        self._relative(phrase, after_object=True)
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
        ctx = self.ctx
        ctx.fact("two objects")
        recipient = self._object(clause, "per", light=True)
        if gap is None:
            thing = common_phrase(
                ctx, ctx.lexicon.nouns_in(clause.verb.object).draw(ctx.rng), modifiers=False
            )
            self._relative(thing, after_object=True)
            shown: NounPhrase = self._negative_object(clause, thing)
        # `her books` would read as a possessive.
        her = isinstance(recipient, PronounPhrase) and recipient.row["en"] == "she"
        to_phrase = gap is not None or clause.verb.rest or her or ctx.chance(0.35)
        to_phrase = to_phrase or clause.verb.en in ("explain", "report", "dictate", "recommend")
        if gap is None and thing.relative is not None:
            to_phrase = bool(clause.verb.rest) or clause.verb.en in ("dictate", "recommend")
            if to_phrase:
                thing.relative = None
                ctx.clauses.remove("relative")
        if to_phrase:
            link = ctx.link()
            tree = ("PP", [("TO", "to", link), recipient.english_full("acc")])
            tokens = recipient.german("dat")
            tokens[0] = tokens[0]._replace(links=(link, *tokens[0].links))
            if gap is None:
                clause.complements.append(shown.english_full("acc"))
            clause.complements.append(tree)
        else:
            tokens = recipient.german("dat")
            clause.complements.append(recipient.english_full("acc"))
            clause.complements.append(shown.english_full("acc"))
        rank = Rank.DATIVE_PRONOUN if recipient.pronoun else Rank.DATIVE
        clause.middle.append((rank, tokens))
        if gap is None:
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
        tree, tokens = self.place_phrase("to" if self.ctx.chance(0.75) else "from")
        clause.complements.append(tree)
        clause.middle.append((Rank.PLACE, tokens))

    def _position(self, clause: Clause, gap: NounPhrase | None) -> None:
        if clause.verb.en in ("live", "stay", "play", "hide"):
            tree, tokens = self.place_phrase("in")
        elif clause.verb.en == "hang":
            tree, tokens = self._two_way("dat", ("on", "an"), "wall")
        else:
            tree, tokens = self._spot("dat")
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
            tree, tokens = self._two_way("acc", ("on", "an"), "wall+tree")
        elif clause.verb.en in ("stick", "throw"):
            tree, tokens = self._two_way("acc", ("into", "in"), "cont")
        else:
            tree, tokens = self._spot("acc")
        self.ctx.fact("two-way preposition")
        clause.complements.append(tree)
        clause.middle.append((Rank.PLACE, tokens))

    def _two_way(
        self, case: str, prepositions: tuple[str, str], groups: str
    ) -> tuple[Tree, list[Token]]:
        noun = self.ctx.lexicon.nouns_in(groups).draw(self.ctx.rng)
        phrase = common_phrase(self.ctx, noun, plural=False, modifiers=False, adjective_chance=0.2)
        return prepositional(self.ctx, *prepositions, case, phrase)

    def _spot(self, case: str) -> tuple[Tree, list[Token]]:
        """Draw a place relative to furniture or things; the case tells place from goal."""
        surface = self.ctx.chance(0.5)
        if surface:
            pair, groups = ("on", "auf"), "table+chair+bed+bench+carpet+sofa+desk"
        else:
            pairs = (
                ("under", "unter"),
                ("behind", "hinter"),
                ("next to", "neben"),
                ("in front of", "vor"),
            )
            pair, groups = self.ctx.rng.choice(pairs), "furniture+house+tree+church+tent"
        self.ctx.fact("two-way preposition")
        return self._two_way(case, pair, groups)

    def _copula(self, clause: Clause, gap: NounPhrase | None) -> None:
        ctx, verb, subject = self.ctx, clause.verb, clause.subject
        noun = subject.noun
        link = ctx.link()
        dice = ctx.rng.random()
        person = noun is None or noun.kind == "person"
        if person and dice < 0.25 and verb.en != "seem":
            role = ctx.lexicon.nouns_in("profession").draw(ctx.rng)
            self._role(clause, role)
            return
        if dice > 0.86 and verb.en == "be" and noun is not None and noun.kind != "quality":
            tree, tokens = self.place_phrase("in")
            clause.complements.append(tree)
            clause.middle.append((Rank.PLACE, tokens))
            return
        pool = ctx.lexicon.adjectives_of(noun or ctx.lexicon.by_name["teacher"])
        assert pool is not None
        adjective = pool.draw(ctx.rng)
        while adjective.attributive_only:
            adjective = pool.draw(ctx.rng)
        if adjective.comparison and ctx.chance(0.45):
            self._comparison(clause, adjective.en, adjective.de, adjective.comparison)
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

    def _role(self, clause: Clause, role: Noun) -> None:
        ctx = self.ctx
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
            # German names a profession without an article.
            article, noun = tokens
            tokens = [noun._replace(links=article.links + noun.links)]
            ctx.fact("profession without article")
        elif clause.negated and phrase.determiner.en in ("a", ""):
            tokens = KeinPhrase(phrase, clause.not_link).german("nom")
            clause.german_not = False
        clause.complements.append(phrase.english())
        clause.middle.append((Rank.PREDICATE, tokens))

    def _comparison(
        self, clause: Clause, en: str, de: str, forms: tuple[str, str, str, str]
    ) -> None:
        ctx = self.ctx
        ctx.fact("comparison")
        subject = clause.subject
        standard = self._comparison_standard(subject)
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

    def _comparison_standard(self, subject: NounPhrase) -> NounPhrase:
        ctx = self.ctx
        if subject.noun is None or subject.noun.kind == "person":
            return noun_phrase(ctx, "person", light=True)
        noun = ctx.lexicon.nouns_in(subject.noun.kind).draw(ctx.rng)
        return common_phrase(ctx, noun, modifiers=False, adjective_chance=0.1)

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

    def _passive_arguments(self, clause: Clause) -> None:
        ctx = self.ctx
        ctx.fact("impersonal passive" if clause.impersonal else "passive")
        if clause.verb.frame == "ditransitive":
            # The thing is promoted: `the book was given to the child`.
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

    # Adverbials

    def _adverbials(self, clause: Clause, relative: bool) -> None:
        ctx = self.ctx
        tense = clause.tense
        if clause.modal is not None:
            tense = "fut" if clause.tense == "pres" else "past"
            if clause.modal.en == "should":
                tense = "fut"
        frame = clause.verb.frame
        extraposed = bool(clause.after)
        if not extraposed and not clause.passive and not clause.negated:
            if frame in ("transitive", "intransitive", "ditransitive") and ctx.chance(0.12):
                self._manner(clause)
            if (
                frame in ("transitive", "intransitive", "stative", "dative")
                and not clause.verb.idiom
                and ctx.chance(0.14)
            ):
                tree, tokens = self.place_phrase("in")
                clause.adverbials.append(tree)
                clause.middle.append((Rank.PLACE, tokens))
        elif clause.passive and ctx.chance(0.2):
            tree, tokens = self.place_phrase("in")
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

    def _manner(self, clause: Clause) -> None:
        ctx = self.ctx
        adverb = ctx.lexicon.adverbs_in("manner", "pres").draw(ctx.rng)
        link = ctx.link()
        clause.adverbials.append(adverbial_tree(adverb, link))
        clause.middle.append((Rank.MANNER, fixed(adverb.de, link)))

    def place_phrase(self, relation: str) -> tuple[Tree, list[Token]]:
        """Draw a place: where (`in`), where to (`to`) or where from (`from`)."""
        ctx = self.ctx
        if ctx.chance(0.2):
            return self._geographic(relation)
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

    def _geographic(self, relation: str) -> tuple[Tree, list[Token]]:
        ctx = self.ctx
        row = places().draw(ctx)
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

    # Relative clauses

    def _relative(self, phrase: NounPhrase, *, after_object: bool) -> None:
        """Give a common noun phrase a relative clause, now and then."""
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
            clause = inner.clause(verb=verb, gap=pronoun, allow_negation=False)
            preposition: list[Token] = []
            if verb.frame == "prepositional":
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


_OWNED_BY_PERSONS = "animal+son+daughter+brother+sister+uncle+aunt+neighbour+friend+colleague"
_WITH_RELATIVE = frozenset(("the", "a", "this", "that", "these", "those", "many", "two", "three"))


class KeinPhrase(NounPhrase):
    """An indefinite phrase under negation: `not ... a` is `kein`."""

    def __init__(self, phrase: CommonPhrase, not_link: int) -> None:
        self.phrase = phrase
        self.noun = phrase.noun
        self.agreement, self.gender, self.head = phrase.agreement, phrase.gender, phrase.head
        self.definite = False
        self.relative = phrase.relative
        self.not_link = not_link

    def english(self, case: str = "nom") -> Tree:
        return self.phrase.english(case)

    def german(self, case: str) -> list[Token]:
        phrase = self.phrase
        english = phrase.determiner
        phrase.determiner = NO
        tokens = phrase.german(case)
        phrase.determiner = english
        links = (self.not_link,) if not english.en else (self.not_link, *tokens[0].links)
        tokens[0] = tokens[0]._replace(links=links)
        return tokens


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


@functools.cache
def places() -> Weighted[dict[str, str]]:
    """Return cities and countries."""
    rows = list(read_table("places"))
    return Weighted(rows, [1.0] * len(rows))

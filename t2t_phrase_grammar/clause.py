"""A clause: its content, its English tree and its German word order.

In German, the constituents of the middle field are ordered by rank (see `Rank`). The finite verb
comes first, second or last; its particle, participles and infinitives close the clause.
"""

from __future__ import annotations

import dataclasses
from operator import itemgetter

from t2t_phrase_grammar import german
from t2t_phrase_grammar.derivation import Context, Token, Tree, fixed
from t2t_phrase_grammar.english import (
    Modal,
    VerbForm,
    VerbGroup,
    rest_of_verb,
    verb_group,
    wrap,
)
from t2t_phrase_grammar.pair import IDIOM, PARTICLE_VERB
from t2t_phrase_grammar.phrase import NounPhrase
from t2t_phrase_grammar.words import Verb


class Rank:
    """Positions in the German middle field, from left to right."""

    SUBJECT = 0.0
    REFLEXIVE = 1.0
    ACCUSATIVE_PRONOUN = 2.0
    DATIVE_PRONOUN = 3.0
    TIME = 4.0
    FREQUENCY = 4.5
    AGENT = 4.8
    DATIVE = 5.0
    ACCUSATIVE = 6.0
    NOT = 7.0
    MANNER = 8.0
    INDEFINITE = 9.0
    PLACE = 10.0
    PREDICATE = 11.0
    IDIOM = 12.0


_REFLEXIVE = {
    "acc": {"1s": "mich", "2s": "dich", "3s": "sich", "1p": "uns", "3p": "sich"},
    "dat": {"1s": "mir", "2s": "dir", "3s": "sich", "1p": "uns", "3p": "sich"},
}


@dataclasses.dataclass
class Clause:
    """One clause under construction; the `english_` and `german_` methods only read it.

    Attributes:
        tense: pres, past, perf, plup, fut; that of the modal (pres, past) if there is one.
        impersonal: the English subject of a passive is a German dative (`Ihm wurde geholfen`).
        complements: English constituents right after the verb.
        adverbials: English constituents at the end of the verb phrase.
        middle: German constituents of the middle field with their rank.
        after: German constituents after the closing verb.
        front: a fronted constituent in both languages.
        before_rest: English object before the rest of a multi-word verb.
        before: English adverb before the main verb.
        silent_subject: whether the subject is omitted in the German middle field.
        ambiguous: whether the clause would still be grammatical if the verb agreed with the object.
        direct_object: the accusative object, for pronouns that refer to it.
        german_not: whether the negation is `nicht` (otherwise it is `kein` in a noun phrase).
    """

    ctx: Context
    verb: Verb
    subject: NounPhrase
    tense: str = "pres"
    modal: Modal | None = None
    passive: bool = False
    negated: bool = False
    progressive: bool = False
    impersonal: bool = False
    complements: list[Tree] = dataclasses.field(default_factory=list)
    before_rest: Tree | None = None
    adverbials: list[Tree] = dataclasses.field(default_factory=list)
    middle: list[tuple[float, list[Token]]] = dataclasses.field(default_factory=list)
    after: list[Token] = dataclasses.field(default_factory=list)
    after_english: list[Tree] = dataclasses.field(default_factory=list)
    front: tuple[Tree, list[Token]] | None = None
    front_comma: int = 0
    before: Tree | None = None
    silent_subject: bool = False
    ambiguous: bool = False
    german_not: bool = True
    direct_object: NounPhrase | None = None

    def __post_init__(self) -> None:
        link = self.ctx.link
        self.links = {"verb": link()}
        self.not_link = link() if self.negated else 0
        if self.modal is not None:
            self.links["modal"] = link()
        if self.tense == "fut":
            self.links["future"] = link()
        if self.tense in ("perf", "plup"):
            self.links["perfect"] = link()
        if self.passive or self.progressive:
            self.links["be"] = link()
        if self.progressive:
            self.middle.append((Rank.TIME, [Token("gerade", (self.links["be"],))]))
        if self.verb.idiom:
            self.ctx.phenomenon(IDIOM, self.verb.idiom, self.links["verb"])
        if self.verb.de.particle:
            citation = self.verb.de.particle + "|" + self.verb.de.infinitive
            self.ctx.phenomenon(PARTICLE_VERB, citation, self.links["verb"])

    # English

    def _group(self, *, support: bool, infinitive: bool = False) -> VerbGroup:
        return verb_group(
            self.verb,
            self.links,
            VerbForm(
                self.tense, self.subject.agreement, self.modal, self.passive, self.progressive
            ),
            support=support,
            infinitive=infinitive,
        )

    def _english_inner(self) -> list[Tree]:
        rest = rest_of_verb(self.verb.rest, self.links["verb"]) if self.verb.rest else []
        inner = rest if self.before_rest is None else [self.before_rest, *rest]
        return inner + self.complements + self.adverbials + self.after_english

    def _english_vp(self) -> list[Tree]:
        """Return the constituents after the subject of a declarative clause."""
        group = self._group(support=self.negated)
        inner = self._english_inner()
        chain = group.chain
        head, tail = chain[0], chain[1:]
        if group.auxiliary_first:
            extra: list[Tree] = []
            if self.negated:
                extra.append(("RB", "not", self.not_link))
            if self.before is not None:
                extra.append(self.before)
            return [_head_phrase(head, extra, tail, inner)]
        tree = wrap(chain, inner)
        return [tree] if self.before is None else [self.before, tree]

    def english_clause(self, *, silent: bool = False) -> Tree:
        """Return the declarative clause; a silent subject is omitted (relative clauses)."""
        children: list[Tree] = []
        if self.front is not None:
            children.append(self.front[0])
            if self.front_comma:
                children.append((",", ",", self.front_comma))
        if not silent:
            children.append(self.subject.english_full("nom"))
        return ("S", children + self._english_vp())

    def english_question(self) -> Tree:
        """Return the inverted clause."""
        group = self._group(support=True)
        inner = self._english_inner()
        head, tail = group.chain[0], group.chain[1:]
        children: list[Tree] = [head, self.subject.english_full("nom")]
        if self.before is not None:
            children.append(self.before)
        if tail:
            tree = wrap(tail, inner)
            if tail[0][0] == "TO":
                tree = ("S", [tree])
            children.append(tree)
        else:
            children += inner
        return ("SQ", children)

    def english_infinitive(self) -> Tree:
        """Return the clause as an infinitive with `to`."""
        group = self._group(support=False, infinitive=True)
        chain: list[tuple[str, str, int]] = group.chain
        tree = wrap(chain, self._english_inner())
        if self.negated:
            tree = ("VP", [("RB", "not", self.not_link), tree])
        return ("S", [tree])

    def english_imperative(self) -> Tree:
        """Return the clause as a command."""
        leaf = ("VB", self.verb.en, self.links["verb"])
        return ("VP", [leaf, *self._english_inner()])

    # German

    @property
    def _agreement(self) -> str:
        return "3s" if self.impersonal else self.subject.agreement

    @property
    def _subject_case(self) -> str:
        return "dat" if self.impersonal else "nom"

    def _cluster(self) -> tuple[german.GermanVerb, str, int, list[Token], bool]:
        """Return the finite verb, its tense and link, the other verbs, if it is the main verb."""
        verb, links = self.verb.de, self.links
        note = ("joined", verb.particle, verb.infinitive) if verb.particle else None
        participle = Token(verb.participle, (links["verb"],), note)
        infinitive = Token(verb.joined_infinitive, (links["verb"],), note)
        form = "past" if self.tense in ("past", "plup") else "pres"
        if self.modal is not None:
            name = self.modal.negative_de if self.negated else self.modal.de
            finite = german.MODALS[name]
            others = [infinitive]
            if self.passive:
                others = [participle, Token("werden", (links["be"],))]
            return finite, self.tense, links["modal"], others, False
        if self.passive:
            if self.tense in ("perf", "plup"):
                worden = Token("worden", (links["be"],))
                return german.SEIN, form, links["perfect"], [participle, worden], False
            if self.tense == "fut":
                werden = Token("werden", (links["be"],))
                return german.WERDEN, "pres", links["future"], [participle, werden], False
            return german.WERDEN, form, links["be"], [participle], False
        if self.tense in ("perf", "plup"):
            auxiliary = german.SEIN if verb.auxiliary == "sein" else german.HABEN
            return auxiliary, form, links["perfect"], [participle], False
        if self.tense == "fut":
            return german.WERDEN, "pres", links["future"], [infinitive], False
        return verb, form, links["verb"], [], True

    def _finite(self, *, joined: bool) -> tuple[Token, list[Token]]:
        """Return the finite verb and the tokens that close the clause."""
        verb, tense, link, others, is_main = self._cluster()
        paradigm = verb.preterite if tense == "past" else verb.present
        prefix = verb.particle if joined and is_main else ""
        note = (
            "finite",
            paradigm,
            self._agreement,
            self.subject.head,
            self.ambiguous or self.impersonal,
            prefix,
        )
        finite = Token(prefix + paradigm[self._agreement], (link,), note)
        if is_main and verb.particle and not joined:
            particle = Token(verb.particle, (link,), ("particle", verb.particle, verb.infinitive))
            return finite, [particle]
        return finite, others

    def _middle(self, *, subject: bool) -> list[Token]:
        parts = list(self.middle)
        if subject and not self.silent_subject:
            parts.append((Rank.SUBJECT, self.subject.german_full(self._subject_case)))
        if self.verb.de.reflexive:
            form = _REFLEXIVE[self.verb.de.reflexive][self.subject.agreement]
            parts.append((Rank.REFLEXIVE, [Token(form, (self.links["verb"],), ("reflexive",))]))
        if self.negated and self.german_not:
            parts.append((Rank.NOT, [Token("nicht", (self.not_link,))]))
        if self.verb.de_words:
            parts.append((Rank.IDIOM, fixed(self.verb.de_words, self.links["verb"])))
        parts.sort(key=itemgetter(0))
        return [token for _, tokens in parts for token in tokens]

    def german_main(self) -> list[Token]:
        """Return the clause with the verb in second position."""
        finite, closing = self._finite(joined=False)
        if self.front is not None:
            first, subject = self.front[1], True
        else:
            first, subject = self.subject.german_full(self._subject_case), False
        return [*first, finite, *self._middle(subject=subject), *closing, *self.after]

    def german_question(self, first: list[Token] | None = None) -> list[Token]:
        """Return the clause with the verb in first position, or after a question word."""
        finite, closing = self._finite(joined=False)
        return [*(first or []), finite, *self._middle(subject=True), *closing, *self.after]

    def german_final(self, first: list[Token]) -> list[Token]:
        """Return the clause with the verb at the end, after the word that introduces it."""
        finite, closing = self._finite(joined=True)
        return [*first, *self._middle(subject=True), *closing, finite, *self.after]

    def german_infinitive(self) -> list[Token]:
        """Return the clause as an infinitive with `zu`."""
        verb, link, to = self.verb.de, self.links["verb"], self.links["to"]
        middle = self._middle(subject=False)
        if self.passive:
            participle = Token(verb.participle, (link,))
            be = self.links["be"]
            closing = [participle, Token("zu", (to,)), Token("werden", (be,))]
        elif verb.particle:
            closing = [
                Token(verb.zu_infinitive, (to, link), ("joined", verb.particle, verb.infinitive))
            ]
        else:
            closing = [Token("zu", (to,)), Token(verb.infinitive, (link,))]
        return [*middle, *closing, *self.after]

    def german_imperative(self) -> list[Token]:
        """Return the clause as a command to one person."""
        verb, link = self.verb.de, self.links["verb"]
        closing = []
        if verb.particle:
            closing = [Token(verb.particle, (link,), ("particle", verb.particle, verb.infinitive))]
        middle = self._middle(subject=False)
        imperative = Token(verb.imperative, (link,), ("imperative",))
        return [imperative, *middle, *closing, *self.after]


def _head_phrase(
    head: tuple[str, str, int],
    extra: list[Tree],
    tail: list[tuple[str, str, int]],
    inner: list[Tree],
) -> Tree:
    """Build the verb phrase of an auxiliary followed by `not` and adverbs."""
    if not tail:
        return ("VP", [head, *extra, *inner])
    tree = wrap(tail, inner)
    if tail[0][0] == "TO":
        tree = ("S", [tree])
    return ("VP", [head, *extra, tree])

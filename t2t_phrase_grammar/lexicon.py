"""The lexicon: all words of the tables, and pools to draw them from."""

from __future__ import annotations

import dataclasses
import functools
import random

from t2t_phrase_grammar.german import make_verb
from t2t_phrase_grammar.pools import Pool, read_table
from t2t_phrase_grammar.words import Adjective, Adverb, Noun, Verb, join_compound, make_noun

# Frames in which a relative pronoun can be the subject or the object.
_OBJECT_FRAMES = frozenset(
    {
        "transitive",
        "stative",
        "dative",
        "dative_stative",
        "prepositional",
        "prepositional_stative",
    }
)
_RELATIVE_FRAMES = {
    "subject": _OBJECT_FRAMES | {"intransitive", "ditransitive", "motion", "position", "idiom"},
    "object": _OBJECT_FRAMES,
}


class Lexicon:
    """All words, and pools to draw them from."""

    def __init__(self) -> None:
        self.nouns = [make_noun(row) for row in read_table("nouns")]
        self.by_name = {noun.en: noun for noun in self.nouns}
        self.nouns += self._compounds()
        self.by_name = {noun.en: noun for noun in self.nouns}
        self.verbs = [_verb_row(row) for row in read_table("verbs")]
        self.verbs += [_idiom_row(row) for row in read_table("idioms")]
        participles = {verb.participle for verb in self.verbs if not verb.rest}
        participles |= {verb.gerund for verb in self.verbs}
        comparisons = {row["adjective"]: row for row in read_table("comparison")}
        self.adjectives = [
            _adjective_row(row, participles, comparisons.get(row["en"]))
            for row in read_table("adjectives")
        ]
        self.adverbs = [_adverb_row(row) for row in read_table("adverbs")]
        self.groups = {row["group"]: row["members"].split(" ") for row in read_table("groups")}
        self._kinds: dict[str, list[Noun]] = {}
        for noun in self.nouns:
            self._kinds.setdefault(noun.kind, []).append(noun)
        self._pools: dict[str, Pool[Noun]] = {}
        self._adjectives_of = self._index_adjectives()
        self._verb_pools = {
            frame: Pool([verb for verb in self.verbs if verb.frame == frame])
            for frame in {verb.frame for verb in self.verbs}
        }
        particles: dict[str, set[str]] = {}
        for verb in self.verbs:
            particles.setdefault(verb.de.infinitive, set()).add(verb.de.particle)
        self._particles = {name: frozenset(found) for name, found in particles.items()}
        self.particles = tuple(sorted(set().union(*particles.values()) - {""}))
        self._adverb_pools: dict[tuple[str, str], Pool[Adverb]] = {}
        self._verbs_for: dict[tuple[str, str], Pool[Verb]] = {}
        self._names: dict[str, frozenset[str]] = {}

    def _compounds(self) -> list[Noun]:
        found = {}
        for row in read_table("compounds"):
            noun = make_noun(row)
            found[noun.en] = dataclasses.replace(noun, compound=" " in noun.en)
        for row in read_table("modifiers"):
            for name in row["heads"].split(", "):
                noun = join_compound(row["de"], self.by_name[name], row["en"])
                found.setdefault(noun.en, noun)
        return list(found.values())

    def _members(self, groups: str) -> list[Noun]:
        found: dict[str, Noun] = {}
        for group in groups.split("+"):
            for member in self.groups.get(group, [group]):
                if member in self._kinds:
                    found.update((noun.en, noun) for noun in self._kinds[member])
                elif member.replace("_", " ") in self.by_name:
                    found[member] = self.by_name[member.replace("_", " ")]
                elif member in self.groups and member != group:
                    found.update((noun.en, noun) for noun in self._members(member))
                else:
                    raise KeyError(f"noun group {groups!r}: unknown member {member!r}")
        return list(found.values())

    def particles_of(self, infinitive: str) -> frozenset[str]:
        """Return the particles that form a verb of the lexicon with this base."""
        return self._particles[infinitive]

    def nouns_in(self, groups: str) -> Pool[Noun]:
        """Return the nouns of groups, classes or single nouns joined by `+`."""
        pool = self._pools.get(groups)
        if pool is None:
            pool = self._pools[groups] = Pool(self._members(groups))
        return pool

    def _index_adjectives(self) -> dict[str, Pool[Adjective]]:
        found: dict[str, list[Adjective]] = {}
        for adjective in self.adjectives:
            for noun in self._members(adjective.nouns):
                found.setdefault(noun.en, []).append(adjective)
        return {name: Pool(adjectives) for name, adjectives in found.items()}

    def adjectives_of(self, noun: Noun) -> Pool[Adjective] | None:
        """Return the adjectives that can modify a noun, if any."""
        return self._adjectives_of.get(noun.en)

    def verbs_in(self, frame: str) -> Pool[Verb]:
        """Return the verbs of a frame."""
        return self._verb_pools[frame]

    def verb_for(self, noun: Noun, slot: str, rng: random.Random) -> Verb | None:
        """Draw a verb that accepts the noun as its `subject` or `object`; None if there is none."""
        pool = self._verbs_for.get((slot, noun.en))
        if pool is None:
            pool = self._verbs_for[slot, noun.en] = Pool(self._fitting_verbs(noun, slot))
        return pool.draw(rng) if len(pool) else None

    def _fitting_verbs(self, noun: Noun, slot: str) -> list[Verb]:
        frames = _RELATIVE_FRAMES[slot]
        return [
            verb
            for verb in self.verbs
            if verb.frame in frames
            and noun.en in self.names_in(verb.subject if slot == "subject" else verb.object)
        ]

    def names_in(self, groups: str) -> frozenset[str]:
        """Return the English names of the nouns in groups."""
        names = self._names.get(groups)
        if names is None:
            members = self._members(groups) if groups else []
            names = self._names[groups] = frozenset(noun.en for noun in members)
        return names

    def adverbs_in(self, kind: str, tense: str) -> Pool[Adverb]:
        """Return the adverbs of a kind that can be used with a tense."""
        pool = self._adverb_pools.get((kind, tense))
        if pool is None:
            fitting = [a for a in self.adverbs if a.kind == kind and tense in a.tenses]
            pool = self._adverb_pools[kind, tense] = Pool(fitting)
        return pool


def _verb_row(row: dict[str, str]) -> Verb:
    head, *rest = row["en"].split(" ")
    if row["preposition"] and rest[-1] == row["preposition"]:
        rest = rest[:-1]
    return Verb(
        en=head,
        third=row["third"],
        past=row["past"],
        participle=row["participle"],
        gerund=row["gerund"],
        rest=tuple(rest),
        de=make_verb(
            row["de"],
            third=row["de_third"],
            past=row["de_past"],
            participle=row["de_participle"],
            auxiliary=row["auxiliary"],
            reflexive=row["reflexive"],
        ),
        frame=row["frame"],
        subject=row["subject"],
        object=row["object"],
        preposition=row["preposition"],
        de_preposition=row.get("de_preposition", ""),
        de_case=row["de_case"],
    )


def _idiom_row(row: dict[str, str]) -> Verb:
    verb = _verb_row({**row, "frame": "idiom"})
    return dataclasses.replace(verb, idiom=row["en"], de_words=tuple(row["de_words"].split()))


def _adjective_row(
    row: dict[str, str], participles: set[str], comparison: dict[str, str] | None
) -> Adjective:
    forms = ("comparative", "superlative", "de_comparative", "de_superlative_stem")
    compared = tuple(comparison[form] for form in forms) if comparison else None
    return Adjective(
        en=row["en"],
        de=row["de"],
        stem=row["stem"],
        nouns=row["nouns"],
        comparison=compared,  # type: ignore[arg-type]
        attributive_only=row["en"] in participles,
    )


def _adverb_row(row: dict[str, str]) -> Adverb:
    return Adverb(
        en=tuple(row["en"].split(" ")),
        de=tuple(row["de"].split(" ")),
        kind=row["kind"],
        tenses=frozenset(row["tenses"].split("+")),
        negative=row["polarity"] == "negative",
    )


@functools.cache
def lexicon() -> Lexicon:
    """Return the lexicon, which is read at the first call."""
    return Lexicon()

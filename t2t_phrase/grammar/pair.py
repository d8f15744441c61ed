"""The result types: a sentence pair, the facts that were chosen for it, and a wrong twin."""

from __future__ import annotations

import dataclasses

from t2t_phrase.grammar.derivation import Token

IDIOM, COMPOUND, PARTICLE_VERB = "idiom", "compound", "particle verb"
PHENOMENA = (IDIOM, COMPOUND, PARTICLE_VERB)


@dataclasses.dataclass(frozen=True, slots=True)
class Rendering:
    """How the German sentence renders one idiom, compound or particle verb.

    Attributes:
        kind: one of `PHENOMENA`.
        citation: as in `Facts.idioms`, `Facts.compounds`, `Facts.particle_verbs`.
        words: the German words that say it, inflected, in the sentence's order; a capital that is
            due to the sentence's start alone is left out.
    """

    kind: str
    citation: str
    words: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """What the grammar chose for a sentence.

    Attributes:
        sentence_type: statement, question (yes or no), wh-question, or command.
        tense: of the main clause: pres, past, perf, plup, fut.
        voice: active or passive, of the main clause.
        modal: German modal verb of the main clause, or the empty string.
        negated: whether the main clause is negated.
        clauses: the subordinate and further clauses, such as `because`, `relative`, `that`.
        constructions: other things of note, such as `genitive`, `kein`, `dative object`.
        idioms: English citation forms.
        compounds: English compounds that are one German word.
        particle_verbs: German particle verbs, as `an|rufen`.
        renderings: all idioms, compounds and particle verbs with the German words that say them.
        subject_verb_distance: words between the main clause's subject head and finite verb in
            German; punctuation does not count.
        source_subject_verb_distance: the same in English.
    """

    sentence_type: str
    tense: str
    voice: str
    modal: str
    negated: bool
    clauses: tuple[str, ...]
    constructions: tuple[str, ...]
    idioms: tuple[str, ...]
    compounds: tuple[str, ...]
    particle_verbs: tuple[str, ...]
    renderings: tuple[Rendering, ...]
    subject_verb_distance: int
    source_subject_verb_distance: int


@dataclasses.dataclass(frozen=True, slots=True)
class SentencePair:
    """An English sentence and its German translation.

    Attributes:
        source: natural English text.
        target: natural German text.
        source_tokens: `tokenize(source)`.
        target_tokens: `tokenize(target)`.
        alignment: Pharaoh format, `i-j` with 0-based source and target token positions.
        tree: Penn brackets over the source tokens.
        facts: what was chosen.
        derivation: German tokens with their origin, for `wrong_twins`.
    """

    source: str
    target: str
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    alignment: str
    tree: str
    facts: Facts
    derivation: tuple[Token, ...] = dataclasses.field(repr=False, compare=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Twin:
    """A German sentence that is wrong in exactly one word.

    Attributes:
        kind: agreement, particle, particle-dropped, case, or gender.
        target: the wrong sentence as natural text.
        target_tokens: its tokens.
        position: where the wrong word stands (or stood) in the reference's tokens.
        right: the reference's word.
        wrong: the twin's word, empty if it was dropped.
        distance: words between the two that must agree: subject head and finite verb
            (agreement), finite verb and particle (particle), word and noun (case, gender).
    """

    kind: str
    target: str
    target_tokens: tuple[str, ...]
    position: int
    right: str
    wrong: str
    distance: int

"""The result types: a sentence pair, its facts, and a copy with one error."""

from __future__ import annotations

import dataclasses

from t2t_phrase_grammar.derivation import Token

IDIOM, COMPOUND, PARTICLE_VERB = "idiom", "compound", "particle verb"
PHENOMENA = (IDIOM, COMPOUND, PARTICLE_VERB)


@dataclasses.dataclass(frozen=True, slots=True)
class Rendering:
    """The German translation of one idiom, compound or particle verb.

    Attributes:
        kind: one of `PHENOMENA`.
        citation: as in `Facts.idioms`, `Facts.compounds`, `Facts.particle_verbs`.
        words: its German words, inflected, in the order of the sentence; the first word of the
            sentence is capitalised only if it always is.
    """

    kind: str
    citation: str
    words: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """The choices that the grammar made for a sentence.

    Attributes:
        sentence_type: statement, question (yes or no), wh-question, or command.
        tense: of the main clause: pres, past, perf, plup, fut.
        voice: active or passive, of the main clause.
        modal: German modal verb of the main clause, or the empty string.
        negated: whether the main clause is negated.
        clauses: subordinate and further main clauses, such as `because`, `relative`, `that`.
        constructions: other constructions, such as `genitive`, `kein`, `dative object`.
        idioms: English citation forms.
        compounds: English compounds that are translated by one German word.
        particle_verbs: German particle verbs, such as `an|rufen`.
        renderings: all idioms, compounds and particle verbs with their German words.
        subject_verb_distance: number of words between the head of the subject and the finite verb
            of the German main clause, without punctuation.
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
        alignment: in Pharaoh format, `i-j` with 0-based source and target token positions.
        tree: of the source tokens, in Penn Treebank brackets.
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
    """A German sentence with exactly one wrong word.

    Attributes:
        kind: agreement, particle, particle-dropped, case, or gender.
        target: the wrong sentence as natural text.
        target_tokens: its tokens.
        position: index of the wrong (or dropped) word in the tokens of the reference.
        right: the word in the reference.
        wrong: the word in the twin, empty if it was dropped.
        distance: number of words between the two that must agree: head of the subject and finite
            verb (agreement), finite verb and particle (particle), word and noun (case, gender).
    """

    kind: str
    target: str
    target_tokens: tuple[str, ...]
    position: int
    right: str
    wrong: str
    distance: int

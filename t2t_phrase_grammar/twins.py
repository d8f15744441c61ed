"""Wrong twins: copies of the German sentence with one wrong word."""

from __future__ import annotations

from t2t_phrase_grammar import german
from t2t_phrase_grammar.generator import words_between
from t2t_phrase_grammar.lexicon import lexicon
from t2t_phrase_grammar.pair import SentencePair, Twin
from t2t_phrase_grammar.tokens import detokenize

_OTHER_NUMBER = {"1s": "1p", "2s": "3p", "3s": "3p", "1p": "1s", "3p": "3s"}


def wrong_twins(pair: SentencePair) -> list[Twin]:
    """Return all copies of the German sentence with one error, in the order of its words.

    Kinds: `agreement` (the finite verb has the wrong number), `particle` (a wrong particle,
    separated or not), `particle-dropped`, `case` and `gender` (of the article, or of the adjective
    if there is no article).
    """
    twins = []
    for position, token in enumerate(pair.derivation):
        note = token.note
        if note is None:
            continue
        if note[0] == "finite":
            twins += _agreement(pair, position)
        elif note[0] == "particle":
            twins += _separated(pair, position)
        elif note[0] == "joined":
            twins += _joined(pair, position)
        elif note[0] in ("det", "adj"):
            twins += _noun_phrase(pair, position)
    return twins


def _twin(pair: SentencePair, kind: str, position: int, wrong: str, partner: int) -> Twin:
    right = pair.target_tokens[position]
    if position == 0 and wrong:
        wrong = wrong[0].upper() + wrong[1:]
    tokens = list(pair.target_tokens)
    tokens[position : position + 1] = [wrong] if wrong else []
    return Twin(
        kind=kind,
        target=detokenize(tokens),
        target_tokens=tuple(tokens),
        position=position,
        right=right,
        wrong=wrong,
        distance=words_between(pair.target_tokens, position, partner),
    )


def _find(pair: SentencePair, link: int, skip: int) -> int | None:
    found = [i for i, t in enumerate(pair.derivation) if link in t.links and i != skip]
    return found[0] if found else None


def _agreement(pair: SentencePair, position: int) -> list[Twin]:
    note = pair.derivation[position].note
    assert note is not None
    _, paradigm, agreement, head, ambiguous, prefix = note
    subject = _find(pair, head, position)
    if ambiguous or subject is None:
        return []
    # `sie` is singular and plural, so the other number would be correct, too.
    if pair.target_tokens[subject].lower() == "sie":
        return []
    wrong = prefix + paradigm[_OTHER_NUMBER[agreement]]
    if wrong == prefix + paradigm[agreement]:
        return []
    return [_twin(pair, "agreement", position, wrong, subject)]


def _other_particle(particle: str, infinitive: str, position: int) -> str:
    words = lexicon()
    known = words.particles_of(infinitive)
    options = [p for p in words.particles if p != particle and p not in known]
    return options[(position + len(infinitive)) % len(options)]


def _separated(pair: SentencePair, position: int) -> list[Twin]:
    token = pair.derivation[position]
    assert token.note is not None
    _, particle, infinitive = token.note
    verb = _find(pair, token.links[0], position)
    if verb is None:
        return []
    other = _other_particle(particle, infinitive, position)
    return [
        _twin(pair, "particle", position, other, verb),
        _twin(pair, "particle-dropped", position, "", verb),
    ]


def _joined(pair: SentencePair, position: int) -> list[Twin]:
    token = pair.derivation[position]
    assert token.note is not None
    particle = token.note[1]
    other = _other_particle(particle, token.note[2], position)
    return [_twin(pair, "particle", position, other + token.form[len(particle) :], position)]


def _noun_phrase(pair: SentencePair, position: int) -> list[Twin]:
    token = pair.derivation[position]
    assert token.note is not None
    kind, stem, declension, case, gender, head = token.note
    if any(
        other.note and other.note[0] in ("det", "contraction") and other.note[-1] == head
        for other in pair.derivation[:position]
    ):
        return []
    noun = _find(pair, head, position)
    if noun is None:
        return []

    def form(other_case: str, other_gender: str) -> str:
        if kind == "det":
            return german.determiner(stem, other_case, other_gender)
        return german.adjective(stem, declension, other_case, other_gender)

    twins = []
    right = form(case, gender)
    for other in ("dat", "acc", "nom"):
        if other != case and form(other, gender) != right:
            twins.append(_twin(pair, "case", position, form(other, gender), noun))
            break
    if gender != "p":
        for other in ("m", "f", "n"):
            if other != gender and form(case, other) != right:
                twins.append(_twin(pair, "gender", position, form(case, other), noun))
                break
    return twins

"""Each twin has exactly one error, of the kind that it names."""

import pytest

from t2t_phrase_grammar import generate, wrong_twins

KINDS = {"agreement", "particle", "particle-dropped", "case", "gender"}


@pytest.fixture(scope="module")
def twins():
    return [(p, twin) for p in generate("train", 4000, seed=9) for twin in wrong_twins(p)]


def test_twins_differ_in_one_word(twins):
    for pair, twin in twins:
        reference = list(pair.target_tokens)
        assert reference[twin.position] == twin.right
        if twin.wrong:
            reference[twin.position] = twin.wrong
            assert twin.wrong != twin.right
        else:
            del reference[twin.position]
        assert tuple(reference) == twin.target_tokens
        assert twin.target != pair.target


def test_all_kinds_come(twins):
    counts = {kind: sum(twin.kind == kind for _, twin in twins) for kind in KINDS}
    assert {twin.kind for _, twin in twins} == KINDS
    assert min(counts.values()) > 300


def test_agreement_changes_the_number_of_a_finite_verb(twins):
    far = 0
    for pair, twin in twins:
        if twin.kind != "agreement":
            continue
        note = pair.derivation[twin.position].note
        assert note[0] == "finite"
        paradigm, agreement, prefix = note[1], note[2], note[5]
        others = {prefix + form for key, form in paradigm.items() if key[1] != agreement[1]}
        assert twin.wrong.lower() in {form.lower() for form in others}
        far += twin.distance >= 4
    assert far > 50


def test_case_and_gender_change_one_ending(twins):
    for pair, twin in twins:
        if twin.kind not in ("case", "gender"):
            continue
        note = pair.derivation[twin.position].note
        assert note[0] in ("det", "adj")
        stem = note[1].rstrip("-") if note[1] != "der" else "d"
        assert twin.wrong.lower().startswith(stem.lower())
        if twin.kind == "gender":
            assert note[4] != "p"


def test_wrong_particle_makes_no_known_verb(twins):
    from t2t_phrase_grammar.lexicon import lexicon

    for pair, twin in twins:
        note = pair.derivation[twin.position].note
        if twin.kind != "particle" or note[0] != "particle":
            continue
        assert twin.wrong in lexicon().particles
        assert twin.wrong not in lexicon().particles_of(note[2])
        assert twin.distance >= 0


def test_distance_is_that_of_the_facts(twins):
    seen = 0
    for pair, twin in twins:
        simple = pair.facts.sentence_type == "statement" and not pair.facts.clauses
        if simple and twin.kind == "agreement":
            assert twin.distance == pair.facts.subject_verb_distance
            seen += twin.distance > 1
    assert seen > 20

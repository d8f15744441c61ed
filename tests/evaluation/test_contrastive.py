import json

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.contrastive import (
    ContrastivePair,
    accuracies,
    as_json,
    as_text,
    bucket,
    grammar_pairs,
    read_lingeval,
    to_score,
)
from t2t_phrase_grammar import generate, tokenize

# In the form of lingeval97.json, with our own sentences.
ENTRIES = [
    {
        "source": "The dogs of the neighbour bark loudly.",
        "reference": "Die Hunde des Nachbarn bellen laut.",
        "origin": "newstest2009.1",
        "errors": [
            {
                "type": "subj_verb_agreement",
                "contrastive": "Die Hunde des Nachbarn bellt laut.",
                "distance": 3,
                "frequency": 17,
            },
            {
                "type": "polarity_particle_nicht_ins",
                "contrastive": "Die Hunde des Nachbarn bellen nicht laut.",
            },
        ],
    },
    {"source": "Yes.", "reference": "Ja.", "origin": "newstest2009.2", "errors": []},
    {
        "source": "He calls.",
        "reference": "Er ruft an.",
        "origin": "newstest2016.7",
        "errors": [
            {
                "type": "verb_particle",
                "contrastive": "Er ruft ab.",
                "distance": "0",
                "frequency": "0",
            }
        ],
    },
]


def write(folder, content):
    path = folder / "lingeval.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return str(path)


def test_lingeval_is_read(tmp_path):
    found = read_lingeval(write(tmp_path, ENTRIES))
    assert found.sources == [entry["source"] for entry in ENTRIES] and found.trees is None
    agreement, polarity, particle = found.pairs
    assert agreement == ContrastivePair(
        0,
        "The dogs of the neighbour bark loudly.",
        "Die Hunde des Nachbarn bellen laut.",
        "Die Hunde des Nachbarn bellt laut.",
        "subj_verb_agreement",
        3,
    )
    assert (polarity.sentence, polarity.distance) == (0, None)
    assert (particle.sentence, particle.kind, particle.distance) == (2, "verb_particle", 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e[0].pop("source"), "entry 1: expected a string for 'source'"),
        (lambda e: e[1].update(errors=None), "entry 2: expected a list for 'errors'"),
        (lambda e: e.__setitem__(1, "x"), "entry 2: expected a string for 'source'"),
        (
            lambda e: e[0]["errors"][1].pop("type"),
            "entry 1, error 2: expected a string for 'type'",
        ),
        (
            lambda e: e[2]["errors"].insert(0, 3),
            "entry 3, error 1: expected a string for 'contrastive'",
        ),
        (lambda e: e[2]["errors"][0].update(distance="far"), "error 1: distance 'far' is no"),
        (lambda e: e[2]["errors"][0].update(distance=-1), "error 1: distance -1 is no"),
        (lambda e: e[2]["errors"][0].update(distance=1.5), "error 1: distance 1.5 is no"),
        (lambda e: e.__delitem__(slice(0, 3)), "contains no contrastive translation"),
    ],
)
def test_an_entry_at_fault_is_named(tmp_path, change, message):
    entries = json.loads(json.dumps(ENTRIES))
    change(entries)
    with pytest.raises(UserError, match=message):
        read_lingeval(write(tmp_path, entries))


def test_what_is_no_such_file_is_told(tmp_path):
    with pytest.raises(UserError, match="is not valid JSON"):
        read_lingeval(write(tmp_path, "[1, 2"))
    with pytest.raises(UserError, match="expected a list of entries"):
        read_lingeval(write(tmp_path, {"a": 1}))
    with pytest.raises(UserError, match=r"cannot read .*absent"):
        read_lingeval(str(tmp_path / "absent"))


def test_grammar_pairs_are_the_wrong_twins_of_the_test_sentences():
    found = grammar_pairs(60)
    pairs, sentences = found.pairs, list(generate("test", 60))
    assert found.trees == [sentence.tree for sentence in sentences]
    assert found.sources == [sentence.source for sentence in sentences]
    assert {pair.kind for pair in pairs} == {
        "agreement",
        "case",
        "gender",
        "particle",
        "particle-dropped",
    }
    for pair in pairs:
        assert pair.source == sentences[pair.sentence].source
        assert pair.reference == sentences[pair.sentence].target != pair.contrastive


def test_grammar_distances_are_counted_as_lingeval_counts_them():
    pairs = grammar_pairs(300).pairs
    seen = set()
    for pair in pairs:
        reference, spoilt = tokenize(pair.reference), tokenize(pair.contrastive)
        if pair.kind not in ("particle", "particle-dropped"):
            assert pair.distance >= 1
            continue
        if pair.kind == "particle-dropped":
            assert len(spoilt) == len(reference) - 1 and pair.distance >= 1
            continue
        (at,) = [i for i, word in enumerate(reference) if word != spoilt[i]]
        separated = reference[at].islower() and reference[at + 1 : at + 2] != []
        if pair.distance == 0:
            # One word: the particle is followed by the same verb.
            assert reference[at][-3:] == spoilt[at][-3:]
        elif pair.distance == 1:
            assert separated
        seen.add(pair.distance)
    assert {0, 1, 2, 3} <= seen


PAIRS = [
    ContrastivePair(0, "s", "r", "a", "agreement", 1),
    ContrastivePair(0, "s", "r", "b", "agreement", 16),
    ContrastivePair(0, "s", "r", "c", "polarity", None),
    ContrastivePair(1, "s", "q", "d", "agreement", 40),
    ContrastivePair(1, "s", "q", "e", "agreement", 1),
]


def scored(**values):
    wanted = to_score(PAIRS)
    assert len(wanted) == len(set(wanted)) == 7
    return {key: float(values[key[2]]) for key in wanted}


def test_the_reference_must_be_likelier():
    # `e` has the same score as its reference.
    found = accuracies(PAIRS, scored(r=-1, a=-2, b=-0.5, c=-3, q=-2, d=-5, e=-2))
    assert (found.overall.right, found.overall.total) == (3, 5)
    assert {kind: (s.right, s.total) for kind, s in found.kinds.items()} == {
        "agreement": (2, 4),
        "polarity": (1, 1),
    }
    assert list(found.distances) == ["agreement"]
    assert {name: (s.right, s.total) for name, s in found.distances["agreement"].items()} == {
        "1": (1, 2),
        ">15": (1, 2),
    }
    assert as_text(found) == (
        "kind       right  pairs  accuracy\n"
        "agreement      2      4    50.00%\n"
        "polarity       1      1   100.00%\n"
        "all            3      5    60.00%\n"
        "\n"
        "distance   agreement\n"
        "1         50.00% (2)\n"
        ">15       50.00% (2)"
    )
    content = json.loads(json.dumps(as_json(found)))
    assert content["overall"] == {"right": 3, "total": 5, "accuracy": 60.0}
    assert content["distances"]["agreement"][">15"]["right"] == 1


def test_buckets_end_where_lingeval_ends_them():
    assert [bucket(distance) for distance in (0, 1, 15, 16, 99)] == ["0", "1", "15", ">15", ">15"]


def test_without_distances_there_is_one_table():
    found = accuracies(PAIRS[2:3], scored(r=0, a=0, b=0, c=-1, q=0, d=0, e=0))
    assert "distance" not in as_text(found) and as_json(found)["distances"] == {}

"""German inflection, compared with handwritten paradigms."""

import pytest

from t2t_phrase_grammar import german
from t2t_phrase_grammar.lexicon import lexicon

# nominative, accusative, dative, genitive; each: masculine, feminine, neuter, plural.
PHRASES = {
    ("der", "weak"): [
        ("der alte", "die alte", "das alte", "die alten"),
        ("den alten", "die alte", "das alte", "die alten"),
        ("dem alten", "der alten", "dem alten", "den alten"),
        ("des alten", "der alten", "des alten", "der alten"),
    ],
    ("kein", "mixed"): [
        ("kein alter", "keine alte", "kein altes", "keine alten"),
        ("keinen alten", "keine alte", "kein altes", "keine alten"),
        ("keinem alten", "keiner alten", "keinem alten", "keinen alten"),
        ("keines alten", "keiner alten", "keines alten", "keiner alten"),
    ],
    ("dies-", "weak"): [
        ("dieser alte", "diese alte", "dieses alte", "diese alten"),
        ("diesen alten", "diese alte", "dieses alte", "diese alten"),
        ("diesem alten", "dieser alten", "diesem alten", "diesen alten"),
        ("dieses alten", "dieser alten", "dieses alten", "dieser alten"),
    ],
    ("", "strong"): [
        ("alter", "alte", "altes", "alte"),
        ("alten", "alte", "altes", "alte"),
        ("altem", "alter", "altem", "alten"),
        ("alten", "alter", "alten", "alter"),
    ],
}


@pytest.mark.parametrize(("lemma", "declension"), PHRASES)
def test_articles_and_adjectives(lemma, declension):
    for case, row in zip(german.CASES, PHRASES[lemma, declension], strict=True):
        for gender, expected in zip("mfnp", row, strict=True):
            words = [german.determiner(lemma, case, gender)] if lemma else []
            words.append(german.adjective("alt", declension, case, gender))
            assert " ".join(words) == expected


def test_relative_pronouns():
    rows = {
        "nom": "der die das die",
        "acc": "den die das die",
        "dat": "dem der dem denen",
        "gen": "dessen deren dessen deren",
    }
    for case, row in rows.items():
        assert [german.relative_pronoun(case, gender) for gender in "mfnp"] == row.split()


# present of ich, du, er, wir; past of du, sie (plural); participle; zu-infinitive; imperative
VERBS = {
    "call up": "rufe rufst ruft rufen riefst riefen angerufen anzurufen ruf",
    "invite": "lade lädst lädt laden ludest luden eingeladen einzuladen lade",
    "take along": "nehme nimmst nimmt nehmen nahmst nahmen mitgenommen mitzunehmen nimm",
    "read": "lese liest liest lesen lasest lasen gelesen lesen lies",
    "repair": (
        "repariere reparierst repariert reparieren repariertest reparierten repariert reparieren "
        "reparier"
    ),
    "open": "öffne öffnest öffnet öffnen öffnetest öffneten geöffnet öffnen öffne",
    "eat": "esse isst isst essen aßest aßen gegessen essen iss",
    "forget": "vergesse vergisst vergisst vergessen vergaßest vergaßen vergessen vergessen vergiss",
    "carry": "trage trägst trägt tragen trugst trugen getragen tragen trag",
    "stare at": "starre starrst starrt starren starrtest starrten angestarrt anzustarren starr",
    "light": "zünde zündest zündet zünden zündetest zündeten angezündet anzuzünden zünde",
    "iron": "bügle bügelst bügelt bügeln bügeltest bügelten gebügelt bügeln bügle",
    "admire": "bewundere bewunderst bewundert bewundern bewundertest bewunderten bewundert "
    "bewundern bewundere",
    "kick": "trete trittst tritt treten tratest traten getreten treten tritt",
    "help": "helfe hilfst hilft helfen halfst halfen geholfen helfen hilf",
    "contradict": "widerspreche widersprichst widerspricht widersprechen widersprachst "
    "widersprachen widersprochen widersprechen widersprich",
    "understand": "verstehe verstehst versteht verstehen verstandest verstanden verstanden "
    "verstehen versteh",
}


@pytest.mark.parametrize("name", VERBS)
def test_verb_forms(name):
    verb = next(verb for verb in lexicon().verbs if verb.name == name).de
    forms = [verb.present[key] for key in ("1s", "2s", "3s", "1p")]
    forms += [verb.preterite["2s"], verb.preterite["3p"], verb.participle]
    assert " ".join([*forms, verb.zu_infinitive, verb.imperative]) == VERBS[name]


def test_auxiliaries_and_modals():
    assert german.SEIN.present == {
        "1s": "bin",
        "2s": "bist",
        "3s": "ist",
        "1p": "sind",
        "3p": "sind",
    }
    assert german.HABEN.preterite["2s"] == "hattest"
    assert german.WERDEN.present["3s"] == "wird"
    assert german.WERDEN.preterite["1p"] == "wurden"
    assert german.MODALS["müssen"].present["1s"] == "muss"
    assert german.MODALS["können"].preterite["3p"] == "konnten"


NOUNS = {
    "man": "der Mann den Mann dem Mann des Mannes die Männer den Männern",
    "student": "der Student den Studenten dem Studenten des Studenten die Studenten den Studenten",
    "name": "der Name den Namen dem Namen des Namens die Namen den Namen",
    "heart": "das Herz das Herz dem Herzen des Herzens die Herzen den Herzen",
    "gentleman": "der Herr den Herrn dem Herrn des Herrn die Herren den Herren",
    "car": "das Auto das Auto dem Auto des Autos die Autos den Autos",
    "prison": "das Gefängnis das Gefängnis dem Gefängnis des Gefängnisses die Gefängnisse "
    "den Gefängnissen",
    "city": "die Stadt die Stadt der Stadt der Stadt die Städte den Städten",
    "bus driver": "der Busfahrer den Busfahrer dem Busfahrer des Busfahrers die Busfahrer "
    "den Busfahrern",
    "kitchen window": "das Küchenfenster das Küchenfenster dem Küchenfenster des Küchenfensters "
    "die Küchenfenster den Küchenfenstern",
    "city bus driver": "der Stadtbusfahrer den Stadtbusfahrer dem Stadtbusfahrer "
    "des Stadtbusfahrers die Stadtbusfahrer den Stadtbusfahrern",
    "peace plan": "der Friedensplan den Friedensplan dem Friedensplan des Friedensplanes "
    "die Friedenspläne den Friedensplänen",
}


@pytest.mark.parametrize("name", NOUNS)
def test_noun_forms(name):
    noun = lexicon().by_name[name]
    words = []
    for case in german.CASES:
        words += [german.determiner("der", case, noun.gender), noun.singular[case]]
    words += ["die", noun.plural["nom"], "den", noun.plural["dat"]]
    assert " ".join(words) == NOUNS[name]

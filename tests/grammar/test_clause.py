"""Clauses built by hand, in both languages."""

import random

import pytest

from t2t_phrase_grammar import detokenize
from t2t_phrase_grammar.clause import Clause, Rank
from t2t_phrase_grammar.derivation import Context, Token, leaves
from t2t_phrase_grammar.english import Modal
from t2t_phrase_grammar.lexicon import lexicon
from t2t_phrase_grammar.nounphrase import AttributiveAdjective, CommonPhrase, KeinPhrase
from t2t_phrase_grammar.pronouns import PronounPhrase, RelativePronounPhrase
from t2t_phrase_grammar.sampling import BARE, THE, A, pronouns


@pytest.fixture
def ctx():
    return Context(random.Random(0), lexicon())


def phrase(ctx, noun, *, determiner=THE, plural=False, adjective=""):
    adjectives = []
    if adjective:
        row = next(a for a in ctx.lexicon.adjectives if a.en == adjective)
        link = ctx.link()
        adjectives.append(AttributiveAdjective(("JJ", row.en, link), row.stem, link, []))
    entry = ctx.lexicon.by_name[noun]
    return CommonPhrase(ctx, entry, determiner=determiner, plural=plural, adjectives=adjectives)


def pronoun(ctx, word):
    return PronounPhrase(ctx, next(row for row in pronouns().items if row["en"] == word))


def verb(name, frame="transitive"):
    return next(v for v in lexicon().verbs if v.name == name and v.frame == frame)


def with_object(clause, noun_phrase, case="acc", rank=Rank.ACCUSATIVE):
    if noun_phrase.pronoun:
        rank = Rank.ACCUSATIVE_PRONOUN
        clause.before_rest = noun_phrase.english("acc")
    else:
        clause.complements.append(noun_phrase.english("acc"))
    clause.middle.append((rank, noun_phrase.german(case)))
    return clause


def english(tree):
    return detokenize([leaf[1] for leaf in leaves(tree)])


def german(tokens):
    return detokenize([token.form for token in tokens])


TENSES = [
    ("pres", None, "the dog bites the old man", "der Hund beißt den alten Mann"),
    ("past", None, "the dog bit the old man", "der Hund biss den alten Mann"),
    ("perf", None, "the dog has bitten the old man", "der Hund hat den alten Mann gebissen"),
    ("plup", None, "the dog had bitten the old man", "der Hund hatte den alten Mann gebissen"),
    ("fut", None, "the dog will bite the old man", "der Hund wird den alten Mann beißen"),
    (
        "pres",
        Modal("want", "want", "wollen", "pres", "wollen"),
        "the dog wants to bite the old man",
        "der Hund will den alten Mann beißen",
    ),
    (
        "past",
        Modal("be allowed", "be", "dürfen", "past", "dürfen"),
        "the dog was allowed to bite the old man",
        "der Hund durfte den alten Mann beißen",
    ),
]


@pytest.mark.parametrize(("tense", "modal", "source", "target"), TENSES)
def test_tenses(ctx, tense, modal, source, target):
    clause = Clause(ctx, verb("bite"), phrase(ctx, "dog"), tense=tense, modal=modal)
    with_object(clause, phrase(ctx, "man", adjective="old"))
    assert english(clause.english_clause()) == source
    assert german(clause.german_main()) == target


PASSIVES = [
    ("pres", "the letter is sent off", "der Brief wird abgeschickt", "wird"),
    ("past", "the letter was sent off", "der Brief wurde abgeschickt", "wurde"),
    ("perf", "the letter has been sent off", "der Brief ist abgeschickt worden", "ist"),
    ("fut", "the letter will be sent off", "der Brief wird abgeschickt werden", "wird"),
]


@pytest.mark.parametrize(("tense", "source", "target", "finite"), PASSIVES)
def test_passive(ctx, tense, source, target, finite):
    clause = Clause(ctx, verb("send off"), phrase(ctx, "letter"), tense=tense, passive=True)
    assert english(clause.english_clause()) == source
    assert german(clause.german_main()) == target
    final = german(clause.german_final([Token("weil", (99,))]))
    assert final.startswith("weil der Brief abgeschickt")
    assert final.endswith(finite)


def test_impersonal_passive(ctx):
    clause = Clause(
        ctx,
        verb("help", "dative"),
        phrase(ctx, "child", plural=True),
        tense="past",
        passive=True,
        impersonal=True,
    )
    assert english(clause.english_clause()) == "the children were helped"
    assert german(clause.german_main()) == "den Kindern wurde geholfen"


def test_particle_verb_apart_and_joined(ctx):
    clause = Clause(ctx, verb("turn off"), pronoun(ctx, "she"), tense="pres")
    with_object(clause, phrase(ctx, "lamp"))
    assert english(clause.english_clause()) == "she turns off the lamp"
    assert german(clause.german_main()) == "sie schaltet die Lampe aus"
    assert german(clause.german_final([Token("dass", (99,))])) == "dass sie die Lampe ausschaltet"
    clause.links["to"] = ctx.link()
    clause.silent_subject = True
    assert german(clause.german_infinitive()) == "die Lampe auszuschalten"
    assert german(clause.german_imperative()) == "schalte die Lampe aus"
    assert english(clause.english_imperative()) == "turn off the lamp"
    verb_link = clause.links["verb"]
    linked = [t.form for t in clause.german_main() if verb_link in t.links]
    assert linked == ["schaltet", "aus"]


def test_pronoun_splits_the_english_particle(ctx):
    clause = Clause(ctx, verb("call up"), pronoun(ctx, "I"), tense="past")
    with_object(clause, pronoun(ctx, "he"))
    assert english(clause.english_clause()) == "I called him up"
    assert german(clause.german_main()) == "ich rief ihn an"


def test_fronting_inverts(ctx):
    clause = Clause(ctx, verb("kiss"), phrase(ctx, "prince"), tense="past")
    with_object(clause, phrase(ctx, "frog", determiner=A, adjective="small"))
    link = ctx.link()
    clause.front = ("ADVP", [("RB", "yesterday", link)]), [Token("gestern", (link,))]
    assert english(clause.english_clause()) == "yesterday the prince kissed a small frog"
    assert german(clause.german_main()) == "gestern küsste der Prinz einen kleinen Frosch"


def test_negation(ctx):
    clause = Clause(ctx, verb("find"), pronoun(ctx, "we"), tense="past", negated=True)
    with_object(clause, phrase(ctx, "key"))
    assert english(clause.english_clause()) == "we did not find the key"
    assert german(clause.german_main()) == "wir fanden den Schlüssel nicht"
    clause = Clause(ctx, verb("find"), pronoun(ctx, "we"), tense="perf", negated=True)
    kein = KeinPhrase(phrase(ctx, "key", determiner=A, adjective="new"), clause.not_link)
    clause.german_not = False
    with_object(clause, kein, rank=Rank.INDEFINITE)
    assert english(clause.english_clause()) == "we have not found a new key"
    assert german(clause.german_main()) == "wir haben keinen neuen Schlüssel gefunden"


def test_must_not_is_darf_nicht(ctx):
    modal = Modal("must", "MD", "müssen", "pres", "dürfen")
    clause = Clause(
        ctx, verb("sleep", "intransitive"), pronoun(ctx, "you"), modal=modal, negated=True
    )
    assert english(clause.english_clause()) == "you must not sleep"
    assert german(clause.german_main()) == "du darfst nicht schlafen"


def test_question(ctx):
    clause = Clause(ctx, verb("arrive", "intransitive"), phrase(ctx, "train"), tense="past")
    assert english(clause.english_question()) == "did the train arrive"
    assert german(clause.german_question()) == "kam der Zug an"
    clause = Clause(ctx, verb("arrive", "intransitive"), phrase(ctx, "train"), tense="perf")
    assert english(clause.english_question()) == "has the train arrived"
    assert german(clause.german_question()) == "ist der Zug angekommen"


def test_reflexive_agrees(ctx):
    for word, reflexive, source in (("I", "mich", "hurry"), ("they", "sich", "hurry")):
        clause = Clause(ctx, verb("hurry", "intransitive"), pronoun(ctx, word))
        assert english(clause.english_clause()) == f"{word} {source}"
        assert german(clause.german_main()).endswith(f" {reflexive}")


def test_relative_clause(ctx):
    antecedent = phrase(ctx, "woman")
    who = RelativePronounPhrase(ctx, antecedent, person=True)
    clause = Clause(ctx, verb("wake up", "intransitive"), who, tense="past")
    clause.silent_subject = True
    assert english(clause.english_clause(silent=True)) == "woke up"
    assert german(clause.german_final(who.german("nom"))) == "die aufwachte"


def test_strong_declension_without_article(ctx):
    milk = phrase(ctx, "milk", determiner=BARE, adjective="cold")
    assert [token.form for token in milk.german("dat")] == ["kalter", "Milch"]
    assert english(milk.english()) == "cold milk"


def test_idiom(ctx):
    idiom = next(v for v in lexicon().verbs if v.idiom == "kick the bucket")
    clause = Clause(ctx, idiom, phrase(ctx, "king"), tense="past", negated=True)
    assert english(clause.english_clause()) == "the king did not kick the bucket"
    assert german(clause.german_main()) == "der König biss nicht ins Gras"
    clause = Clause(ctx, idiom, phrase(ctx, "king"), tense="perf")
    assert english(clause.english_clause()) == "the king has kicked the bucket"
    assert german(clause.german_main()) == "der König hat ins Gras gebissen"


def test_indefinite_article(ctx):
    for noun, adjective, expected in (
        ("apple", "", "an apple"),
        ("university", "", "a university"),
        ("uniform", "ugly", "an ugly uniform"),
        ("man", "honest", "an honest man"),
        ("hour", "", "an hour"),
    ):
        text = english(phrase(ctx, noun, determiner=A, adjective=adjective).english())
        assert text == expected

"""The rules on hand-made trees, and on the grammar's trees against the grammar's own facts."""

import pytest

from t2t_phrase.probing.labels import pos, spc, tense, tss, voice
from t2t_phrase.probing.treebank import read_parse
from t2t_phrase_grammar import generate

# Tree, voice, tense, TSS.
SENTENCES = {
    "statement": (
        "(ROOT (S (NP (NNP Kim)) (VP (VBZ sleeps)) (. .)))",
        ("active", "non-past", "NP-VP-."),
    ),
    "past": (
        "(S (NP (NNP Kim)) (VP (VBD slept)) (. .))",
        ("active", "past", "NP-VP-."),
    ),
    "passive": (
        "(S (NP (NN It)) (VP (VBD was) (VP (VBN seen))) (. .))",
        ("passive", "past", "NP-VP-."),
    ),
    "passive with adverbs outside and inside": (
        "(S (NP (NN It)) (VP (VBZ is) (ADVP (RB never)) (VP (ADVP (RB really)) (VBN seen))))",
        ("passive", "non-past", "NP-VP"),
    ),
    "perfect passive": (
        "(S (NP (NN It)) (VP (VBZ has) (VP (VBN been) (VP (VBN seen)))) (. .))",
        ("passive", "non-past", "NP-VP-."),
    ),
    "progressive passive": (
        "(S (NP (NN It)) (VP (VBD was) (VP (VBG being) (VP (VBN seen)))))",
        ("passive", "past", "NP-VP"),
    ),
    "passive with a modal": (
        "(S (NP (NN It)) (VP (MD would) (RB not) (VP (VB be) (VP (VBN seen)))))",
        ("passive", "non-past", "NP-VP"),
    ),
    "get passive": (
        "(S (NP (PRP They)) (VP (VBD got) (VP (VBN caught))))",
        ("passive", "past", "NP-VP"),
    ),
    "get with an adjective": (
        "(S (NP (PRP They)) (VP (VBD got) (ADJP (JJ married))))",
        ("active", "past", "NP-VP"),
    ),
    "have got": (
        "(S (NP (PRP She)) (VP (VBZ 's) (VP (VBN got) (NP (NN time)))))",
        ("active", "non-past", "NP-VP"),
    ),
    "'s for is": (
        "(S (NP (PRP It)) (VP (VBZ ’s) (VP (VBN called) (PP (IN by) (NP (PRP them))))))",
        ("passive", "non-past", "NP-VP"),
    ),
    "'s for has": (
        "(S (NP (PRP She)) (VP (VBZ 's) (VP (VBN eaten) (NP (DT a) (NN cake)))))",
        ("active", "non-past", "NP-VP"),
    ),
    "pluperfect": (
        "(S (NP (PRP She)) (VP (VBD had) (VP (VBN been) (ADJP (JJ ill)))))",
        ("active", "past", "NP-VP"),
    ),
    "been after 's": (
        "(S (NP (PRP She)) (VP (VBZ 's) (VP (VBN been) (ADJP (JJ ill)))))",
        ("active", "non-past", "NP-VP"),
    ),
    "progressive": (
        "(S (NP (PRP She)) (VP (VBZ is) (VP (VBG eating) (NP (NN cake)))))",
        ("active", "non-past", "NP-VP"),
    ),
    "participle as an adjective": (
        "(S (NP (PRP She)) (VP (VBD was) (ADJP (VBN interested))))",
        ("active", "past", "NP-VP"),
    ),
    "passive infinitive below another verb": (
        "(S (NP (PRP It)) (VP (VBZ has) (S (VP (TO to) (VP (VB be) (VP (VBN done)))))))",
        ("active", "non-past", "NP-VP"),
    ),
    "passive relative clause": (
        "(S (NP (NP (DT the) (NN cake)) (SBAR (WHNP (WDT that)) (S (VP (VBD was) (VP (VBN eaten))))"
        ")) (VP (VBZ tastes)))",
        ("active", "non-past", "NP-VP"),
    ),
    "reduced relative": (
        "(S (NP (NP (DT the) (NN cake)) (VP (VBN eaten) (NP (NN today)))) (VP (VBD was) (ADJP "
        "(JJ good))))",
        ("active", "past", "NP-VP"),
    ),
    "past auxiliary, present below": (
        "(S (NP (PRP He)) (VP (VBD said) (SBAR (S (NP (PRP she)) (VP (VBZ is) (VP (VBN seen)))))))",
        ("active", "past", "NP-VP"),
    ),
    "imperative": (
        "(S (VP (VB Go) (PRT (RP away))) (. !))",
        ("active", None, "VP-."),
    ),
    "passive imperative": (
        "(S (VP (VB Be) (VP (VBN warned))) (. !))",
        ("passive", None, "VP-."),
    ),
    "infinitive": (
        "(S (VP (TO To) (VP (VB be) (VP (VBN loved)))))",
        ("passive", None, "VP"),
    ),
    "yes-no question": (
        "(SQ (VBD Was) (NP (PRP it)) (VP (VBN seen)) (. ?))",
        ("passive", "past", "VBD-NP-VP-."),
    ),
    "question with do": (
        "(SQ (VBZ Does) (NP (PRP she)) (RB not) (VP (VB sing)) (. ?))",
        ("active", "non-past", "VBZ-NP-RB-VP-."),
    ),
    "question about the object": (
        "(SBARQ (WHNP (WP What)) (SQ (VBD was) (NP (PRP he)) (VP (VBN given))) (. ?))",
        ("passive", "past", "WHNP-SQ-."),
    ),
    "question about the subject": (
        "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD sang))) (. ?))",
        ("active", "past", "WHNP-SQ-."),
    ),
    "question of a copula": (
        "(SBARQ (WHNP (WP Who)) (SQ (VBZ is) (NP (PRP she))) (. ?))",
        ("active", "non-past", "WHNP-SQ-."),
    ),
    "coordinated clauses": (
        "(S (S (NP (PRP I)) (VP (VBD came))) (CC and) (S (NP (PRP it)) (VP (VBZ is) (VP (VBN seen))"
        ")))",
        ("active", "past", "S-CC-S"),
    ),
    "coordinated verb phrases": (
        "(S (NP (PRP I)) (VP (VP (VBD was) (VP (VBN seen))) (CC and) (VP (VBP go))))",
        ("passive", "past", "NP-VP"),
    ),
    "coordinated participles": (
        "(S (NP (PRP I)) (VP (VBD was) (VP (VP (VBN seen)) (CC and) (VP (VBN heard)))))",
        ("passive", "past", "NP-VP"),
    ),
    "coordinated verbs in one phrase": (
        "(S (NP (PRP I)) (VP (VBD came) (CC and) (VBP go)))",
        ("active", "past", "NP-VP"),
    ),
    "participle clause in front": (
        "(S (S (VP (VBN Seen) (PP (IN by) (NP (NN day))))) (, ,) (NP (PRP it)) (VP (VBZ shines)))",
        ("active", "non-past", "S-,-NP-VP"),
    ),
    "clause of a participle beside a finite one": (
        "(S (S (VP (VBG Singing))) (, ,) (S (NP (PRP he)) (VP (VBD left))))",
        ("active", "past", "S-,-S"),
    ),
    "verb phrase in front": (
        "(S (VP (VB Sing)) (NP (PRP he)) (VP (MD will)))",
        ("active", "non-past", "VP-NP-VP"),
    ),
    "quotation": (
        "(SINV (`` ``) (S (NP (PRP It)) (VP (VBZ is) (VP (VBN done)))) ('' '') (VP (VBD said)) "
        "(NP (NNP Kim)))",
        ("active", "past", "``-S-''-VP-NP"),
    ),
    "inversion": (
        "(SINV (ADVP (RB Never)) (VBD was) (NP (PRP it)) (VP (VBN seen)))",
        ("passive", "past", "ADVP-VBD-NP-VP"),
    ),
    "traces and function tags": (
        "( (S (NP-SBJ-1 (PRP It)) (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1)) (PP-LGS (IN by) "
        "(NP (PRP me))))) (. .)) )",
        ("passive", "past", "NP-VP-."),
    ),
    "unary clauses": (
        "(ROOT (S (S (NP (NNP Kim)) (VP (VBZ sleeps)))))",
        ("active", "non-past", "NP-VP"),
    ),
    "unary verb phrases": (
        "(S (VP (VP (VP (VBZ Rains)))))",
        ("active", "non-past", "VP"),
    ),
    "fragment": ("(FRAG (NP (DT a) (NN house)) (. .))", (None, None, "NP-.")),
    "noun phrase": ("(ROOT (NP (DT a) (NN house)))", (None, None, "DT-NN")),
    "clause without a verb": (
        "(S (NP (PRP You)) (NP (DT a) (NN king)) (. ?))",
        (None, None, "NP-NP-."),
    ),
    "subordinate clause alone": (
        "(SBAR (IN If) (S (NP (PRP it)) (VP (VBZ rains))))",
        (None, None, "IN-S"),
    ),
    "one word": ("(ROOT (UH Oh))", (None, None, None)),
    "one phrase": ("(ROOT (INTJ (UH Oh)))", (None, None, "UH")),
    "two sentences": (
        "(ROOT (S (NP (PRP I)) (VP (VBD came))) (S (NP (PRP I)) (VP (VBD saw))))",
        (None, None, None),
    ),
    "bare words": ("(S a (VP (VBZ is)))", ("active", "non-past", "X-VP")),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_labels_of_sentences(name):
    line, expected = SENTENCES[name]
    parse = read_parse(line)
    assert (voice(parse), tense(parse), tss(parse)) == expected


@pytest.mark.parametrize(
    ("line", "phrases", "tags"),
    [
        (
            "(ROOT (S (NP (DT a) (NN house)) (VP (VBD fell) (PRT (RP down))) (. .)))",
            "NP NP VP PRT S",
            "DT NN VBD RP .",
        ),
        # The lowest of a chain; function tags and traces do not count.
        (
            "(S (NP-SBJ (QP (CD five))) (VP (VBP go) (NP (-NONE- *))))",
            "QP VP",
            "CD VBP",
        ),
        # A bare word has no part of speech; a word below a wrapper no constituent.
        ("(S (NP the (NN house)) (VP (VBZ is)))", "NP NP VP", "None NN VBZ"),
        ("(ROOT (UH Oh))", "None", "UH"),
        ("(ROOT (UH Oh) (NP (NN dear) (. .)))", "None NP NP", "UH NN ."),
        ("(S (-LRB- -LRB-) (NP (NN x)))", "S NP", "-LRB- NN"),
    ],
)
def test_labels_of_words(line, phrases, tags):
    parse = read_parse(line)
    assert " ".join(map(str, spc(parse))) == phrases
    assert " ".join(map(str, pos(parse))) == tags


def test_deep_trees_are_read():
    parse = read_parse("(S " + "(VP " * 480 + "(VBD fell)" + ")" * 481)
    assert (voice(parse), tense(parse), spc(parse)) == ("active", "past", ("VP",))


def test_labels_are_the_grammars_own_facts():
    seen = set()
    for pair in generate("train", 800, seed=4):
        parse, facts = read_parse(pair.tree), pair.facts
        assert len(spc(parse)) == len(pos(parse)) == len(pair.source_tokens)
        assert None not in spc(parse) + pos(parse)
        found = voice(parse), tense(parse)
        seen.add(found)
        # A passive infinitive ("had to be seen") does not make the main verb phrase passive.
        if found[0] != facts.voice:
            assert "(TO to) (VP (VB be) (VP (VBN" in pair.tree and facts.modal
        if facts.sentence_type == "command":
            assert found[1] is None
        # English modals have no tense, the German ones that they stand for have.
        elif "(MD " not in pair.tree:
            assert found[1] == ("past" if facts.tense in ("past", "plup") else "non-past")
    assert len(seen) == 5

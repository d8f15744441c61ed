import pytest

import t2t_phrase_grammar as grammar
from t2t_phrase.text.trees.trees import TreeError, escaped, read_tree, word_ends, words


def test_words_are_read_in_order():
    tree = read_tree(" (ROOT (S (NP (PRP It)) (VP (VBZ 's) (ADJP (JJ late))) (. .)))")
    assert list(words(tree)) == ["It", "'s", "late", "."]
    assert list(words(read_tree("( (S a (X b)))"))) == ["a", "b"]
    # Not an escape of the bracket.
    assert list(words(read_tree(r"(S (X C:\) (X \))"))) == ["C:\\", "\\"]


@pytest.mark.parametrize(
    "line, fault",
    [
        ("", "the line is empty"),
        ("(S (NP a)", "the brackets do not match: 2 opening, 1 closing"),
        ("(S a))", "1 opening, 2 closing"),
        (")S a(", "does not begin with a bracket"),
        ("no tree", "the line does not begin with a bracket"),
        ("(S a) (S b)", "more text after the end of the tree"),
        ("(S a) b", "does not begin with a bracket|more text after the end"),
        ("(S (NP ))", "the tree has no words"),
        ("()", "the tree has no words"),
    ],
)
def test_faults_are_named(line, fault):
    with pytest.raises(TreeError, match=fault):
        read_tree(line)


@pytest.mark.parametrize(
    "spelt, sentence, ends",
    [
        ("It 's late .", "It's late.", [2, 4, 8, 9]),
        ("can not", "can  not", [3, 6]),
        ("-LRB- a -RSB- -lrb-", "(a] -lrb-", [1, 2, 3, 8]),
        ("-LRB- a", "-LRB- a", [5, 6]),
        ("`` Yes '' ''", "\"Yes” ''", [1, 4, 5, 7]),
        ("`` `` ' '", "„`` ' '", [1, 3, 4, 5]),
        (r"and\/or 1\/2", r"and/or 1\/2", [6, 10]),
        ("do n't -- ...", "don’t – …", [2, 5, 6, 7]),
        ("日本 語", "日本語", [2, 3]),
        ("+49\u00a030 x", "+49\u00a030\u2003x", [5, 6]),
    ],
)
def test_words_are_found_in_the_sentence(spelt, sentence, ends):
    found = list(words(read_tree(f"(S {spelt.replace(chr(0xA0), ' ')})")))
    if "\u00a0" in spelt:
        # A reader that splits at any whitespace would see two words here.
        assert word_ends(found, sentence)[-1] == ends[-1]
    assert word_ends([word.replace("\u00a0", "") for word in spelt.split(" ")], sentence) == ends


@pytest.mark.parametrize(
    "spelt, sentence, fault",
    [
        ("a b", "a c", r"word 2 of the tree is 'b', but the sentence has 'c' there"),
        ("a b c", "a b", r"word 3 of the tree is 'c', but the sentence ends before it"),
        ("a", "a b c", r"the tree ends before 'bc' of the sentence"),
        ("A", "a", r"word 1 of the tree is 'A', but the sentence has 'a' there"),
        ("zu dem", "zum Haus und noch viel weiter", r"has 'mHausundnochvielweit\.\.\.' there"),
    ],
)
def test_other_words_are_named(spelt, sentence, fault):
    with pytest.raises(TreeError, match=fault):
        word_ends(spelt.split(), sentence)


def test_the_grammars_trees_spell_its_sentences():
    for pair in grammar.generate("test", 40):
        found = list(words(read_tree(pair.tree)))
        assert found == list(pair.source_tokens)
        ends = word_ends(found, pair.source)
        assert ends[-1] == len("".join(pair.source.split()))


def test_words_are_escaped():
    assert escaped(" (a b) ") == "-LRB-ab-RRB-"
    assert word_ends([escaped("f(x)")], "f(x)") == [4]


@pytest.mark.parametrize("word", ["-LRB-(", "(-RRB-", "a.(b-LRB-)", "-RRB--LRB-((", "()"])
def test_escaped_words_may_hold_an_escape_themselves(word):
    assert word_ends([escaped(word), "x"], f"{word} x") == [len(word), len(word) + 1]
    with pytest.raises(TreeError, match="word 1 of the tree"):
        word_ends([escaped(word)], word.replace("(", "[").replace("-RRB-", "]"))

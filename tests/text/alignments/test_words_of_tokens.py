"""Links between tokens become links between words."""

import t2t_phrase_grammar as grammar
from t2t_phrase.text.alignments.pharaoh import read_links
from t2t_phrase.text.alignments.words_of_tokens import links_of_words
from t2t_phrase_grammar.tokens import PUNCTUATION


def test_punctuation_takes_no_part_unless_it_is_a_word():
    source = ("He", "has", "seen", "her", "."), ("He", "has", "seen", "her.")
    target = ("Er", "hat", "sie", "gesehen", "."), ("Er", "hat", "sie", "gesehen.")
    links = [(0, 0), (1, 1), (2, 3), (3, 2), (4, 4)]
    assert links_of_words(links, source, target) == {(0, 0), (1, 1), (2, 3), (3, 2)}
    apart = ("He", "has", "seen", "her", "."), ("Er", "hat", "sie", "gesehen", ".")
    whole = tuple((tokens, tokens) for tokens in apart)
    assert links_of_words(links, *whole) == set(links)


def test_words_of_several_tokens_have_all_their_links():
    source = ("can", "not", "'s"), ("cannot's",)
    assert links_of_words([(0, 0), (1, 1), (2, 1)], source, (("a", "b"), ("a", "b"))) == {
        (0, 0),
        (0, 1),
    }


def test_every_link_of_the_grammar_but_those_of_punctuation_remains():
    def word(tokens, number):
        return len(grammar.detokenize(tokens[: number + 1]).split()) - 1

    for pair in grammar.generate("dev", 40):
        tokens = pair.source_tokens, pair.target_tokens
        links = read_links(pair.alignment).sure
        found = links_of_words(
            links, (tokens[0], pair.source.split()), (tokens[1], pair.target.split())
        )
        assert found == {
            (word(tokens[0], i), word(tokens[1], j))
            for i, j in links
            if tokens[0][i] not in PUNCTUATION and tokens[1][j] not in PUNCTUATION
        }

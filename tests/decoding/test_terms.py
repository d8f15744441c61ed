import numpy as np
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.decoding.terms import RequiredTerms, entries_of_texts, terms_met
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords

COUNT = 50


@pytest.fixture(scope="module")
def encoder():
    return SubwordEncoder(train_subwords(["das alte Haus", "ein Hund"], vocab_size=280))


def test_required_and_forbidden_phrases_are_compared_word_by_word(encoder):
    entry = Entry("house", "das alte Haus", "d:1")
    for phrase in ("das", "alte Haus", "das alte Haus"):
        with pytest.raises(
            UserError, match=f"d:1 requires 'das alte Haus', and b:1 forbids '{phrase}'"
        ):
            RequiredTerms([entry, Entry("", f"!{phrase}", "b:1")], encoder)
    for phrase in ("da", "Haus alte", "das alte Haus dort", "alt"):
        RequiredTerms([entry, Entry("", f"!{phrase}", "b:1")], encoder)


def test_entries_are_not_compared_in_pairs_or_for_every_sentence(encoder):
    reads = []

    class Watched(Entry):
        @property
        def forbidden(self):
            reads.append(self)
            return super().forbidden

    entries = [Watched(f"s{i}", f"Haus {i}", f"d:{i}") for i in range(COUNT)]
    entries += [Watched(f"s{i}", f"!Hund {i}", f"d:{COUNT + i}") for i in range(COUNT)]
    terms = RequiredTerms(entries, encoder)
    assert len(reads) < 10 * len(entries)
    reads.clear()
    own = [Entry("house", "Haus", "o:1"), Entry("", "!Hund", "o:2")]
    found = terms.apply(Sentence("a house", (), ()), own, longest=9)
    assert found.names == ["'house' (o:1)"] and found.tokens == [[encoder.encode("Haus")]]
    assert reads == []
    with pytest.raises(UserError, match="d:7 requires 'Haus 7', and o:3 forbids 'Haus 7'"):
        terms.check([Entry("", "!Haus 7", "o:3")])
    # Another translation takes the place of the forbidden one.
    terms.check([Entry("s7", "Heim", "o:4"), Entry("", "!Haus 7", "o:5")])


def test_terms_are_required_as_far_as_there_is_room(encoder):
    """Of alternatives, the shortest counts; EOS needs a token, too."""
    entries = [
        Entry("house", "das alte Haus", "d:1"),
        Entry("house", "Haus", "d:2"),
        Entry("dog", "Hund", "d:3"),
    ]
    house, dog = (len(encoder.encode(text)) for text in ("Haus", "Hund"))
    terms, source = RequiredTerms(entries, encoder), Sentence("a house and a dog", (), ())
    for longest, count in ((house + dog + 1, 2), (house + dog, 1), (house + 1, 1), (house, 0)):
        found = terms.apply(source, longest=longest)
        assert len(found.tokens) == count, longest
        assert found.names == ["'house' (d:1)", "'dog' (d:3)"]
        assert found.missing(range(1, count + 1)) == tuple(found.names[count:])


def test_entries_of_the_sentence_come_first(encoder):
    terms = RequiredTerms([Entry("house", "Haus", "d:1")], encoder)
    found = terms.apply(Sentence("a house", (), ()), [Entry("house", "Hund", "o:1")], longest=99)
    assert found.tokens == [[encoder.encode("Hund")]] and found.names == ["'house' (o:1)"]


def test_a_term_does_not_count_if_its_word_goes_on():
    begins = np.array([False, True, True, True, False])
    assert terms_met([3, 4, 2, 1, 0], [1, 0, 2, 0, 0], begins) == {2}
    assert terms_met([3, 2], [1, 2], begins) == {1, 2}
    # Tokens beyond the vocabulary are no text.
    assert terms_met([3, 5], [1, 0], begins) == set()


def test_another_thread_may_make_room(encoder, monkeypatch):
    monkeypatch.setattr("t2t_phrase.decoding.terms._MOST_TARGETS", 0)
    terms = RequiredTerms([], encoder)
    check = terms._known.check

    def interrupted(entries):
        monkeypatch.setattr(terms._known, "check", check)
        terms.check([Entry("dog", "Hund", "o:2")])

    monkeypatch.setattr(terms._known, "check", interrupted)
    found = terms.apply(Sentence("a house", (), ()), [Entry("house", "Haus", "o:1")], longest=9)
    assert found.tokens == [[encoder.encode("Haus")]]


def test_pairs_of_texts_may_come_from_any_iterable():
    pairs = [("the", "der"), ("dog", "Hund")]
    expected = [[Entry(*pair, f"terms of text 1:{n}") for n, pair in enumerate(pairs, 1)], []]
    for own in (pairs, tuple(pairs), iter(pairs), zip(*zip(*pairs, strict=True), strict=True)):
        assert entries_of_texts([own, []], 2) == expected
    assert entries_of_texts(iter([pairs, ()]), 2) == expected


@pytest.mark.parametrize("wrong", [None, 5, "ab", ("a", "b"), [None], [("a", "b", "c")]])
def test_what_is_no_list_of_pairs_is_refused(wrong):
    with pytest.raises(UserError, match=r"terms of text 2: expected a list of \(source, target\)"):
        entries_of_texts([[], wrong], 2)


def test_a_target_that_is_spelt_with_a_forbidden_phrase_is_refused(encoder):
    """The search bars a phrase at its last token, also within a longer word."""
    source = Sentence("a house", (), ())
    longer = [Entry("house", f"Haus{ending}", f"d:{i}") for i, ending in enumerate("xyz")]
    assert all(encoder.encode(entry.target)[:-1] == encoder.encode("Haus") for entry in longer)
    ban = Entry("house", "!Haus", "b:1")
    terms = RequiredTerms([*longer, ban], encoder)
    message = "d:0 requires 'Hausx', which the model spells with the tokens of the forbidden 'Haus'"
    with pytest.raises(UserError, match=message):
        terms.apply(source, longest=99)
    # Another alternative is enough, and so is a source without the forbidden phrase.
    other = RequiredTerms([*longer, Entry("house", "Heim", "d:9"), ban], encoder)
    assert len(other.apply(source, longest=99).tokens[0]) == 4
    elsewhere = RequiredTerms([*longer, Entry("dog", "!Haus", "b:1")], encoder)
    assert len(elsewhere.apply(source, longest=99).tokens) == 1

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.decoding.terms import RequiredTerms, entries_of_texts
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
        with pytest.raises(UserError, match=f"d:1: 'das alte Haus' must .* b:1 forbids '{phrase}'"):
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
    with pytest.raises(UserError, match="d:7: 'Haus 7' must appear, and o:3 forbids 'Haus 7'"):
        terms.check([Entry("", "!Haus 7", "o:3")])


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

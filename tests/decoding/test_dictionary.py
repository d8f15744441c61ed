"""The entries of a dictionary as tokens of a vocabulary."""

import numpy as np
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.decoding.batches import Batch
from t2t_phrase.decoding.dictionary import Dictionary, SentenceEntries, batch_arrays
from t2t_phrase.decoding.search.guided import STARTS, TOKENS
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

LINES = ["the house is old and small", "a cat sleeps in it", "far away from here"]


@pytest.fixture(scope="module")
def subwords() -> SubwordEncoder:
    return SubwordEncoder(train_subwords(LINES * 20, vocab_size=280))


def sentence(encoder: SubwordEncoder, text: str) -> Sentence:
    ((ids, starts),) = encoder.encode_with_starts([text])
    return Sentence(text, ids, starts)


def test_entries_stand_at_all_tokens_of_their_first_word(subwords: SubwordEncoder) -> None:
    entries = [Entry("old catalogue", "alt"), Entry("Ünïc", "x y")]
    source = sentence(subwords, '  an "old  catalogue", Ünïc.')
    found = Dictionary(entries, subwords).apply(source)
    assert found.tokens == [subwords.encode("alt"), subwords.encode("x y")]
    assert len(found.starts) == len(source.ids) + 1 and found.starts[-1] == 0
    for number, phrase in ((1, "old"), (2, "Ünïc")):
        places = [i for i, own in enumerate(found.starts) if own == number]
        assert len(places) > 1 and places == list(range(places[0], places[-1] + 1))
        spelt = subwords.decode([source.ids[i] for i in places])
        assert phrase in spelt and len(spelt.split()) == 1
    assert "an" in subwords.decode([source.ids[i] for i in range(found.starts.index(1))])


def test_what_was_cut_does_not_apply(subwords: SubwordEncoder) -> None:
    dictionary = Dictionary([Entry("house", "Haus"), Entry("old", "alt")], subwords)
    source = sentence(subwords, "the house is old")
    whole = dictionary.apply(source)
    assert len(whole.tokens) == 2
    first = whole.starts.index(1)
    cut = dictionary.apply(source, cut=first + 1)
    assert cut.starts == [*whole.starts[: first + 1], 0] and len(cut.tokens) == 1
    nothing = dictionary.apply(source, cut=first)
    assert not any(nothing.starts) and not nothing.tokens


def test_entries_of_the_sentence_come_first(subwords: SubwordEncoder) -> None:
    dictionary = Dictionary([Entry("house", "Haus")], subwords)
    source = sentence(subwords, "house")
    found = dictionary.apply(source, [Entry("house", "Heim")])
    assert found.tokens == [subwords.encode("Heim")]
    assert dictionary.apply(source).tokens == [subwords.encode("Haus")]
    assert dictionary.apply(sentence(subwords, "cat")) == SentenceEntries()


def test_translations_are_spelt_as_within_a_sentence(subwords: SubwordEncoder) -> None:
    around = subwords.encode("the house is old")
    (found,) = (
        Dictionary([Entry("Haus", "house")], subwords).apply(sentence(subwords, "Haus")).tokens
    )
    assert any(around[i : i + len(found)] == found for i in range(len(around)))


def test_what_cannot_be_spelt_is_refused(subwords: SubwordEncoder) -> None:
    words = WordEncoder(train_words(LINES, vocab_size=20))
    message = r"d:3: the model cannot write 'house zebra'.*\(it would be 'house <unk>'\)"
    with pytest.raises(UserError, match=message):
        Dictionary([Entry("a", "house zebra", "d:3")], words)
    with pytest.raises(UserError, match="d:3: the model cannot write"):
        Dictionary([], words).check([Entry("a", "zebra", "d:3")])
    with pytest.raises(UserError, match="d:4: the model cannot write '<unk>'"):
        Dictionary([Entry("a", "<unk>", "d:4")], words)
    with pytest.raises(UserError, match="d:1: the model cannot write"):
        Dictionary([Entry("a", "x\u2581y", "d:1")], subwords)
    with pytest.raises(UserError, match=r"d:1: the target has [0-9]+ tokens; at most 256"):
        Dictionary([Entry("a", "z" * 3000, "d:1")], subwords)


def test_arrays_have_few_shapes() -> None:
    entries = [
        SentenceEntries([0, 1, 2, 3, 0], [[5], [6, 7, 8], [9, 9]]),
        SentenceEntries(),
        SentenceEntries([1, 0], [[4]]),
    ]
    arrays = batch_arrays(entries, Batch((2, 0), (4, 8)))
    assert arrays[TOKENS].shape == (4, 4, 4) and arrays[STARTS].shape == (4, 8)
    assert arrays[TOKENS][0].tolist() == [[4, 0, 0, 0], *[[0] * 4] * 3]
    assert arrays[TOKENS][1].tolist() == [[5, 0, 0, 0], [6, 7, 8, 0], [9, 9, 0, 0], [0] * 4]
    assert arrays[STARTS][:2].tolist() == [[1] + [0] * 7, [0, 1, 2, 3, 0, 0, 0, 0]]
    assert not arrays[STARTS][2:].any() and arrays[STARTS].dtype == np.int32
    assert batch_arrays(entries, Batch((1,), (1, 8))) == {}

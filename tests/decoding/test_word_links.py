"""From aligned tokens to links between words."""

import pytest

from t2t_phrase.decoding.word_links import (
    NO_WORD,
    pieces_of_ids,
    tokens_of_row,
    word_links,
    words_of_ids,
    words_of_text,
)
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

LINES = ["the house is old and small", "a cat sleeps in it", "far away from here"]
TEXTS = [
    "the house is old",
    "  the  old\u3000catalogue, (sleeps) ",
    "Ünïcödé 日本 is far",
    "x",
    "... !",
    "the\u2581house old",
]


@pytest.fixture(scope="module")
def subwords() -> SubwordEncoder:
    return SubwordEncoder(train_subwords(LINES * 20, vocab_size=300))


@pytest.mark.parametrize("text", TEXTS)
def test_each_subword_is_in_the_word_that_it_spells(subwords: SubwordEncoder, text: str) -> None:
    ids = subwords.encode(text)
    words = text.split()
    found = words_of_text(subwords, text, ids)
    assert len(found) == len(ids) and sorted(found) == found
    assert {*found} == {*range(len(words))}
    # The tokens of a word alone spell it, even if they are bytes.
    for number, word in enumerate(words):
        own = [token for token, place in zip(ids, found, strict=True) if place == number]
        assert "".join(subwords.decode(own).split()) == word.replace("\u2581", "")


@pytest.mark.parametrize("text", TEXTS[:-1])
def test_words_are_found_without_the_text(subwords: SubwordEncoder, text: str) -> None:
    ids = subwords.encode(text)
    assert words_of_ids(subwords, ids) == words_of_text(subwords, text, ids)


def test_a_cut_sentence_has_the_words_that_are_left(subwords: SubwordEncoder) -> None:
    ids = subwords.encode(TEXTS[0])
    assert words_of_text(subwords, TEXTS[0], ids[:2]) == words_of_text(subwords, TEXTS[0], ids)[:2]


def test_words_are_their_own_tokens() -> None:
    encoder = WordEncoder(train_words(LINES, vocab_size=12))
    text = "the unknown  house"
    assert words_of_text(encoder, text, encoder.encode(text)) == [0, 1, 2]
    assert words_of_ids(encoder, encoder.encode(text)) == [0, 1, 2]


def test_subwords_of_tensor2tensor_need_no_starts() -> None:
    pieces = ["<pad>", "<EOS>", *"\\_u;0123456789", "th", "e_", "a", " ", ".", ",", "b", "c"]
    encoder = T2TSubwords(pieces)
    ids = encoder.encode("the a, b")
    assert encoder.decode(ids) == "the a, b"
    words = words_of_text(encoder, "the a, b", ids)
    assert {*words} == {0, 1, 2} and sorted(words) == words


def test_pieces_are_those_of_any_stored_vocabulary(subwords: SubwordEncoder) -> None:
    encoder = T2TSubwords(["<pad>", "<EOS>", *"\\_u;0123456789", "the_"])
    assert pieces_of_ids(encoder, [16, 3]) == ["the_", "_"]
    ids = subwords.encode(TEXTS[0])
    assert pieces_of_ids(subwords, ids) == subwords.pieces(ids)


def test_a_blank_token_is_in_the_word_that_follows(subwords: SubwordEncoder) -> None:
    (boundary,) = [i for i in range(subwords.vocab_size) if subwords.pieces([i]) == ["▁"]]
    (house,) = [i for i in range(subwords.vocab_size) if subwords.pieces([i]) == ["s"]]
    assert words_of_ids(subwords, [house, boundary, boundary, house]) == [0, 1, 1, 1]
    assert words_of_ids(subwords, [boundary, house, boundary]) == [0, 0, 0]
    assert words_of_ids(subwords, [boundary]) == [NO_WORD]
    assert words_of_ids(subwords, []) == []


def test_few_tokens_are_decoded_for_each_token(
    subwords: SubwordEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " ".join(TEXTS[:-1] * 20)
    ids = subwords.encode(text)
    decode, decoded = SubwordEncoder.decode, []

    def counted(self: SubwordEncoder, ids: list[int]) -> str:
        decoded.append(len(ids))
        return decode(self, ids)

    monkeypatch.setattr(SubwordEncoder, "decode", counted)
    assert words_of_ids(subwords, ids) == words_of_text(subwords, text, ids)
    assert len(ids) > 500 and sum(decoded) < 20 * len(ids)


def test_links_are_those_of_all_tokens_but_eos() -> None:
    # The source has two words of two tokens each; the last position is EOS, others are padding.
    source_words = [0, 0, 1, 1]
    assert word_links([1, 0, 2], [0, 1, 1], source_words) == ((0, 0), (0, 1), (1, 1))
    assert word_links([4, 3, 7], [0, 1, 2], source_words) == ((1, 1),)
    assert word_links([1], [NO_WORD], source_words) == ()


def test_a_row_ends_before_eos_or_padding() -> None:
    assert tokens_of_row([5, 0, 6, 1, 7]) == [5, 0, 6]
    assert tokens_of_row([5, 6, 0, 0]) == [5, 6]
    assert tokens_of_row([1, 0]) == tokens_of_row([]) == []

"""Alignments of words become one position for each token."""

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.features import ALIGNMENT, ALIGNMENT_REV
from t2t_phrase.text.annotations.alignment import Alignment, AlignmentReversed
from t2t_phrase.text.annotations.base import Sentence, annotation_of


def tokenized(*pieces):
    """Return the sentence of pieces that spell it, each a token."""
    starts, offset = [], 0
    for piece in pieces:
        starts.append(offset)
        offset += len(piece.encode())
    return Sentence("".join(pieces), list(range(7, 7 + len(pieces))), starts)


#                      0      1     2   3      4    5
SOURCE = tokenized("Über", "haupt", " ", "can", "not", " swim", ".")
#                      0     1     2      3     4
TARGET = tokenized("Kann", " über", "haupt", " nicht", " schw", "immen", ".")


def numbers(text, own=TARGET, other=SOURCE):
    annotation = Alignment()
    found = annotation.encode(own, text, other)
    return [*found, annotation.end(found, other)]


def test_every_token_has_the_first_token_of_a_word():
    # A subword has the word of its first visible character, and words are aligned with the token
    # of theirs: "cannot" with token 3, not with the blank.
    assert numbers("1-0 0-1 1-2 2-3") == [3, 0, 0, 3, 5, 5, 5, 7]


def test_tokens_without_links():
    assert numbers("0-1") == [0] * 7 + [7]
    assert numbers("") == [7] * 8
    assert numbers("", own=tokenized()) == [7]
    assert numbers("", other=tokenized()) == [0] * 8


def test_a_token_that_is_blank_belongs_to_the_word_that_follows():
    own = tokenized("a", " ", "b")
    assert numbers("1-1 2-0", own=own) == [5, 3, 3, 7]


def test_ends_of_the_source_that_are_cut_off_count_as_its_end():
    assert SOURCE.cut(None) is SOURCE is SOURCE.cut(7)
    begun = ("Überhaupt cannot", [7, 8, 9, 10, 11], [0, 5, 10, 11, 14])
    assert SOURCE.cut(5) == Sentence(*begun, is_whole=False)
    assert numbers("1-0 0-1 1-2 2-3", other=SOURCE.cut(4)) == [3, 0, 0, 3, 4, 4, 4, 4]
    assert numbers("1-0 0-1 1-2 2-3", other=SOURCE.cut(0)) == [0] * 8


def test_the_first_of_two_tokens_at_one_place_is_the_blank_of_the_vocabulary():
    source = Sentence("X yz", [1, 2, 3], [0, 0, 2])  # "▁", "X", " yz"
    assert numbers("0-0 1-1", tokenized("a", " b"), source) == [1, 2, 3]


def test_text_that_the_vocabulary_drops():
    source = Sentence("\u200b a", [5], [4])
    assert numbers("0-0 1-1", tokenized("a", " b"), source) == [0, 0, 1]
    assert numbers("0-0", tokenized("a"), Sentence("\u200b", [], [])) == [0, 0]


def test_lines_of_files():
    forward, backward = annotation_of(ALIGNMENT), annotation_of(ALIGNMENT_REV)
    assert (type(forward), type(backward)) == (Alignment, AlignmentReversed)
    # Possible links are checked and left out.
    assert forward.read("x y", "2-0 0-1 1?1", "a b c") == "0-1 2-0"
    assert backward.read("a b c", "2-0 0-1 1?1", "x y") == "0-2 1-0"
    for read, sentences in ((forward.read, ("x y", "a")), (backward.read, ("a", "x y"))):
        own, other = sentences
        with pytest.raises(UserError, match=r"^link 1-0: there is no source word 1;"):
            read(own, "1-0", other)
        with pytest.raises(UserError, match=r"^link 0-2: there is no target word 2;"):
            read(own, "0?2", other)
        with pytest.raises(UserError, match=r"^'x' is not a link"):
            read(own, "x", other)


def test_the_other_sentence_must_be_known():
    for use in (
        lambda: Alignment().read("a", ""),
        lambda: AlignmentReversed().read("a", ""),
        lambda: Alignment().encode(TARGET, ""),
        lambda: Alignment().end([]),
    ):
        with pytest.raises(UserError, match="only where both sentences are known"):
            use()


def test_linked_words_must_exist():
    with pytest.raises(UserError, match="there is no target word 9"):
        numbers("0-9")
    with pytest.raises(UserError, match="there is no source word 3"):
        numbers("3-0")

"""One side of a model's input, where a feature of it refers to the other side."""

import pytest
from hard_text import LINES, blank_keeping_model

from t2t_phrase.config import UserError
from t2t_phrase.decoding.sides import check_features, encode_side, tokenize
from t2t_phrase.decoding.word_links import words_of_text
from t2t_phrase.features import ALIGNMENT
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

ENCODER = WordEncoder(train_words(["a b c d e"], vocab_size=10))


def encode(texts, lines, *, max_tokens):
    sources, targets = (tokenize(ENCODER, side, starts=True) for side in texts)
    found = encode_side(
        "target",
        targets,
        (ALIGNMENT,),
        {"alignment": lines},
        others=sources,
        max_tokens=max_tokens,
        keep_empty=True,
    )
    assert [len(row) for row in found.features["alignment"]] == [len(row) for row in found.ids]
    return found.features["alignment"]


def test_positions_are_those_of_the_source_that_is_left():
    texts = (["a b c d", "a", "a"], ["d c b a", "a", ""])
    lines = ["3-0 2-1 1-2 0-3", "", ""]
    assert encode(texts, lines, max_tokens=0) == [[3, 2, 1, 0, 4], [1, 1], [1]]
    # Two tokens and EOS are left of both sides; what was aligned with others has the source's EOS.
    assert encode(texts, lines, max_tokens=3) == [[2, 2, 2], [1, 1], [1]]
    assert encode(texts, ["0-0 1-1 1-2 0-3", "", ""], max_tokens=3)[0] == [0, 1, 2]


@pytest.mark.parametrize("starts", [False, True])
def test_half_of_a_character_is_refused_with_the_number_of_its_line(starts):
    assert tokenize(ENCODER, ["a", "b \U0001f600"], starts=starts)[1].ids == [4, 2]
    with pytest.raises(UserError, match=r"^line 2: \\ud800 alone is only half of a character$"):
        tokenize(ENCODER, ["a", "b \ud800", "c"], starts=starts)


def test_the_texts_of_a_feature_are_a_list():
    with pytest.raises(UserError, match=r"^feature 'alignment': expected a list of strings"):
        check_features((ALIGNMENT,), {"alignment": "0-0"}, 3)
    given = {"alignment": (line for line in ("0-0", ""))}
    assert check_features((ALIGNMENT,), given, 2) == {"alignment": ["0-0", ""]}


def test_blanks_around_a_text_do_not_count():
    """tensor2tensor's encoder keeps them, and its decoder strips lines first."""
    encoder = T2TSubwords(["<pad>_", "<EOS>_", *"abcdefgh _\\u;0123456789"])
    plain, others = "a bad", [" a bad", "a bad\t ", "\u3000a bad"]
    expected = tokenize(encoder, [plain], starts=False)[0].ids
    assert all(each.ids == expected for each in tokenize(encoder, others, starts=False))
    assert (
        tokenize(encoder, ["  "], starts=False)[0].ids
        == tokenize(encoder, [""], starts=False)[0].ids
    )


@pytest.mark.parametrize("starts", [False, True])
def test_blanks_around_a_text_do_not_count_for_vocabularies_with_tokens_for_them(starts):
    encoder = SubwordEncoder(blank_keeping_model(LINES))
    assert encoder.encode(" dog ") != encoder.encode("dog")
    texts = ["the dog", "  the dog", "the dog\t\u3000", "\u2028"]
    plain, *others, blank = tokenize(encoder, texts, starts=starts)
    assert [plain] * 2 == others and not blank.ids
    expected = words_of_text(encoder, "the dog", plain.ids)
    assert expected[0] == 0 and expected[-1] == 1
    assert all(words_of_text(encoder, text, plain.ids) == expected for text in texts[:3])

import pickle

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords, join_tokens, split_tokens

PIECES = [
    "<pad>",
    "<EOS>",
    *["the_", "hou", "se_", "house", "s_", "_", " ", ", _", "._", "ü", "über"],
    *list("theouse<padEOS>.,") + list("\\u;0123456789"),
]
PIECES = list(dict.fromkeys(PIECES))


@pytest.fixture(scope="module")
def subwords():
    return T2TSubwords(PIECES)


def pieces_of(subwords, text):
    return [PIECES[i] for i in subwords.encode(text)]


def test_tokens_are_runs_of_letters_and_digits_or_of_all_else():
    assert split_tokens("the house, 12 a's.") == ["the", "house", ", ", "12", "a", "'", "s", "."]
    assert split_tokens("a  b") == ["a", "  ", "b"]
    assert split_tokens(" a ") == [" ", "a", " "]
    assert split_tokens("") == []
    assert split_tokens("a") == ["a"]
    assert split_tokens(" ") == [" "]


@pytest.mark.parametrize("text", ["the house, 12 a's.", " a ", "a  b", "", "–x–", "año_2 \\u;"])
def test_joining_undoes_splitting(text):
    assert join_tokens(split_tokens(text)) == text


def test_the_longest_piece_wins_from_left_to_right(subwords):
    # "house" is preferred to "hou", although "hou" "se_" is as few pieces.
    assert pieces_of(subwords, "the house") == ["the_", "house", "_"]
    assert pieces_of(subwords, "houses") == ["house", "s_"]
    assert pieces_of(subwords, "über, the.") == ["über", "_", ", _", "the_", "._"]


def test_unknown_characters_and_escapes_are_spelt(subwords):
    # ñ is character 241; its escape consists of single-character pieces.
    assert pieces_of(subwords, "ñ") == ["\\", "2", "4", "1", ";", "_"]
    assert pieces_of(subwords, "_") == ["\\", "u", "_"]
    assert pieces_of(subwords, "\\") == ["\\", "\\", "_"]
    # b and r occur in "über" only.
    assert pieces_of(subwords, "b") == ["\\", "9", "8", ";", "_"]


@pytest.mark.parametrize(
    "text", ["the house, the houses.", "_under_score\\u \\95;", "日本 ñ\n2", "über\u3000x", "a - b"]
)
def test_any_text_comes_back(subwords, text):
    assert subwords.decode([*subwords.encode(text), 1, 3, 3]) == text


def test_decoding_skips_padding_and_unknown_ids(subwords):
    ids = subwords.encode("the house")
    assert subwords.decode([0, *ids[:1], 0, 10_000, *ids[1:]]) == "the house"
    assert subwords.decode([]) == ""


def test_pieces_are_those_of_the_vocabulary(subwords):
    ids = subwords.encode("the house")
    assert subwords.pieces([*ids, len(PIECES)]) == ["the_", "house", "_", ""]


def test_a_pickled_encoder_is_the_same(subwords):
    subwords.encode("the house")
    copied = pickle.loads(pickle.dumps(subwords))
    assert copied.encode("über, the house") == subwords.encode("über, the house")
    assert copied.model_bytes == subwords.model_bytes


def test_numbers_that_are_no_characters(subwords):
    for number in ("55296", "1114112", "99999999999999999999"):
        spelt = [PIECES.index(piece) for piece in f"\\{number};_"]
        assert subwords.decode(spelt) == "\u3013"


def test_a_file_with_and_without_quotes(tmp_path, subwords):
    quoted, plain = tmp_path / "quoted", tmp_path / "plain"
    quoted.write_text("".join(f"'{piece}'\n" for piece in PIECES), encoding="utf-8")
    plain.write_text(
        "".join(f'"{p}"\n' if p == " " else f"{p}\n" for p in PIECES), encoding="utf-8"
    )
    for path in (quoted, plain):
        loaded = T2TSubwords.load(path)
        assert loaded.vocab_size == len(PIECES)
        assert loaded.encode("über, the house") == subwords.encode("über, the house")


def test_what_is_no_vocabulary_is_refused(tmp_path):
    path = tmp_path / "vocab"
    path.write_text("the\nhouse\n")
    with pytest.raises(UserError, match=r"vocab: the vocabulary lacks \\ _ u ;"):
        T2TSubwords.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="is not UTF-8"):
        T2TSubwords.load(path)
    with pytest.raises(UserError, match="cannot read the vocabulary"):
        T2TSubwords.load(tmp_path / "absent")

"""Words that are always one entry of a vocabulary."""

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.special_ids import UNK_ID
from t2t_phrase.text.in_graph.encoders import make_tf_encoder
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.sampling import SegmentationSampler
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

LINES = ["a house at the lake", "the lake house", "ein Haus am See", "das Haus"] * 5
SYMBOLS = ("<BT>", "<2de>")
TAGGED = "<2de> <BT> the house"


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def encoder(request):
    return SubwordEncoder(
        train_subwords(
            LINES, vocab_size=290, model_type=request.param, user_defined_symbols=SYMBOLS
        )
    )


def test_symbols_follow_the_special_pieces(encoder):
    first = encoder.pieces(range(6))
    assert first == ["<pad>", "<EOS>", "<unk>", "▁<BT>", "▁<2de>", "<0x00>"]


@pytest.mark.parametrize("text", [TAGGED, "the <BT>", "a<BT>b <BT>c <2d", "<BT>", "<2de><BT>"])
def test_text_with_symbols_is_restored(encoder, text):
    assert encoder.decode(encoder.encode(text)) == text


def test_a_symbol_is_one_token(encoder):
    assert encoder.encode(TAGGED)[:2] == [4, 3]
    assert encoder.encode(TAGGED)[2:] == encoder.encode("the house")
    assert encoder.encode("the <BT>") == [*encoder.encode("the"), 3]


def test_symbols_in_a_graph(encoder):
    graph = make_tf_encoder(encoder.model_bytes)
    texts = [TAGGED, "a <BT>b", "a<BT>"]
    ids, starts = graph.encode_with_starts(texts)
    expected = encoder.encode_with_starts(texts)
    assert list(zip(ids.to_list(), starts.to_list(), strict=True)) == expected
    assert [text.decode() for text in graph.decode(ids).numpy()] == texts


def test_random_segmentations_keep_symbols(encoder):
    drawn = SegmentationSampler(encoder, alpha=0.1, seed=1).encode_with_starts([TAGGED] * 200)
    assert {tuple(ids[:2]) for ids, _ in drawn} == {(4, 3)}
    assert len({tuple(ids) for ids, _ in drawn}) > 1
    assert {encoder.decode(ids) for ids, _ in drawn} == {TAGGED}


def test_too_small_a_vocabulary_counts_the_symbols():
    with pytest.raises(UserError, match="vocab_size=261 is too small: 261 special"):
        train_subwords(LINES, vocab_size=261, user_defined_symbols=SYMBOLS)
    with pytest.raises(UserError, match="vocab_size=5 is too small: 5 entries"):
        train_words(LINES, vocab_size=5, user_defined_symbols=SYMBOLS)


def test_words_include_symbols_that_the_text_lacks():
    encoder = WordEncoder(
        train_words([*LINES, "<BT> das"], vocab_size=8, user_defined_symbols=SYMBOLS)
    )
    assert encoder.words[3:5] == list(SYMBOLS)
    assert encoder.vocab_size == 8
    assert encoder.encode("<2de> <BT> Haus") == [4, 3, encoder.words.index("Haus")]
    assert encoder.encode("<2fr>") == [UNK_ID]


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        (("",), "'' is not a single word"),
        (("a b",), "'a b' is not a single word"),
        ((" a",), "' a' is not a single word"),
        (("▁a",), "'▁a' is not a single word"),
        (("<EOS>",), "'<EOS>' has a meaning of its own"),
        (("<0x0A>",), "'<0x0A>' has a meaning of its own"),
        (("<a>", "<b>", "<a>"), "'<a>' is given twice"),
    ],
)
def test_mistakes(symbols, message):
    with pytest.raises(UserError, match=f"user_defined_symbols: {message}"):
        GenerateOptions(user_defined_symbols=symbols)


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(UserError, match=r"'<pad>' has.*'x y' is not"):
        GenerateOptions(user_defined_symbols=("<pad>", "x y"))

import io
import random

import pytest
import sentencepiece
from hard_text import foreign_model, normalising_model

from t2t_phrase.config import UserError
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.whitespace import WHITESPACE, normalize_whitespace

SENTENCES = ["Ein Haus am See.", "A house at the lake.", "der Seehausbau geht voran"] * 3
AWKWARD = [
    "",
    "  \t ",
    " A man\u2028is\u00a0there.\t x\u3000 ",
    "\ufeffBOM, e\u0301 and é, ab\u200bc",
    "漢字 \U0001f600 zwei",
    "<EOS> <pad> <unk> <0x41>",
    "a\x00b",
]


@pytest.fixture(scope="module")
def encoder():
    return SubwordEncoder(train_subwords(SENTENCES, vocab_size=300))


def test_special_ids_are_those_of_t2t(encoder):
    assert encoder.pieces(range(4)) == ["<pad>", "<EOS>", "<unk>", "<0x00>"]
    assert encoder.vocab_size == 300


def test_whitespace_is_what_python_calls_space():
    assert {chr(code) for code in range(0x110000) if chr(code).isspace()} == set(
        map(chr, WHITESPACE)
    )


@pytest.mark.parametrize("text", [*AWKWARD, *SENTENCES[:3]])
def test_decoding_restores_all_but_blanks(encoder, text):
    ids = encoder.encode(text)
    assert encoder.decode(ids) == normalize_whitespace(text)
    assert not {0, 1, 2} & set(ids)


def test_batch_equals_single(encoder):
    assert encoder.encode_batch(AWKWARD) == [encoder.encode(text) for text in AWKWARD]


def test_decode_stops_at_eos_skips_pad_and_shows_the_unknown(encoder):
    ids = encoder.encode("Haus am See")
    assert encoder.decode([0, *ids, EOS_ID, *ids]) == "Haus am See"
    for beyond in (encoder.vocab_size, encoder.vocab_size + 7):
        assert encoder.decode([*ids, 2]) == encoder.decode([*ids, beyond])
    assert "⁇" in encoder.decode([2])


def test_training_depends_on_the_sentences_not_on_their_order():
    shuffled = random.Random(0).sample(SENTENCES, len(SENTENCES))
    assert train_subwords(SENTENCES, vocab_size=290) == train_subwords(shuffled, vocab_size=290)


def test_a_small_text_gives_a_small_vocabulary():
    assert SubwordEncoder(train_subwords(["ab ab"], vocab_size=5000)).vocab_size < 300


@pytest.mark.parametrize(
    ("sentences", "size", "message"),
    [(SENTENCES, 100, r"vocab_size=100 is too small.*at least 2\d\d"), ([], 300, "is empty")],
)
def test_impossible_vocabularies_are_explained(sentences, size, message):
    with pytest.raises(UserError, match=message):
        train_subwords(sentences, vocab_size=size)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), UserError("line 3 is not UTF-8")])
def test_what_ends_the_sentences_is_not_hidden(error):
    def sentences():
        yield from SENTENCES
        raise error

    with pytest.raises(type(error)) as caught:
        train_subwords(sentences(), vocab_size=300)
    assert caught.value is error


def test_foreign_special_ids_are_refused():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        vocab_size=40,
        model_type="bpe",
        minloglevel=2,
    )
    with pytest.raises(UserError, match="pad, EOS and unk at"):
        SubwordEncoder(model.getvalue())


def test_models_that_would_lose_characters_are_refused():
    with pytest.raises(UserError, match=r"no pieces for single bytes.*byte_fallback=True"):
        SubwordEncoder(foreign_model(SENTENCES))


def test_models_that_change_text_say_so():
    changing = SubwordEncoder(normalising_model(SENTENCES))
    assert changing.normalizer == "nmt_nfkc"
    assert changing.decode(changing.encode("½")) == "1⁄2"
    same = foreign_model(SENTENCES, byte_fallback=True, normalization_rule_name="identity")
    assert SubwordEncoder(same).normalizer == ""
    assert SubwordEncoder(train_subwords(SENTENCES, vocab_size=290)).normalizer == ""

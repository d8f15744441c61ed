import pytest

from t2t_phrase.config import UserError
from t2t_phrase.text.encoders import SpellingEncoder, load_encoder, make_encoder
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.words.encoder import WordEncoder


def test_the_vocabulary_of_a_file(tmp_path):
    model_bytes = train_subwords(["Ein Haus am See."], vocab_size=300)
    (tmp_path / "good").write_bytes(model_bytes)
    assert load_encoder(tmp_path / "good").model_bytes == model_bytes


@pytest.mark.parametrize("quote", ["'", '"', ""])
@pytest.mark.parametrize("end", ["", "_"])
def test_subwords_of_tensor2tensor(quote, end):
    pieces = [f"<pad>{end}", f"<EOS>{end}", *"the_\\u;0123456789"]
    model_bytes = "".join(f"{quote}{piece}{quote}\n" for piece in pieces).encode()
    encoder = make_encoder(model_bytes)
    assert isinstance(encoder, T2TSubwords) and encoder.model_bytes == model_bytes
    assert encoder.encode_batch(["the", "e t"]) == [[2, 3, 4, 5], [4, 5, 2, 5]]
    assert make_encoder(T2TSubwords(pieces).model_bytes).encode("the") == encoder.encode("the")
    assert not isinstance(encoder, SpellingEncoder)


def test_words_are_no_subwords_of_tensor2tensor():
    assert isinstance(make_encoder(b"<pad>\n<EOS>\n<unk>\nthe\n"), WordEncoder)


def test_a_file_without_a_vocabulary_is_named(tmp_path):
    with pytest.raises(UserError, match=r"cannot read the vocabulary .*absent: No such file"):
        load_encoder(tmp_path / "absent")
    (tmp_path / "junk").write_bytes(b"junk")
    with pytest.raises(UserError, match=r"junk: the vocabulary is not a SentencePiece model"):
        load_encoder(tmp_path / "junk")

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.text.encoders import load_encoder
from t2t_phrase.text.subwords.training import train_subwords


def test_the_vocabulary_of_a_file(tmp_path):
    model_bytes = train_subwords(["Ein Haus am See."], vocab_size=300)
    (tmp_path / "good").write_bytes(model_bytes)
    assert load_encoder(tmp_path / "good").model_bytes == model_bytes


def test_a_file_without_a_vocabulary_is_named(tmp_path):
    with pytest.raises(UserError, match=r"cannot read the vocabulary .*absent: No such file"):
        load_encoder(tmp_path / "absent")
    (tmp_path / "junk").write_bytes(b"junk")
    with pytest.raises(UserError, match=r"junk: the vocabulary is not a SentencePiece model"):
        load_encoder(tmp_path / "junk")

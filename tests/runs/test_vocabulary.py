import pytest
from toy_run import WORDS

from t2t_phrase.config import UserError
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.vocabulary import check_vocabularies, checksums
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.vocabularies import Vocabularies

SOURCE, TARGET = (
    SubwordEncoder(train_subwords(words, vocab_size=290)) for words in (WORDS, WORDS[:3])
)
JOINT, TWO = Vocabularies(SOURCE, SOURCE), Vocabularies(SOURCE, TARGET)


def record(vocabularies, **changes):
    source, target = checksums(vocabularies)
    values = {
        "problem": "p",
        "model": "m",
        "hparams_set": "s",
        "overrides": "",
        "hparams": {},
        "vocab_size": 296,
        "vocabulary": source,
        "target_vocab_size": None if vocabularies.shared else 296,
        "target_vocabulary": target,
        "random_seed": 0,
    }
    return RunRecord(**{**values, **changes})


@pytest.mark.parametrize("vocabularies", [JOINT, TWO])
def test_those_of_the_training_pass(vocabularies):
    check_vocabularies(vocabularies, record(vocabularies), "x")


def test_others_are_refused():
    with pytest.raises(UserError, match=r"x has a vocabulary for each .* trained with one"):
        check_vocabularies(TWO, record(JOINT), "x")
    with pytest.raises(UserError, match=r"x has one vocabulary for both .* trained with a "):
        check_vocabularies(JOINT, record(TWO), "x")
    with pytest.raises(UserError, match=r"vocabulary of x is not the one .* \(its checksum"):
        check_vocabularies(TWO.reversed, record(TWO), "x")
    with pytest.raises(UserError, match="the model only 8: it was trained on other data"):
        check_vocabularies(TWO, record(TWO, target_vocab_size=8), "x")

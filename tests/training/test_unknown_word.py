import pytest
from t2t_pieces import t2t_subwords

from t2t_phrase.config import UserError
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.text.vocabularies import Vocabularies
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words
from t2t_phrase.training.unknown_word import check_word_dropout


def test_words_are_only_dropped_where_there_is_an_unknown_word():
    ours, theirs = WordEncoder(train_words(["a"], vocab_size=4)), t2t_subwords()
    source = TransformerHParams(source_word_dropout=0.1)
    target = TransformerHParams(target_word_dropout=0.2)
    check_word_dropout(TransformerHParams(), Vocabularies(theirs, theirs))
    check_word_dropout(source, Vocabularies(ours, theirs))
    check_word_dropout(target, Vocabularies(theirs, ours))
    with pytest.raises(UserError, match=r"source_word_dropout=0\.1: .*--hparams=source_word_drop"):
        check_word_dropout(source, Vocabularies(theirs, ours))
    with pytest.raises(UserError, match=r"target_word_dropout=0\.2: .* no unknown word"):
        check_word_dropout(target, Vocabularies(ours, theirs))

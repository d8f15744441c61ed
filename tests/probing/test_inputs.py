import pytest
from toy_run import WORDS

from t2t_phrase.config import UserError
from t2t_phrase.features import LEVELS, PHRASES, Feature
from t2t_phrase.probing.corpus import make_corpus
from t2t_phrase.probing.inputs import encoder_inputs
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords

TREE = "(ROOT (S (NP (DT the) (NN house)) (VP (VBZ is) (ADJP (JJ old))) (. .)))"
TEXT = "the house is old."


@pytest.fixture(scope="module")
def encoder():
    return SubwordEncoder(train_subwords([" ".join(WORDS)] * 5, vocab_size=300))


def given(encoder, *features, **options):
    corpus = make_corpus([("", ""), (TREE, TEXT)], [], name="f.trees")
    sentences = [sentence for split in corpus.splits.values() for sentence in split]
    return encoder_inputs(sentences, encoder, features, name="f.trees", **options)


def test_words_are_at_their_first_tokens(encoder):
    inputs = given(encoder)
    (ids,), (words,) = inputs.side.ids, inputs.words
    assert ids[-1] == 1 and inputs.side.features == {}
    begins = [encoder.pieces([ids[at]])[0] for at in words]
    assert [piece.lstrip("▁")[:1] for piece in begins[:4]] in (["t", "h", "i", "o"], [*"thio"])
    assert words == sorted(set(words)) and len(words) == 5


def test_models_get_the_features_that_they_read_and_no_labels(encoder):
    assert set(given(encoder, LEVELS).side.features) == {"levels"}
    assert set(given(encoder, PHRASES, LEVELS).side.features) == {"phrases", "levels"}
    # The labels of the tree make no difference.
    corpus = make_corpus([(TREE.replace("NP", "X").replace("NN", "Y"), TEXT)], [], name="f")
    (sentence,) = (sentence for split in corpus.splits.values() for sentence in split)
    other = encoder_inputs([sentence], encoder, [LEVELS], name="f")
    assert other.side.features == given(encoder, LEVELS).side.features


def test_features_come_from_files_by_line(encoder):
    cases = Feature(name="cases", stream="cases")
    inputs = given(encoder, cases, files={"cases": ["9", "1 2 3 4"]})
    assert inputs.side.features["cases"][0][-1] == 0
    assert set(inputs.side.features["cases"][0]) == {0, 1, 2, 3, 4}
    flat = "(S (A the) (A house) (A is) (A old.))"
    own = given(encoder, LEVELS, files={"levels": ["", flat]})
    assert own.side.features != given(encoder, LEVELS).side.features
    with pytest.raises(UserError, match=r"f\.trees:2: 3 integers for the 4 words"):
        given(encoder, cases, files={"cases": ["9", "1 2 3"]})

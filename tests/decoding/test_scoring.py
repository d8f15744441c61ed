import numpy as np
import pytest
from reference_transformer import ReferenceTransformer

from t2t_phrase import registry
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.text.vocabularies import Vocabularies

LETTERS = "abcdefghij"


class Letters:
    def encode(self, text):
        return [2 + LETTERS.index(letter) for letter in text]

    def decode(self, ids):
        ids = list(ids)
        return "".join(LETTERS[i - 2] for i in (ids[: ids.index(1)] if 1 in ids else ids) if i)


LETTER_IDS = Vocabularies(Letters(), Letters())


@pytest.fixture(scope="module")
def model():
    registry.discover()
    hparams = registry.hparams["transformer_tiny"]().replace(
        num_hidden_layers=1, hidden_size=16, filter_size=16, num_heads=2
    )
    model = registry.models["transformer"].from_hparams(hparams, vocab_size=12)
    draw = np.random.default_rng(0)
    for variable in model.trainable_variables:
        variable.assign((variable.name == "gamma") + 0.2 * draw.normal(size=variable.shape))
    return model


def test_scores_are_sums_of_log_probabilities(model):
    weights = {
        v.path.partition("/")[2]: np.asarray(v, "float64") for v in model.trainable_variables
    }
    reference = ReferenceTransformer(weights, num_heads=2)
    pairs = [("abc", "cb"), ("", "a"), ("hgf", ""), ("abcdefghi", "ihgfedcba"), ("d", "d")]
    expected = []
    for source, target in pairs:
        source_ids, ids = ([*Letters().encode(text), 1] for text in (source, target))
        expected.append(
            sum(reference.step_log_probs(source_ids, ids[:i])[t] for i, t in enumerate(ids))
        )
    # Batches of 16 tokens: several of them, filled up with padding.
    found = Scorer(model, LETTER_IDS, batch_size=16).score(pairs)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_the_score_of_a_translation_is_that_of_the_search(model):
    options = DecodeHParams(beam_size=3, alpha=0.0, extra_length=4, return_beams=True)
    sources = ["abc", "hi", "ggggg", "bcdefa"]
    translations = Translator(model, LETTER_IDS, options).translate(sources)
    scorer = Scorer(model, LETTER_IDS)
    compared = 0
    for source, found in zip(sources, translations, strict=True):
        # A translation cut at its longest length has no EOS; one with a pad inside has no text.
        ended = [h for h in found if h.tokens == len(h.text) + 1 < len(source) + 5]
        scores = scorer.score([(source, h.text) for h in ended])
        np.testing.assert_allclose(scores, [h.score for h in ended], rtol=1e-4)
        compared += len(ended)
    assert compared >= 4


def test_what_is_too_long_is_cut(model):
    scorer = Scorer(model, LETTER_IDS, max_input_size=4)
    pairs = [("abcdef", "b"), ("a", "ghijab"), ("abc", "def")]
    source, target = scorer.encode(pairs)
    assert (source.cut, target.cut, target.lengths) == ([0], [1], [2, 7, 4])
    cut = [("abc", "b"), ("a", "ghi"), ("abc", "def")]
    np.testing.assert_allclose(scorer.score(pairs), Scorer(model, LETTER_IDS).score(cut), rtol=1e-4)


def test_progress_and_no_pairs(model):
    told = []
    scorer = Scorer(model, LETTER_IDS, batch_size=8)
    assert scorer.score([], progress=told.append) == []
    assert told == []
    scorer.score([("a", "b")] * 3, progress=told.append)
    assert told[-1] == 3

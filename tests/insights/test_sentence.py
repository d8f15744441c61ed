import pytest
from explained_models import SOURCE, TARGET, explainer, texts_of, vocabularies

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.insights.sentence import sentence_attention


def attention(name, target=TARGET, **texts):
    given = {feature: [text] for feature, text in texts.items()}
    return sentence_attention(explainer(name).model, vocabularies(), SOURCE, target, texts=given)


def test_features_are_those_of_the_model():
    with pytest.raises(UserError, match="reads no feature 'level' here; did you mean levels"):
        attention("levels and tags", level="x")
    with pytest.raises(UserError, match="reads the source feature 'levels': give its text"):
        attention("levels and tags")
    with pytest.raises(UserError, match="reads the target feature 'alignment': give its text"):
        attention("alignment head")
    assert attention("levels and tags", **texts_of("levels and tags")).text == TARGET


def test_without_a_target_its_features_are_not_asked_for():
    with pytest.raises(UserError, match="give the target"):
        attention("alignment head", target=None)


@pytest.mark.parametrize(
    "options",
    [
        "beam_size=2,max_length=6,max_input_size=2",
        "sampling_temp=1,num_samples=3,mbr=true,random_seed=5,max_length=6",
    ],
)
def test_the_translation_that_is_drawn_is_the_decoders(options):
    model, hparams = explainer("transformer").model, DecodeHParams().override(options)
    found = sentence_attention(model, vocabularies(), SOURCE, hparams=hparams)
    ((wanted, *_),) = Translator(model, vocabularies(), hparams).translate([SOURCE])
    assert (found.text, len(found.target)) == (wanted.text, wanted.tokens)
    limited = bool(hparams.max_input_size == 2)
    assert (len(found.source) == 2) == limited
    assert [note.startswith("source cut to 2 of ") for note in found.notes] == [True] * limited


def test_given_translations_are_cut_and_empty_sources_have_empty_ones():
    model, hparams = explainer("transformer").model, DecodeHParams(max_input_size=3)
    found = sentence_attention(model, vocabularies(), SOURCE, TARGET, hparams=hparams)
    assert (len(found.source), len(found.target)) == (3, 3)
    assert [note.split()[0] for note in found.notes] == ["source", "target"]
    found = sentence_attention(model, vocabularies(), "")
    assert ([token.text for token in found.target], found.text) == (["<EOS>"], "")

import pytest
from explained_models import SOURCE, TARGET, explainer, texts_of, vocabularies

from t2t_phrase.config import UserError
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

from explained_models import explainer, vocabularies

from t2t_phrase.api.alignment_search import Searched
from t2t_phrase.api.sentence_viewer import explained_model
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.runs.load_model import TrainedModel
from t2t_phrase.runs.record import RunRecord


def trained(model, hparams_set):
    record = RunRecord(
        problem="",
        model="m",
        hparams_set=hparams_set,
        overrides="",
        hparams={},
        vocab_size=1,
        vocabulary="",
        random_seed=1,
    )
    return TrainedModel(model, record, f"{hparams_set}/model.ckpt-1", 1)


def test_the_page_searches_with_the_models_of_the_service():
    toy = explainer("pair")
    pair = toy.model
    used = Searched(pair, toy._make_expansion, trained(pair.alignment, "jumps"))
    found = explained_model(
        trained(pair.lexical, "words"),
        vocabularies(),
        DecodeHParams(alignment_threshold=0.1),
        used=used,
    )
    assert found.explainer.model is pair and found.explainer.translates
    assert found.explainer.hparams.alignment_threshold == 0.1
    assert found.card.about == "words, step 1, with jumps, step 1"
    alone = Searched(explainer("transformer").model)
    found = explained_model(
        trained(alone.model, "words"), vocabularies(), DecodeHParams(), used=alone
    )
    assert found.explainer.model is alone.model and found.card.about == "words, step 1"

"""CTranslate2 translates with an exported model as we do."""

import json
import sys

import numpy as np
import pytest
from toy_run import call, make_toy_run

from t2t_phrase.bin import exporter
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.ctranslate2_model import cannot_export, export_ctranslate2
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.special_ids import EOS_ID

ctranslate2 = pytest.importorskip("ctranslate2")

BEAMS, LONGEST = 3, 40
# Sentences of other words and lengths; CTranslate2 translates what is empty to what is empty.
LINES = ["the house is old", "dogs", "a cat sleeps in it while dogs run far away", "Ünknown 日本"]
MODELS = {
    "pre-norm, tied": {"shared_embedding_and_softmax_weights": True},
    "post-norm, untied": {"norm": "post", "num_encoder_layers": 2, "target_space_id": 3},
    "relative positions": {"max_relative_position": 2, "pos": "none"},
}


def decide(model):
    """Make the model sure of each token, and let some be EOS.

    Searches of two toolkits agree where one hypothesis is far better than all others.
    """
    rows = np.array(model.softmax.kernel)
    rows[EOS_ID] *= -3
    model.softmax.kernel.assign(rows)
    last = model.decoder_norm or model.decoder_layers[-1].feed_forward_residual.normalize
    last.gamma.assign(10 * np.array(last.gamma))


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def exported(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    toy = make_toy_run(folder, **request.param)
    decide(toy.model)
    version = export_ctranslate2(toy.model, toy.vocabularies, folder / "export")
    translator = ctranslate2.Translator(str(version), device="cpu", intra_threads=1)
    return toy, version, translator


def tokens_of(toy, texts):
    return [toy.encoder.pieces(toy.encoder.encode(text)) for text in texts]


def test_translations_are_ours(exported):
    toy, folder, translator = exported
    ids = {t: i for i, t in enumerate(json.loads((folder / "shared_vocabulary.json").read_text()))}
    options = DecodeHParams(beam_size=BEAMS, alpha=0.0, extra_length=LONGEST)
    own = [found[0] for found in Translator(toy.model, toy.vocabularies, options).translate(LINES)]
    found = translator.translate_batch(
        tokens_of(toy, LINES),
        beam_size=BEAMS,
        length_penalty=0,
        min_decoding_length=0,
        max_decoding_length=LONGEST,
        return_scores=True,
    )
    # The two searches treat what has no end differently.
    ended = [i for i, result in enumerate(found) if len(result.hypotheses[0]) < LONGEST]
    assert ended
    for i in ended:
        text = toy.encoder.decode(ids[token] for token in found[i].hypotheses[0])
        assert " ".join(text.split()) == own[i].text
        assert found[i].scores[0] == pytest.approx(own[i].score, abs=1e-3)


def test_scores_are_ours(exported):
    toy, _, translator = exported
    pairs = list(zip(LINES, reversed(LINES), strict=True))
    expected = Scorer(toy.model, toy.vocabularies).score(pairs)
    found = translator.score_batch(*(tokens_of(toy, side) for side in zip(*pairs, strict=True)))
    sums = [sum(result.log_probs) for result in found]
    np.testing.assert_allclose(sums, expected, rtol=1e-4)


def test_the_command_writes_vocabularies_and_facts(tmp_path, capsys):
    toy = make_toy_run(tmp_path)
    call(exporter, *toy.flags, "--format=ctranslate2")
    folder = toy.output_dir / "ctranslate2" / "1"
    assert capsys.readouterr().out == f"exported to {folder}\n"
    assert (folder / "vocabulary.model").read_bytes() == toy.encoder.model_bytes
    about = json.loads((folder / "export.json").read_text())
    assert about["step"] == 30 and about["problem"] == "translate_toy"
    vocabulary = json.loads((folder / "shared_vocabulary.json").read_text())
    size = toy.encoder.vocab_size
    assert vocabulary[:size] == toy.encoder.pieces(range(size))
    assert vocabulary[size:] == [f"<unused {i}>" for i in range(size, toy.model.vocab_size)]
    for flag, reason in (
        ("--decode_hparams=beam_size=2", "stores no search options"),
        ("--dtype_policy=mixed_bfloat16", "holds float32; choose"),
        ("--alignment_model_dir=x", "has no search with a second model"),
    ):
        with pytest.raises(UserError, match=reason):
            call(exporter, *toy.flags, "--format=ctranslate2", flag)


def test_other_models_are_refused(tmp_path):
    toy = make_toy_run(tmp_path, hparams_set="phrase_heterogeneous_convkv_1_2", num_heads=2)
    with pytest.raises(UserError, match=r"^--format=ctranslate2: CTranslate2 runs plain Transf"):
        export_ctranslate2(toy.model, toy.vocabularies, tmp_path / "export")
    both = TransformerHParams(hidden_size=8, num_hidden_layers=1, max_relative_position=2)
    jumps = make_toy_run(
        tmp_path / "jumps",
        hparams_set="alignment_model_demo",
        shared_embedding_and_softmax_weights=True,
    )
    with pytest.raises(UserError, match=r"predicts positions.*; only a SavedModel holds such a"):
        export_ctranslate2(jumps.model, jumps.vocabularies, tmp_path / "export")
    assert "pos=timing, and relative ones, max_relative_position=2" in cannot_export(
        Transformer(both, 8)
    )
    assert not (tmp_path / "export").exists()


def test_the_package_is_named_where_it_is_missing(tmp_path, monkeypatch):
    toy = make_toy_run(tmp_path)
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(UserError, match=r"pip install 't2t_phrase\[ctranslate2\]'$"):
        export_ctranslate2(toy.model, toy.vocabularies, tmp_path / "export")

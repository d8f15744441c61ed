"""Every signature of every family answers any request, row by row as if it were alone."""

import numpy as np
import pytest
import tensorflow as tf
from lstm_model import ToyLstmHParams
from mostly_slow import mostly_slow
from random_weights import randomize
from small_phrase_models import KINDS, MIXED, PARSED, REPRESENTATIONS, SMALL
from toy_run import WORDS

from t2t_phrase import registry
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.export.graph_side import BYTES_PER_TOKEN
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

LIMIT = 16
MOST = BYTES_PER_TOKEN * LIMIT
HARD = [
    b"the house",
    b"",
    b" \t\xe3\x80\x80\xc2\xa0 ",
    b"\xff\xfe the \xc3 cat \xed\xa0\x80",
    b"a\0b \x01\x1b \x7f\r\n",
    b"the " * (LIMIT - 1),
    b"the " * LIMIT,
    b"x" * (MOST + 1),
    "\u00e9".encode() * MOST,
    b" " * (MOST + 1) + b"dogs",
    b"\xe2\x96\x81",
]
ENTRIES = b"the\tcat\nhouse\t!dogs\n\tis\n"
MODELS = {
    "transformer": SMALL,
    "lstm": ToyLstmHParams(),
    **MIXED,
    **KINDS,
    **REPRESENTATIONS,
    "parsed": PARSED,
}
# The inputs of each signature besides the source, or what they begin with.
OTHERS = {
    "translate": [],
    "nbest": [],
    "score": [b""],
    "translate_with_dictionary": [ENTRIES],
    "translate_with_constraints": [ENTRIES, b""],
}
FAST = ("mixed",)


@pytest.fixture(scope="module")
def encoders():
    return {
        "subwords": SubwordEncoder(train_subwords(WORDS * 3, vocab_size=300)),
        "words": WordEncoder(train_words(WORDS, vocab_size=30)),
    }


@pytest.mark.parametrize("signature", mostly_slow(OTHERS, "translate", "score"))
@pytest.mark.parametrize(
    "name, vocabulary",
    [
        pytest.param("parsed", "words", marks=pytest.mark.slow),
        *(
            pytest.param(name, "subwords", marks=() if name in FAST else pytest.mark.slow)
            for name in MODELS
        ),
    ],
)
def test_any_request_is_answered(name, vocabulary, signature, encoders):
    registry.discover()
    hparams, encoder = MODELS[name], encoders[vocabulary]
    # The bytes that are no text make the same number of tokens here and in the graph.
    tokens = [len(encoder.encode(text.decode(errors="replace"))) + 1 for text in HARD]
    expected = [len(text) > MOST or n > LIMIT for text, n in zip(HARD, tokens, strict=True)]
    assert True in expected[:7]
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=304)
    randomize(model)
    options = DecodeHParams(beam_size=2, extra_length=3, max_length=6, max_input_size=LIMIT)
    module = ServingModule(model, encoder, encoder, options)
    extra = len(model.hparams.features)
    requests = ([], HARD[:1], HARD, *([text] for text in HARD[1:]))
    serve, others = getattr(module, signature), OTHERS[signature]
    if serve is None:
        pytest.skip(f"{name} has no {signature}")
    answers = []
    for request in requests:
        sources = tf.constant(request, tf.string)
        # The text is every other input, too, in part after what that input needs.
        between = [tf.constant([other + t for t in request], tf.string) for other in others]
        inputs = [sources, *between, *[sources] * extra]
        if signature == "score":
            inputs = [sources, *[sources] * extra, *between]
        answer = {key: value.numpy() for key, value in serve(*inputs).items()}
        assert {len(value) for value in answer.values()} == {len(request)}
        answers.append(answer)
    _, first, together, *alone = answers
    assert together["cut"].tolist() == expected
    for row, one in enumerate([first, *alone]):
        for key, value in one.items():
            if value.dtype.kind == "f":
                assert value[0] == pytest.approx(together[key][row], rel=1e-3, abs=1e-4)
            else:
                assert np.array_equal(value[0], together[key][row]), (key, HARD[row])
    for key in {"translation", "translations"} & set(together):
        for text in together[key].flatten():
            assert "\n" not in text.decode() and len(text) < 1000


@pytest.mark.slow
def test_no_input_is_read_without_end(encoders):
    registry.discover()
    encoder = encoders["subwords"]
    model = registry.models[SMALL.model].from_hparams(SMALL, vocab_size=304)
    randomize(model)
    options = DecodeHParams(beam_size=2, extra_length=3, max_length=6, max_input_size=LIMIT)
    module = ServingModule(model, encoder, encoder, options)
    text = b"the house " * 100_000
    # The line at the limit, of which only a part is read, is no entry.
    lines = [b"house\tcat", b"x\t" + b"a" * (MOST - 19), b"the\tdogs" + b"s" * 100, b"the\tcat"]
    assert len(b"\n".join(lines[:2])) < MOST < len(b"\n".join(lines[:3]))
    dictionary = b"\n".join(lines)
    guided = module.translate_with_dictionary([text], [dictionary])
    assert guided["cut"].numpy().tolist() == [True]
    assert guided["matched"].numpy().tolist() == [MOST // 10]
    required = module.translate_with_constraints([text], [dictionary], [b"the " * 100_000])
    assert required["matched"].numpy() == guided["matched"].numpy()
    assert not required["kept"].numpy().any()
    kept = module.translate_with_constraints([b"the house"], [b""], [b" " * 10_000 + b"the"])
    assert kept["kept"].numpy().all()

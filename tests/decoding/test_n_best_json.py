import json
import math

import numpy as np

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import NOTHING, Hypothesis
from t2t_phrase.decoding.n_best_json import to_json

FOUND = Hypothesis(
    "ein Haus",
    -0.51234567,
    3,
    links=((0, 1), (1, 0)),
    entries=2,
    cut=True,
    pieces=("▁ein", "▁Haus", "</s>"),
    log_probabilities=(-0.1, -0.2, -0.3),
)


def test_a_line_says_what_was_asked_for() -> None:
    plain = json.loads(to_json([FOUND], DecodeHParams()))
    assert plain == {
        "source_cut": False,
        "hypotheses": [{"text": "ein Haus", "score": -0.512346, "cut": True}],
    }
    options = DecodeHParams(token_probabilities=True, write_alignments=True)
    line = to_json([FOUND, FOUND], options, dictionary=True)
    assert "▁Haus" in line and "\n" not in line
    first, second = json.loads(line)["hypotheses"]
    assert first == second
    assert first["alignment"] == [[0, 1], [1, 0]] and first["entries_applied"] == 2
    assert first["tokens"] == ["▁ein", "▁Haus", "</s>"]
    np.testing.assert_allclose(first["probabilities"], np.exp([-0.1, -0.2, -0.3]), rtol=1e-5)
    np.testing.assert_allclose(first["confidence"], math.exp(-0.2), rtol=1e-5)


def test_an_empty_line_has_the_same_fields() -> None:
    options = DecodeHParams(token_probabilities=True)
    (nothing,) = json.loads(to_json([NOTHING], options))["hypotheses"]
    (something,) = json.loads(to_json([FOUND], options))["hypotheses"]
    assert nothing.keys() == something.keys()
    assert (nothing["text"], nothing["tokens"], nothing["confidence"]) == ("", [], None)


def test_a_source_that_was_cut_shows() -> None:
    found = Hypothesis("x", 0.0, source_cut=True)
    assert json.loads(to_json([found], DecodeHParams()))["source_cut"]

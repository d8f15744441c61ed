import base64
import json

import pytest

from t2t_phrase.serving.errors import RequestError
from t2t_phrase.serving.predict_format import PredictRequest, format_predict, parse_predict

INPUTS = {"serving_default": ("text",), "score": ("source", "target")}


def parse(body):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return parse_predict(data, INPUTS.__getitem__)


def b64(data):
    return {"b64": base64.b64encode(data).decode()}


ROWS = [(b"a",), ("\u00fc\0".encode(),)]
PAIRS = [(b"a", b"b"), (b"c", b"d")]


@pytest.mark.parametrize(
    "body, expected",
    [
        # The ways of TensorFlow Serving's documentation to write the same.
        ({"instances": [{"text": "a"}, {"text": "ü\0"}]}, ("serving_default", ROWS, True)),
        ({"instances": ["a", "ü\0"]}, ("serving_default", ROWS, True)),
        ({"instances": [b64(b"a"), b64("ü\0".encode())]}, ("serving_default", ROWS, True)),
        ({"instances": [{"text": "a"}, "ü\0"]}, ("serving_default", ROWS, True)),
        ({"inputs": {"text": ["a", "ü\0"]}}, ("serving_default", ROWS, False)),
        ({"inputs": ["a", "ü\0"]}, ("serving_default", ROWS, False)),
        ({"inputs": {"text": []}}, ("serving_default", [], False)),
        (
            {
                "signature_name": "score",
                "instances": [{"target": "b", "source": "a"}, {"source": "c", "target": "d"}],
            },
            ("score", PAIRS, True),
        ),
        (
            {"signature_name": "score", "inputs": {"target": ["b", "d"], "source": ["a", "c"]}},
            ("score", PAIRS, False),
        ),
        ({"instances": [b64(b"\xff\xfe")]}, ("serving_default", [(b"\xff\xfe",)], True)),
        ({"instances": ["a"], "other": 1, "signature_name": ""}, ("serving_default", [(b"a",)], 1)),
        (b'\xef\xbb\xbf{"instances": ["a"]}', ("serving_default", [(b"a",)], True)),
    ],
)
def test_requests(body, expected):
    assert tuple(parse(body)) == expected


@pytest.mark.parametrize(
    "body, message",
    [
        (b"", "the body is empty"),
        (b" \n", "the body is empty"),
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"instances": ["\xff"]}', "not valid UTF-8, at byte 16"),
        (rb'{"instances": ["\ud800"]}', "half of a character"),
        (b'{"instances": ["a"], "instances": ["b"]}', "'instances' twice"),
        (b'{"instances": [NaN]}', "NaN is not a JSON number"),
        ([], "must be a JSON object, got []"),
        ({}, 'the key "instances" or the key "inputs": one of them is missing'),
        ({"instances": ["a"], "inputs": ["a"]}, "give only one of them"),
        ({"instances": ["a"], "signature_name": 3}, "signature_name must be a string, got 3"),
        ({"instances": ["a"], "signature_name": []}, "signature_name must be a string, got []"),
        ({"instances": []}, "a list with at least one entry, got []"),
        ({"instances": "a"}, "a list with at least one entry, got 'a'"),
        ({"instances": [3]}, 'instances[0] must be a string or {"b64": "..."}, got 3'),
        ({"instances": ["a", None]}, "instances[1] must be a string"),
        ({"instances": [["a"]]}, "instances[0] must be a string"),
        ({"instances": [{"text": 3}]}, "instances[0].text must be a string"),
        ({"instances": [{"txt": "a"}]}, "the input text: text missing; 'txt' unknown"),
        ({"instances": [{"text": "a", "x": "b"}]}, "the input text: 'x' unknown"),
        ({"instances": [{"b64": "?"}]}, "instances[0].b64 is not valid base64"),
        ({"instances": [{"text": {"b64": "YQ"}}]}, "instances[0].text.b64 is not valid base64"),
        ({"instances": [{"b64": 3}]}, "instances[0] must be a string"),
        ({"inputs": "a"}, "inputs.text must be a list of strings, got 'a'"),
        ({"inputs": {"text": ["a", 3]}}, "inputs.text[1] must be a string"),
        ({"inputs": {}}, "inputs must have the input text: text missing"),
        ({"inputs": None}, "inputs.text must be a list of strings, got None"),
        ({"signature_name": "score", "instances": ["a"]}, "an object with the inputs source, t"),
        ({"signature_name": "score", "inputs": ["a"]}, "an object with the inputs source, target"),
        (
            {"signature_name": "score", "inputs": {"source": ["a"], "target": []}},
            "lists of the same length, got source: 1, target: 0",
        ),
    ],
)
def test_wrong_requests_are_answered_by_what_is_wrong(body, message):
    with pytest.raises(RequestError) as refused:
        parse(body)
    assert message in str(refused.value) and refused.value.status == 400
    assert len(str(refused.value)) < 300


OUTPUTS = {"translation": [b"A", b"\xff"], "scores": [[1.5, -2.0], [0.0, 1.0]]}


def test_answers_are_by_row_or_by_column():
    assert format_predict(PredictRequest("x", [], True), OUTPUTS) == {
        "predictions": [
            {"translation": "A", "scores": [1.5, -2.0]},
            {"translation": "\ufffd", "scores": [0.0, 1.0]},
        ]
    }
    assert format_predict(PredictRequest("x", [], False), OUTPUTS) == {
        "outputs": {"translation": ["A", "\ufffd"], "scores": [[1.5, -2.0], [0.0, 1.0]]}
    }


def test_the_name_of_a_single_output_is_left_out_and_bytes_are_base64():
    only = {"key_bytes": [b"\xff"]}
    assert format_predict(PredictRequest("x", [], True), only) == {"predictions": [{"b64": "/w=="}]}
    assert format_predict(PredictRequest("x", [], False), only) == {"outputs": [{"b64": "/w=="}]}

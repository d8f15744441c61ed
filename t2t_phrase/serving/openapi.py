"""The description of requests and answers on the page `/docs`."""

from __future__ import annotations

from typing import Any

_EXAMPLES = {
    "row format": {"value": {"instances": [{"text": "A house is old ."}]}},
    "all hypotheses": {
        "value": {"signature_name": "nbest", "instances": [{"text": "A house is old ."}]}
    },
    "scores of translations": {
        "value": {
            "signature_name": "score",
            "instances": [{"source": "A house .", "target": "Ein Haus ."}],
        }
    },
    "column format": {"value": {"inputs": {"text": ["A house .", "Dogs run ."]}}},
}
_REQUEST = {
    "type": "object",
    "description": 'The sentences, as "instances" or as "inputs".',
    "properties": {
        "signature_name": {"type": "string", "default": "serving_default"},
        "instances": {
            "type": "array",
            "description": "One entry for each sentence: an object with all inputs, or the value "
            'of the only input. Values are strings, or {"b64": "..."} for bytes.',
            "items": {},
        },
        "inputs": {"description": "One list of values for each input, or that of the only input."},
    },
}
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}}

PREDICT_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": _REQUEST, "examples": _EXAMPLES}},
    }
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return FastAPI's description of the errors of a request, by HTTP status."""
    return {
        status: {
            "description": _MEANINGS[status],
            "content": {"application/json": {"schema": _ERROR}},
        }
        for status in statuses
    }


_MEANINGS = {
    400: "The request is wrong; the message says where.",
    404: "There is no such model or version.",
    408: "The body did not arrive in time.",
    413: "The body is too large, or has too many sentences.",
    429: "Too many sentences are waiting; try again after `Retry-After` seconds.",
    500: "The sentences could not be searched.",
    503: "The server is shutting down.",
    504: "The search did not end in time.",
}

"""The HTTP interface: TensorFlow Serving's, plus health, metrics and pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

import t2t_phrase
from t2t_phrase.serving import openapi
from t2t_phrase.serving.draining import Draining
from t2t_phrase.serving.errors import RequestError
from t2t_phrase.serving.explained import ExplainedSentences
from t2t_phrase.serving.hparams import ServingHParams
from t2t_phrase.serving.metrics import CONTENT_TYPE, Metrics
from t2t_phrase.serving.page import form_page
from t2t_phrase.serving.prediction import Prediction, check_model
from t2t_phrase.serving.queue import BatchQueue
from t2t_phrase.serving.versions import Versions, find_version, status_of

_MODEL = "/v1/models/{name}"
_VERSION = "/v1/models/{name}/versions/{version}"
# After these, the rest of the body may still arrive, and would be taken for a request.
_CLOSING = (408, 413)


def make_application(
    name: str,
    versions: Versions,
    queue: BatchQueue,
    hparams: ServingHParams,
    metrics: Metrics,
    draining: Draining,
    explained: ExplainedSentences | None = None,
) -> FastAPI:
    """Return the application of one model.

    Args:
        name: the name of the model in addresses.
        versions: the versions of the model.
        queue: the queue in which sentences wait for the workers.
        hparams: limits and times.
        metrics: the metrics of the server.
        draining: whether the server is about to stop.
        explained: makes the page at `/`; None: the page is a form that translates.
    """
    app: FastAPI = FastAPIOffline(
        title=f"t2t_phrase: {name}",
        version=t2t_phrase.__version__,
        description="Translations, with the REST interface of TensorFlow Serving.",
    )
    prediction = Prediction(name, versions, queue, hparams, metrics)
    _add_errors(app)
    _add_predictions(app, prediction)
    _add_descriptions(app, name, versions)
    _add_state(app, metrics, draining)

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page(text: str = "") -> HTMLResponse:
        return HTMLResponse(form_page(name) if explained is None else await explained.answer(text))

    return app


def _add_predictions(app: FastAPI, prediction: Prediction) -> None:
    described: dict[str, Any] = {
        "openapi_extra": openapi.PREDICT_BODY,
        "responses": openapi.errors(400, 404, 408, 413, 429, 500, 504),
        "tags": ["TensorFlow Serving"],
    }

    @app.post(f"{_MODEL}:predict", summary="Translate or score", **described)
    async def predict(request: Request, name: str) -> Response:
        return _as_json(await prediction.answer(request, name, None))

    @app.post(f"{_VERSION}:predict", summary="Translate or score with one version", **described)
    async def predict_with(request: Request, name: str, version: str) -> Response:
        return _as_json(await prediction.answer(request, name, version))


def _add_descriptions(app: FastAPI, name: str, versions: Versions) -> None:
    described: dict[str, Any] = {"responses": openapi.errors(404), "tags": ["TensorFlow Serving"]}

    def metadata(given: str, version: str | None) -> Response:
        check_model(given, name)
        servable = find_version(versions, name, version)
        return _as_json(
            {
                "model_spec": {
                    "name": name,
                    "signature_name": "",
                    "version": str(servable.version),
                },
                "metadata": {"signature_def": {"signature_def": servable.metadata()}},
            }
        )

    def status(given: str, version: str | None) -> Response:
        check_model(given, name)
        return _as_json(status_of(versions, name, version))

    @app.get(f"{_MODEL}/metadata", summary="Signatures", **described)
    async def signatures(name: str) -> Response:
        return metadata(name, None)

    @app.get(f"{_VERSION}/metadata", summary="Signatures of one version", **described)
    async def signatures_of(name: str, version: str) -> Response:
        return metadata(name, version)

    @app.get(_MODEL, summary="State of all versions", **described)
    async def states(name: str) -> Response:
        return status(name, None)

    @app.get(_VERSION, summary="State of one version", **described)
    async def state_of(name: str, version: str) -> Response:
        return status(name, version)


def _add_state(app: FastAPI, metrics: Metrics, draining: Draining) -> None:
    @app.get("/healthz", summary="Whether the process is alive", tags=["state"])
    async def health() -> Response:
        return _as_json({"status": "ok"})

    @app.get(
        "/readyz",
        summary="Whether to send requests here",
        responses=openapi.errors(503),
        tags=["state"],
    )
    async def ready() -> Response:
        if draining.begun:
            raise RequestError(503, "the server is shutting down", {"Retry-After": "1"})
        return _as_json({"status": "ready"})

    @app.get("/metrics", summary="Metrics for Prometheus", tags=["state"])
    async def measured() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RequestError)
    async def refused(request: Request, error: RequestError) -> Response:
        del request
        closing = {"Connection": "close"} if error.status in _CLOSING else {}
        return _as_json({"error": str(error)}, error.status, {**error.headers, **closing})

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        place = f"{request.method} {request.url.path[:200]}"
        message = f"Malformed request: {place}; /docs lists the requests that are answered"
        return _as_json({"error": message}, error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        del request
        return _as_json({"error": f"the server failed ({type(error).__name__})"}, 500)


def _as_json(
    values: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    body = json.dumps(values, ensure_ascii=False).encode()
    return Response(body, status, headers=headers, media_type="application/json")

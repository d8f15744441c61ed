"""Answers requests for predictions: reads, queues, waits, writes."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from starlette.requests import Request

from t2t_phrase.serving.body import read_body
from t2t_phrase.serving.errors import RequestError
from t2t_phrase.serving.hparams import ServingHParams
from t2t_phrase.serving.metrics import Metrics
from t2t_phrase.serving.predict_format import Row, format_predict, parse_predict
from t2t_phrase.serving.queue import BatchQueue, Job, QueueFull
from t2t_phrase.serving.servable import Servable, Signature
from t2t_phrase.serving.versions import Versions, find_version


class Prediction:
    """Answers requests with the results of a queue.

    Args:
        name: the name of the model.
        versions: the versions of the model.
        queue: the queue in which sentences wait for the workers.
        hparams: limits and times.
        metrics: metrics that count each answer.
    """

    def __init__(
        self,
        name: str,
        versions: Versions,
        queue: BatchQueue,
        hparams: ServingHParams,
        metrics: Metrics,
    ) -> None:
        self._name, self._versions, self._queue = name, versions, queue
        self._hparams, self._metrics = hparams, metrics

    async def answer(self, request: Request, name: str, version: str | None) -> dict[str, Any]:
        """Return the answer to a request as JSON-ready values.

        Args:
            request: the request, with its body.
            name: the name of the model that the client asks for.
            version: the version of the model; None: the current one.

        Raises:
            RequestError: the request cannot be answered.
        """
        start = time.monotonic()
        status, signature = 500, ""
        try:
            hparams = self._hparams
            body = await read_body(
                request, most_bytes=hparams.max_body, seconds=hparams.read_timeout
            )
            check_model(name, self._name)
            servable = find_version(self._versions, name, version)
            asked = parse_predict(body, lambda known: servable.signature(known).inputs)
            signature = asked.signature
            found = servable.signature(signature)
            outputs = await self._searched(request, servable, found, asked.rows)
            status = 200
            return format_predict(asked, outputs)
        except RequestError as error:
            status = error.status
            raise
        finally:
            self._metrics.note_answer(signature, status, time.monotonic() - start)

    async def _searched(
        self, request: Request, servable: Servable, signature: Signature, rows: list[Row]
    ) -> dict[str, list[Any]]:
        """Return the values of each output, one for each row."""
        hparams = self._hparams
        if len(rows) > hparams.max_queue:
            raise RequestError(
                413,
                f"the request has {len(rows)} sentences; send at most {hparams.max_queue} at once",
            )
        job = Job((servable, signature), rows)
        try:
            self._queue.put(job)
        except QueueFull as full:
            raise RequestError(
                429,
                f"{len(self._queue)} sentences are already waiting; try again in "
                f"{full.retry_after} s",
                {"Retry-After": str(full.retry_after)},
            ) from None
        search, left = asyncio.wrap_future(job.future), asyncio.create_task(_gone(request))
        ends: set[asyncio.Future[Any]] = {search, left}
        try:
            done, _ = await asyncio.wait(
                ends, timeout=hparams.timeout, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            # Rows that still wait are then not searched, from this moment on.
            job.future.cancel()
            left.cancel()
        if search not in done:
            if left in done:
                raise RequestError(400, "the connection was closed before the search had ended")
            raise RequestError(
                504, f"the search did not end within {hparams.timeout:g} s; send fewer sentences"
            )
        try:
            results = search.result()
        except RequestError:
            raise
        # The worker has reported the error, whose text may show more than clients should see.
        except Exception as error:
            raise RequestError(
                500, f"the sentences could not be searched ({type(error).__name__})"
            ) from error
        return {name: [result[name] for result in results] for name in signature.outputs}


async def _gone(request: Request) -> None:
    """Wait until the client, whose request has been read, closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def check_model(given: str, name: str) -> None:
    """Check that a request asks for the model that is served.

    Raises:
        RequestError: 404, it asks for another model; 400, the given name is malformed.
    """
    if ":" in given:
        raise RequestError(400, f"Malformed request: {given[:80]}; use POST for predictions")
    if given != name:
        raise RequestError(
            404,
            f"Servable not found for request: Latest({given[:80]}); the model served is {name}",
        )

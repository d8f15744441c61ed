"""A model with its queue, its threads and the application in front of them."""

from __future__ import annotations

import os
from collections.abc import Callable

from fastapi import FastAPI

from t2t_phrase.export.staging import check_loadable
from t2t_phrase.io.files import expanded
from t2t_phrase.serving.application import make_application
from t2t_phrase.serving.draining import Draining
from t2t_phrase.serving.explained import ExplainedSentences
from t2t_phrase.serving.graph_servable import servable_of_saved_model
from t2t_phrase.serving.hparams import ServingHParams
from t2t_phrase.serving.metrics import Metrics
from t2t_phrase.serving.names import model_name
from t2t_phrase.serving.queue import BatchQueue
from t2t_phrase.serving.versions import Versions, WatchedVersions
from t2t_phrase.serving.workers import Workers


class Service:
    """Serves one model, without opening sockets.

    Args:
        name: the name of the model in addresses.
        versions: the versions of the model.
        hparams: limits and times.
        workers: how many batches are searched at the same time.
        connections: returns the number of open connections, for the metrics.
        page: maps a sentence to a page that explains its translation, see `ExplainedSentences`;
            None: the page at `/` only translates.

    Attributes:
        application: the ASGI application.
        draining: whether the server is about to stop.
        metrics: the metrics of the server.
    """

    def __init__(
        self,
        name: str,
        versions: Versions,
        hparams: ServingHParams,
        *,
        workers: int,
        connections: Callable[[], int] = lambda: 0,
        page: Callable[[str], str] | None = None,
    ) -> None:
        queue = BatchQueue(
            most_rows=hparams.max_batch_size,
            most_bytes=hparams.max_batch_bytes,
            patience=hparams.batch_wait_ms / 1000,
            capacity=hparams.max_queue,
        )
        self.draining = Draining()
        self.metrics = Metrics(lambda: len(queue), connections, lambda: versions.current.version)
        explained = page and ExplainedSentences(page, seconds=hparams.timeout)
        self.application = make_application(
            name, versions, queue, hparams, self.metrics, self.draining, explained
        )
        self._versions = versions
        self._workers = Workers(queue, workers, self.metrics.note_batch)

    def start(self) -> None:
        """Begin to search incoming sentences."""
        self._workers.start()

    def stop(self) -> None:
        """Finish the sentences that have arrived, and load no further version."""
        self._versions.stop()
        self._workers.stop()


def watched_exports(export_dir: str | os.PathLike[str], hparams: ServingHParams) -> Versions:
    """Return the latest version in a folder of exports, which is watched from now on.

    Args:
        export_dir: the folder.
        hparams: options, of which `watch_seconds` is read.

    Raises:
        UserError: there is no version that can be loaded.
    """
    folder = expanded(export_dir)
    check_loadable(folder)
    versions = WatchedVersions(folder, servable_of_saved_model)
    versions.watch(hparams.watch_seconds)
    return versions


def export_application(
    export_dir: str | os.PathLike[str],
    *,
    name: str | None = None,
    hparams: ServingHParams | None = None,
    workers: int = 1,
) -> FastAPI:
    """Return the application of exported versions, for any ASGI server, such as Ray Serve.

    Its threads run until the process ends.

    Args:
        export_dir: folder of the versions, which is watched.
        name: the name of the model in addresses; None: that of the folder or of its run.
        hparams: limits and times; those of connections are up to the server.
        workers: how many batches are searched at the same time.

    Raises:
        UserError: there is no version that can be loaded, or the name is wrong.
    """
    hparams = hparams or ServingHParams()
    versions = watched_exports(export_dir, hparams)
    service = Service(model_name(name, os.fspath(export_dir)), versions, hparams, workers=workers)
    service.start()
    return service.application

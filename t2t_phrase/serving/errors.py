"""Errors of requests that are not answered with a prediction, and the HTTP status of each."""

from __future__ import annotations

from collections.abc import Mapping


class RequestError(Exception):
    """A request is refused; the message goes to the client.

    Args:
        status: the HTTP status.
        message: one sentence.
        headers: further headers of the answer.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})

"""Reads the body of a request, within limits of size and time."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from t2t_phrase.serving.errors import RequestError

# Of a body that is too large, up to this many times the limit is read and dropped: a client that is
# still sending would not see the answer.
_DROPPED = 8


async def read_body(request: Request, *, most_bytes: int, seconds: float) -> bytes:
    """Return the body of a request.

    Args:
        request: the request.
        most_bytes: the greatest size of the body.
        seconds: the time in which the whole body must arrive.

    Raises:
        RequestError: 413, the body is too large; 408, it is too slow; 400, the client has gone.
    """
    too_large = RequestError(
        413, f"the body has more than {most_bytes} bytes; send the sentences in several requests"
    )
    announced = request.headers.get("content-length", "")
    waits = request.headers.get("expect", "").lower() == "100-continue"
    if announced.isdecimal() and int(announced) > most_bytes and waits:
        raise too_large
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= most_bytes:
                    chunks.append(chunk)
                elif size > _DROPPED * most_bytes:
                    break
    except TimeoutError:
        if size <= most_bytes:
            raise RequestError(
                408, f"the body of the request did not arrive within {seconds:g} s"
            ) from None
    except ClientDisconnect:
        raise RequestError(400, "the connection was closed before the body had arrived") from None
    if size > most_bytes:
        raise too_large
    return b"".join(chunks)

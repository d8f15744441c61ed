"""The page at `/` of a run, which translates and explains a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from t2t_phrase.serving.errors import RequestError

# The most characters of a sentence.
LONGEST = 1000
# The most sentences that wait or are being explained.
MOST_WAITING = 8


class ExplainedSentences:
    """Makes pages one after the other, apart from the queue of predictions.

    Args:
        page: maps a sentence to a page in HTML; "" to the page without a sentence.
        seconds: the longest time that a client waits.
    """

    def __init__(self, page: Callable[[str], str], *, seconds: float) -> None:
        self._page, self._seconds = page, seconds
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="explain")
        self._waiting = 0

    async def answer(self, text: str) -> str:
        """Return the page of a sentence.

        Raises:
            RequestError: 413, the text is too long; 429, too many wait; 504, it takes too long.
        """
        if len(text) > LONGEST:
            raise RequestError(413, f"the sentence has more than {LONGEST} characters")
        if self._waiting >= MOST_WAITING:
            raise RequestError(
                429, f"{self._waiting} sentences are waiting to be explained", {"Retry-After": "5"}
            )
        self._waiting += 1
        made = self._pool.submit(self._page, text)
        made.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(made), self._seconds)
        except TimeoutError:
            raise RequestError(
                504, f"the sentence was not explained within {self._seconds:g} s"
            ) from None

    def _done(self, made: object) -> None:
        del made
        self._waiting -= 1

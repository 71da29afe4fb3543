"""Answers that are kept, and asked for again with their ETag."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import httpx

#: Headers about the bytes of an answer as they were sent.
_OF_BYTES = ("content-length", "content-encoding", "transfer-encoding")


class AnswerCache:
    """The answers with an ETag that were used last, by address, up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        if most_bytes < 0:
            raise ValueError(f"cache_bytes: expected 0 or more, got {most_bytes}")
        self._most_bytes = most_bytes
        self._bytes = 0
        self._answers: OrderedDict[str, httpx.Response] = OrderedDict()
        # A client may be used by several threads.
        self._lock = Lock()

    def ask(self, request: httpx.Request) -> httpx.Response | None:
        """Asks for an answer only if it is another one than that which is kept. Returns this; None = there is none."""
        with self._lock:
            kept = self._answers.get(str(request.url)) if request.method == "GET" else None
        if kept is not None:
            request.headers["If-None-Match"] = kept.headers["ETag"]
        return kept

    def whole(self, response: httpx.Response, kept: httpx.Response | None) -> httpx.Response:
        """The answer with its content: that which was kept when it was asked for, if it is still the same."""
        request = response.request
        if response.status_code == 304 and kept is not None:
            headers = {**kept.headers, **response.headers}
            for name in _OF_BYTES:
                headers.pop(name, None)
            response = httpx.Response(200, headers=headers, content=kept.content, request=request)
        if request.method == "GET" and response.status_code == 200 and "ETag" in response.headers:
            self._keep(str(request.url), response)
        return response

    def _keep(self, address: str, response: httpx.Response) -> None:
        with self._lock:
            self._drop(address)
            if len(response.content) > self._most_bytes:
                return
            self._answers[address] = response
            self._bytes += len(response.content)
            while self._bytes > self._most_bytes:
                self._drop(next(iter(self._answers)))

    def _drop(self, address: str) -> None:
        dropped = self._answers.pop(address, None)
        if dropped is not None:
            self._bytes -= len(dropped.content)

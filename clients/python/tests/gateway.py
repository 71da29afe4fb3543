"""A gateway that answers what a test says, without a network."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import httpx

from tapegraph import Client


def answer(data: Any, **meta: Any) -> httpx.Response:
    """A success."""
    return httpx.Response(200, json={"data": data, "meta": meta})


def failure(
    status: int, code: str = "internal", headers: dict[str, str] | None = None, **details: Any
) -> httpx.Response:
    """An error."""
    error = {"code": code, "message": "what was wrong", "details": details}
    return httpx.Response(status, json={"error": error}, headers=headers)


def events(*lines: str) -> httpx.Response:
    """A stream that ends after these lines."""
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content="\n".join(lines).encode())


class Gateway:
    """Answers one after the other. An exception is raised instead."""

    def __init__(self, *answers: httpx.Response | Exception, key: str | None = "key") -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.client = Client("http://gateway", key, transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        following = self.answers.pop(0)
        if isinstance(following, Exception):
            raise following
        return following


@contextmanager
def waits() -> Iterator[list[float]]:
    """The seconds that were waited, without waiting."""
    found: list[float] = []

    async def later(seconds: float) -> None:
        found.append(seconds)

    with mock.patch.object(time, "sleep", found.append), mock.patch.object(asyncio, "sleep", later):
        yield found

"""Live events of ``GET /v2/stream``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from .errors import ApiError, Unreachable, error_of
from .requests import LONGEST_WAIT, RETRIED, Call, Texts, failure_of, retry_after, text_of

#: Seconds of silence after which a connection is lost: the gateway sends a comment every 15.
SILENCE = 40.0
#: Failed connections in a row after which a stream raises :class:`Unreachable`.
MOST_FAILURES = 10


@dataclass(frozen=True)
class Event:
    """An event of a stream."""

    #: The kind of its topic, such as ``quotes``.
    kind: str
    data: dict[str, Any]
    #: Position of the stream after this event.
    id: str | None


class Decoder:
    """Reads events from the bytes of a stream."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Event]:
        """The events that are complete."""
        *blocks, self._rest = (self._rest + data).split(b"\n\n")
        return [event for block in blocks if (event := self._event(block)) is not None]

    @staticmethod
    def _event(block: bytes) -> Event | None:
        fields: dict[str, str] = {}
        # Only a line feed ends a line: JSON may contain other separators.
        for line in block.decode().split("\n"):
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        if "data" not in fields:
            return None
        return Event(fields.get("event", "message"), json.loads(fields["data"]), fields.get("id"))


class Resumption:
    """The state of a stream over its connections."""

    def __init__(self, topics: Texts, values: Mapping[str, Any]) -> None:
        params = {"topics": topics, **values}
        self._params = tuple((name, text_of(value)) for name, value in params.items() if value is not None)
        self._last_id: str | None = None
        # Connections in a row without an event.
        self._failures = 0
        self._cause: Exception | None = None
        self._asked = 0.0
        self.is_over = False

    def call(self) -> Call:
        """The request that continues after the last event. Raises after too many without one."""
        if self._failures >= MOST_FAILURES:
            if isinstance(self._cause, ApiError):
                raise self._cause
            raise Unreachable(f"the stream was lost {self._failures} times in a row: {self._cause!r}") from self._cause
        self._failures += 1
        resume = () if self._last_id is None else (("Last-Event-ID", self._last_id),)
        headers = (("Accept", "text/event-stream"), *resume)
        return Call("GET", "/v2/stream", params=self._params, headers=headers, silence=SILENCE)

    def take(self, event: Event) -> Event | None:
        """An event for the caller; None for one about the stream. Raises the error of an end that is final."""
        if event.id is not None:
            self._last_id = event.id
        if event.kind == "end":
            self._end(event.data)
        else:
            self._failures, self._asked = 0, 0.0
        return None if event.kind in ("ready", "end") else event

    def _end(self, data: dict[str, Any]) -> None:
        self.is_over = data["reason"] == "completed"
        if not self.is_over:
            error = dict(data["error"])
            self._cause = error_of(error.pop("code"), error.pop("message"), status=200, details=error)
            if data["reason"] == "not_entitled":
                raise self._cause

    def rejected(self, response: httpx.Response) -> None:
        """Takes an answer that is no stream. Raises its error, unless it says to come back."""
        self._cause = failure_of(response)
        self._asked = retry_after(response) or 0.0
        if response.status_code not in RETRIED or self._asked > LONGEST_WAIT:
            raise self._cause

    def lost(self, cause: httpx.TransportError) -> None:
        """Takes the loss of a connection."""
        self._cause = cause

    @property
    def wait(self) -> float:
        """Seconds until the next connection."""
        return max(self._asked, min(LONGEST_WAIT, 0.5 * 2.0**self._failures))

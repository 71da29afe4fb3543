"""Live events: of ``GET /v2/stream``, and of subscriptions of the graph."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx

from .answers import GraphAnswer
from .errors import ApiError, Unreachable, error_of
from .requests import LONGEST_WAIT, RETRIED, Call, Instant, Texts, failure_of, graph_call, retry_after, text_of

#: Seconds of silence after which a connection is lost: the gateway sends a comment every 15.
SILENCE = 40.0
#: Failed connections in a row after which a stream raises :class:`Unreachable`.
MOST_FAILURES = 10

T = TypeVar("T")


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
        return Event(fields.get("event", "message"), json.loads(fields["data"] or "{}"), fields.get("id"))


class Connections(Generic[T]):
    """The state of a stream over its connections."""

    def __init__(self) -> None:
        # Connections in a row without an event.
        self._failures = 0
        self._cause: Exception | None = None
        self._asked = 0.0
        self.is_over = False

    def _call(self) -> Call:
        """The request that continues after the last event."""
        raise NotImplementedError

    def take(self, event: Event) -> T | None:
        """An event for the caller; None for one about the stream. Raises the error of an end that is final."""
        raise NotImplementedError

    def call(self) -> Call:
        """The request of the next connection. Raises after too many without an event."""
        if self._failures >= MOST_FAILURES:
            if isinstance(self._cause, ApiError):
                raise self._cause
            raise Unreachable(f"the stream was lost {self._failures} times in a row: {self._cause!r}") from self._cause
        self._failures += 1
        return self._call()

    def _received(self) -> None:
        self._failures, self._asked = 0, 0.0

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


class Resumption(Connections[Event]):
    """A stream of topics, which resumes after its last event."""

    def __init__(self, topics: Texts, values: Mapping[str, Any]) -> None:
        super().__init__()
        params = {"topics": topics, **values}
        self._params = tuple((name, text_of(value)) for name, value in params.items() if value is not None)
        self._last_id: str | None = None

    def _call(self) -> Call:
        resume = () if self._last_id is None else (("Last-Event-ID", self._last_id),)
        headers = (("Accept", "text/event-stream"), *resume)
        return Call("GET", "/v2/stream", params=self._params, headers=headers, silence=SILENCE)

    def take(self, event: Event) -> Event | None:
        if event.id is not None:
            self._last_id = event.id
        if event.kind == "end":
            self._end(event.data)
        else:
            self._received()
        return None if event.kind in ("ready", "end") else event

    def _end(self, data: dict[str, Any]) -> None:
        self.is_over = data["reason"] == "completed"
        if not self.is_over:
            error = dict(data["error"])
            self._cause = error_of(error.pop("code"), error.pop("message"), status=200, details=error)
            if data["reason"] == "not_entitled":
                raise self._cause


#: Gives the time of a result's data, from which a subscription resumes.
Since = Callable[[dict[str, Any]], Instant]
#: Reasons of an end after which a subscription begins again.
PASSING = {"too_slow", "shutdown", "failed"}


class Subscription(Connections[GraphAnswer]):
    """A subscription of the graph on a connection of its own (graphql-sse, distinct connections)."""

    def __init__(
        self, document: str, variables: Mapping[str, Any] | None, operation: str | None, since: Since | None
    ) -> None:
        super().__init__()
        self._document, self._variables, self._operation = document, dict(variables or {}), operation
        self._since = since
        self._is_lost = False

    def _call(self) -> Call:
        self._is_lost = False
        call = graph_call(self._document, self._variables, self._operation)
        headers = (("Content-Type", "application/json"), ("Accept", "text/event-stream"))
        return Call(call.method, call.path, headers=headers, content=call.content, silence=SILENCE)

    def take(self, event: Event) -> GraphAnswer | None:
        if event.kind == "complete":
            # After the reason of an end that passes, the subscription begins again.
            self.is_over = not self._is_lost
        if event.kind != "next":
            return None
        data, errors = event.data.get("data"), event.data.get("errors") or []
        if data is None:
            self._failed(errors[0])
            return None
        self._received()
        if self._since is not None:
            self._variables["since"] = self._since(data)
        return GraphAnswer(data, errors, event.data.get("extensions", {}), None)

    def _failed(self, error: dict[str, Any]) -> None:
        details = dict(error.get("extensions", {}))
        code, reason = details.pop("code", "internal"), details.get("reason")
        self._cause = error_of(code, error["message"], status=200, details=details)
        if reason not in PASSING:
            raise self._cause
        self._is_lost = True

"""Requests: how values are written, and when a request is sent again."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Union
from urllib.parse import quote

import httpx

from .errors import ApiError, Unreachable, error_of

#: An instant: epoch ms, ``YYYY-MM-DD[THH:MM[:SS]]`` in the request's ``tz``, or a datetime.
Instant = Union[str, int, datetime, date]
#: A date, or ``YYYY-MM-DD``.
Day = Union[str, date]
#: One text, or several.
Texts = Union[str, Sequence[str]]

#: Longest wait between two attempts, seconds. An error that asks for more is raised at once.
LONGEST_WAIT = 30.0
#: Statuses after which a request that only reads is sent again.
RETRIED = {429, 502, 503, 504}


@dataclass(frozen=True, eq=False)
class Route:
    """A route: its address, and the rows of its answer."""

    method: str
    path: str
    query: tuple[str, ...]
    media: str | None = None
    #: Columns of the lists in its answer, by path; None = they are found in the answer.
    tables: Mapping[str, tuple[str, ...]] | None = None
    #: Columns with epoch ms.
    times: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """A request before it is sent."""

    method: str
    path: str
    params: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    #: True if it changes nothing, so that it can be sent again.
    reads: bool = False
    #: Seconds of silence after which the connection is lost; None = the client's.
    silence: float | None = None

    def request(self, http: httpx.Client | httpx.AsyncClient, url: str) -> httpx.Request:
        """The request of a client, to the gateway at ``url``."""
        return http.build_request(
            self.method,
            url + self.path,
            params=self.params,
            headers=dict(self.headers),
            content=self.content,
            timeout=http.timeout if self.silence is None else httpx.Timeout(10.0, read=self.silence),
        )


def text_of(value: Any) -> str:
    """A value as a parameter."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            return str(round(value.timestamp() * 1000))
        # A time without a zone is read in the request's tz.
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return json.dumps(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(map(text_of, value))
    return str(value)


def call_of(route: Route, values: Mapping[str, Any]) -> Call:
    """The request of a route with these parameters; None = not sent."""
    given = {name: text_of(value) for name, value in values.items() if value is not None and name != "body"}
    path = route.path
    for name in set(given) - set(route.query):
        path = path.replace(f"{{{name}}}", quote(given[name], safe=""))
    body = values.get("body")
    content = None if body is None else body if isinstance(body, (bytes, str)) else json.dumps(body)
    return Call(
        route.method,
        path,
        params=tuple((name, given[name]) for name in route.query if name in given),
        headers=(("Content-Type", route.media),) if route.media and content is not None else (),
        content=content.encode() if isinstance(content, str) else content,
        reads=route.method == "GET",
    )


def graph_call(document: str, variables: Mapping[str, Any], operation: str | None) -> Call:
    """The request of a document of the graph."""
    body = {"query": document, "variables": variables, **({} if operation is None else {"operationName": operation})}
    return Call(
        "POST",
        "/graphql",
        headers=(
            ("Content-Type", "application/json"),
            ("Accept", "application/graphql-response+json, application/json"),
        ),
        content=json.dumps(body, default=text_of).encode(),
        reads="mutation" not in document,
    )


def retry_after(response: httpx.Response) -> float | None:
    """Seconds after which to retry; None = not said."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdigit() else None


def failure_of(response: httpx.Response) -> ApiError:
    """The error in an answer. One that is not the gateway's, such as a proxy's page, has the code ``http_STATUS``."""
    try:
        body = response.json()
        error = body["error"] if "error" in body else {**body["errors"][0], **body["errors"][0]["extensions"]}
        code, message, details = error["code"], error["message"], error.get("details")
    except (ValueError, LookupError, TypeError):
        code, message, details = f"http_{response.status_code}", response.text[:200], None
    return error_of(
        code,
        message,
        status=response.status_code,
        details=details,
        request_id=response.headers.get("x-request-id"),
        retry_after=retry_after(response),
    )


Received = Union[httpx.Response, httpx.TransportError, None]
#: Steps of a request: a call to be sent, or seconds to wait. Each call is answered with what was received.
Steps = Generator[Union[Call, float], Received, httpx.Response]


def attempts(call: Call, retries: int) -> Steps:
    """Sends a call, again if it only reads and may succeed later. Raises the error of the last answer."""
    for attempt in range(retries + 1):
        received = yield call
        is_last = attempt == retries or not call.reads
        wait = 0.5 * 2**attempt
        if isinstance(received, httpx.Response):
            if received.is_success:
                return received
            wait = retry_after(received) or wait
            if is_last or received.status_code not in RETRIED or wait > LONGEST_WAIT:
                raise failure_of(received)
        elif is_last:
            raise Unreachable(f"{call.method} {call.path}: {received!r}") from received
        yield wait
    raise AssertionError("the last attempt returns or raises")

"""The clients: one that waits, and one to be awaited."""

from __future__ import annotations

import asyncio
import copy
import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, TypeVar

import httpx

from .answers import Answer, AsyncAnswer, GraphAnswer, Rate
from .cache import AnswerCache
from .errors import error_of
from .requests import Call, Instant, Received, Route, Steps, Texts, attempts, call_of, graph_call
from .routes import AsyncRoutes, Routes
from .streams import Connections, Decoder, Event, Resumption, Since, Subscription
from .version import VERSION

_Self = TypeVar("_Self", bound="_Base")
T = TypeVar("T")


def _values_of(route: Route, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters among the arguments of a route's method. A name that is a keyword has an underscore there."""
    return {name.rstrip("_"): value for name, value in arguments.items() if name != "self"}


class _Base:
    """What both clients are made of."""

    def __init__(self, url: str | None, key: str | None, retries: int, cache_bytes: int) -> None:
        self._url = (url or os.environ.get("TAPEGRAPH_URL") or "http://127.0.0.1:4000").rstrip("/")
        self._key = key or os.environ.get("TAPEGRAPH_KEY") or None
        self._retries = retries
        self._instant: dict[str, Any] = {}
        # Views share both.
        self._last_rate: list[Rate] = []
        self._cache = AnswerCache(cache_bytes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    @property
    def rate(self) -> Rate | None:
        """The caller's minute, as of the last answer; None = there was none."""
        return self._last_rate[-1] if self._last_rate else None

    def as_of(
        self: _Self, at: Instant | None = None, *, tz: str | None = None, known: Instant | None = None
    ) -> _Self:
        """A client that sends ``at``, ``tz`` and ``known`` with every request.

        It rejects routes that take no such parameter, and documents of the graph that declare no such variable: they
        would answer with the present.
        """
        given = {"at": at, "tz": tz, "known": known}
        if at is None and known is None:
            raise ValueError("as_of: give at or known")
        view = copy.copy(self)
        view._instant = {name: value for name, value in given.items() if value is not None}
        return view

    def _route_call(self, route: Route, values: Mapping[str, Any]) -> Call:
        for name in self._instant:
            if name != "tz" and name not in route.query:
                raise ValueError(f"{route.path} takes no {name}: send it with the client that as_of was called on")
        own = {name: value for name, value in self._instant.items() if name in route.query}
        return call_of(route, {**values, **{name: value for name, value in own.items() if values.get(name) is None}})

    def _other_route(self, method: str, path: str, values: Mapping[str, Any]) -> Route:
        """A route that this package has no method for, with the parameters that are sent."""
        names = [name for name in (*values, *self._instant) if name != "body" and f"{{{name}}}" not in path]
        return Route(method, path, query=tuple(dict.fromkeys(names)), media="application/json")

    def _require_past(self, path: str, meta: Mapping[str, Any]) -> None:
        """Raises if an answer is of the present although the client is a view of the past."""
        for name, echo in (("at", "at"), ("known", "known_at")):
            if name in self._instant and meta.get(echo) is None:
                raise ValueError(f"{path} takes no {name}: its answer does not repeat it")

    def _graph_call(self, document: str, variables: Mapping[str, Any] | None, operation: str | None) -> Call:
        for name in self._instant:
            if name != "tz" and not re.search(rf"\${name}\b", document):
                raise ValueError(f"the document declares no ${name}: wrap its fields in asOf({name}: ${name})")
        own = {name: value for name, value in self._instant.items() if re.search(rf"\${name}\b", document)}
        return graph_call(document, {**own, **(variables or {})}, operation)

    def _stream(self, topics: Texts, values: Mapping[str, Any]) -> Resumption:
        self._require_present()
        return Resumption(topics, values)

    def _subscription(
        self, document: str, variables: Mapping[str, Any] | None, operation: str | None, since: Since | None
    ) -> Subscription:
        self._require_present()
        return Subscription(document, variables, operation, since)

    def _require_present(self) -> None:
        if self._instant:
            raise ValueError("a stream is of the present: replay the past with from_ and to")

    def _options(self, timeout: float) -> dict[str, Any]:
        bearer = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        headers = {"User-Agent": f"tapegraph-python/{VERSION}", "Accept": "application/json", **bearer}
        return {"headers": headers, "timeout": timeout, "follow_redirects": False}

    def _received(self, response: httpx.Response) -> Rate | None:
        rate = Rate.of(response.headers)
        if rate is not None:
            self._last_rate[:] = [rate]
        return rate

    def _graph_answer(self, response: httpx.Response, partial: bool) -> GraphAnswer:
        body = response.json()
        errors = body.get("errors") or []
        if errors and not (partial and body.get("data") is not None):
            first = errors[0]
            code = first.get("extensions", {}).get("code", "internal")
            raise error_of(
                code,
                first["message"],
                status=response.status_code,
                details={"path": first.get("path"), "errors": errors},
                request_id=response.headers.get("x-request-id"),
                data=body.get("data"),
            )
        return GraphAnswer(body["data"], errors, body.get("extensions", {}), Rate.of(response.headers))


class Client(_Base, Routes):
    """A client of the gateway. Its methods are the routes, ``graph`` and ``stream``.

    ``url`` and ``key`` are by default those of the environment: ``TAPEGRAPH_URL`` and ``TAPEGRAPH_KEY``. Requests that
    only read are sent again, at most ``retries`` times, after 429, 502, 503, 504 and lost connections. With
    ``cache_bytes`` answers about the past stay in memory, up to this size, and are not sent again unless they changed.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 2,
        cache_bytes: int = 0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, retries, cache_bytes)
        self._http = httpx.Client(transport=transport, **self._options(timeout))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, of views too."""
        self._http.close()

    def graph(
        self,
        document: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        partial: bool = False,
    ) -> GraphAnswer:
        """Runs a document of the graph. Raises the first error, also of a single field, unless ``partial``."""
        response = self._run(attempts(self._graph_call(document, variables, operation), self._retries))
        return self._graph_answer(response, partial)

    def request(
        self, method: str, path: str, params: Mapping[str, Any] | None = None, body: Any = None
    ) -> Answer[Any]:
        """Calls a route that has no method here, such as one of the gateway's operator.

        ``{name}`` in the path is the parameter of that name; the others are the query. Its rows are found in its data.
        """
        values = {**(params or {}), "body": body}
        answer = self._call(self._other_route(method, path, values), values)
        self._require_past(path, answer.meta)
        return answer

    def stream(
        self,
        topics: Texts,
        *,
        since: Instant | None = None,
        from_: Instant | None = None,
        to: Instant | None = None,
        speed: float | None = None,
        tz: str | None = None,
    ) -> Iterator[Event]:
        """Events of topics such as ``quotes:SPY``. After a lost connection it resumes where it was.

        ``since`` sends the events after a time first. ``from_`` replays the past, with ``to`` and ``speed``.
        """
        return self._follow(self._stream(topics, {"since": since, "from": from_, "to": to, "speed": speed, "tz": tz}))

    def subscribe(
        self,
        document: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        since: Since | None = None,
    ) -> Iterator[GraphAnswer]:
        """Results of a subscription of the graph. Errors beside the data of a result are in its ``errors``.

        After a lost connection it begins again with the current state. With ``since``, which gives the time of a
        result's data, it continues after the last result: the document must declare ``$since``.
        """
        return self._follow(self._subscription(document, variables, operation, since))

    def _follow(self, state: Connections[T]) -> Iterator[T]:
        while not state.is_over:
            request = state.call().request(self._http, self._url)
            try:
                yield from self._events(request, state)
            except httpx.TransportError as error:
                state.lost(error)
            if not state.is_over:
                time.sleep(state.wait)

    def _events(self, request: httpx.Request, state: Connections[T]) -> Iterator[T]:
        response = self._http.send(request, stream=True)
        try:
            self._received(response)
            if not response.is_success:
                response.read()
                return state.rejected(response)
            decoder = Decoder()
            for data in response.iter_bytes():
                for event in decoder.feed(data):
                    if (taken := state.take(event)) is not None:
                        yield taken
        finally:
            response.close()

    def _run(self, steps: Steps) -> httpx.Response:
        received: Received = None
        while True:
            try:
                step = steps.send(received)
            except StopIteration as done:
                response: httpx.Response = done.value
                return response
            if isinstance(step, Call):
                received = self._send(step)
            else:
                time.sleep(step)
                received = None

    def _send(self, call: Call) -> Received:
        try:
            request = call.request(self._http, self._url)
            kept = self._cache.ask(request)
            response = self._http.send(request)
        except httpx.TransportError as error:
            return error
        self._received(response)
        return self._cache.whole(response, kept)

    def _call(self, route: Route, values: Mapping[str, Any]) -> Answer[Any]:
        sent = _values_of(route, values)
        response = self._run(attempts(self._route_call(route, sent), self._retries))
        body = response.json()

        def follow(cursor: str) -> Answer[Any]:
            return self._call(route, {**sent, "cursor": cursor})

        return Answer(body["data"], body["meta"], Rate.of(response.headers), route, follow)


class AsyncClient(_Base, AsyncRoutes):
    """The client for asyncio: as :class:`Client`, with methods to be awaited."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 2,
        cache_bytes: int = 0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, retries, cache_bytes)
        self._http = httpx.AsyncClient(transport=transport, **self._options(timeout))

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections, of views too."""
        await self._http.aclose()

    async def graph(
        self,
        document: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        partial: bool = False,
    ) -> GraphAnswer:
        """Runs a document of the graph: see :meth:`Client.graph`."""
        response = await self._run(attempts(self._graph_call(document, variables, operation), self._retries))
        return self._graph_answer(response, partial)

    async def request(
        self, method: str, path: str, params: Mapping[str, Any] | None = None, body: Any = None
    ) -> AsyncAnswer[Any]:
        """Calls a route that has no method here: see :meth:`Client.request`."""
        values = {**(params or {}), "body": body}
        answer = await self._call(self._other_route(method, path, values), values)
        self._require_past(path, answer.meta)
        return answer

    async def stream(
        self,
        topics: Texts,
        *,
        since: Instant | None = None,
        from_: Instant | None = None,
        to: Instant | None = None,
        speed: float | None = None,
        tz: str | None = None,
    ) -> AsyncIterator[Event]:
        """Events of topics: see :meth:`Client.stream`."""
        values = {"since": since, "from": from_, "to": to, "speed": speed, "tz": tz}
        async for event in self._follow(self._stream(topics, values)):
            yield event

    async def subscribe(
        self,
        document: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        since: Since | None = None,
    ) -> AsyncIterator[GraphAnswer]:
        """Results of a subscription: see :meth:`Client.subscribe`."""
        async for result in self._follow(self._subscription(document, variables, operation, since)):
            yield result

    async def _follow(self, state: Connections[T]) -> AsyncIterator[T]:
        while not state.is_over:
            request = state.call().request(self._http, self._url)
            try:
                async for event in self._events(request, state):
                    yield event
            except httpx.TransportError as error:
                state.lost(error)
            if not state.is_over:
                await asyncio.sleep(state.wait)

    async def _events(self, request: httpx.Request, state: Connections[T]) -> AsyncIterator[T]:
        response = await self._http.send(request, stream=True)
        try:
            self._received(response)
            if not response.is_success:
                await response.aread()
                state.rejected(response)
                return
            decoder = Decoder()
            async for data in response.aiter_bytes():
                for event in decoder.feed(data):
                    if (taken := state.take(event)) is not None:
                        yield taken
        finally:
            await response.aclose()

    async def _run(self, steps: Steps) -> httpx.Response:
        received: Received = None
        while True:
            try:
                step = steps.send(received)
            except StopIteration as done:
                response: httpx.Response = done.value
                return response
            if isinstance(step, Call):
                received = await self._send(step)
            else:
                await asyncio.sleep(step)
                received = None

    async def _send(self, call: Call) -> Received:
        try:
            request = call.request(self._http, self._url)
            kept = self._cache.ask(request)
            response = await self._http.send(request)
        except httpx.TransportError as error:
            return error
        self._received(response)
        return self._cache.whole(response, kept)

    async def _call(self, route: Route, values: Mapping[str, Any]) -> AsyncAnswer[Any]:
        sent = _values_of(route, values)
        response = await self._run(attempts(self._route_call(route, sent), self._retries))
        body = response.json()

        async def follow(cursor: str) -> AsyncAnswer[Any]:
            return await self._call(route, {**sent, "cursor": cursor})

        return AsyncAnswer(body["data"], body["meta"], Rate.of(response.headers), route, follow)

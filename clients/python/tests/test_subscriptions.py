"""Subscriptions of the graph: they begin again, and end when they are over."""

from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any

import httpx

from tapegraph import AsyncClient, NotEntitled, RateLimited

from .gateway import Gateway, events, failure, waits

DOCUMENT = "subscription($since: PointInTime) { bars(symbol: \"SPY\", since: $since) { tsMs close } }"
COMPLETE = ("event: complete", "data:", "", "")


def result(**answer: Any) -> tuple[str, ...]:
    return ("event: next", f"data: {json.dumps(answer)}", "")


def bar(number: int) -> tuple[str, ...]:
    return result(data={"bars": {"tsMs": number}})


def ended(reason: str, code: str = "internal") -> tuple[str, ...]:
    return result(errors=[{"message": "x", "extensions": {"code": code, "reason": reason}}])


def variables(request: httpx.Request) -> Any:
    return json.loads(request.content)["variables"]


class Subscriptions(unittest.TestCase):
    def test_one_is_sent_as_a_document_and_its_results_are_answers_of_the_graph(self) -> None:
        gateway = Gateway(events(": beat", "", *bar(1), *result(data={"bars": None}, errors=[{"message": "y"}]), *COMPLETE))
        found = list(gateway.client.subscribe(DOCUMENT, {"a": 1}, operation="Bars"))
        self.assertEqual([answer.data for answer in found], [{"bars": {"tsMs": 1}}, {"bars": None}])
        self.assertEqual([answer.errors for answer in found], [[], [{"message": "y"}]])
        self.assertEqual(found[0].rows("bars"), [{"tsMs": 1}])
        (request,) = gateway.requests
        self.assertEqual((request.method, request.url.path), ("POST", "/graphql"))
        self.assertEqual(request.headers["accept"], "text/event-stream")
        self.assertEqual(json.loads(request.content)["operationName"], "Bars")

    def test_after_a_lost_connection_it_continues_since_its_last_result(self) -> None:
        gateway = Gateway(
            events(*bar(1), *bar(2), "event: next"),
            httpx.ConnectError("refused"),
            failure(503, headers={"Retry-After": "3"}),
            events(*bar(3), *ended("shutdown"), *COMPLETE),
            events(*bar(4), *COMPLETE),
        )
        with waits() as waited:
            found = list(gateway.client.subscribe(DOCUMENT, since=lambda data: data["bars"]["tsMs"]))
        self.assertEqual([answer.data["bars"]["tsMs"] for answer in found], [1, 2, 3, 4])
        self.assertEqual([variables(request) for request in gateway.requests], [{}, *[{"since": 2}] * 3, {"since": 3}])
        self.assertEqual(waited, [0.5, 1.0, 3.0, 0.5])

    def test_without_a_time_it_begins_again_as_it_was_asked_for(self) -> None:
        gateway = Gateway(events(*bar(1), ""), events(*bar(1), *COMPLETE))
        with waits():
            self.assertEqual(len(list(gateway.client.subscribe(DOCUMENT, {"since": 0}))), 2)
        self.assertEqual([variables(request) for request in gateway.requests], [{"since": 0}] * 2)

    def test_lost_rights_and_a_rejected_document_are_raised(self) -> None:
        lost = events(*bar(1), *ended("not_entitled", "not_entitled_tier"), *COMPLETE)
        rejected = httpx.Response(403, json={"errors": [{"message": "x", "extensions": {"code": "not_entitled_tier"}}]})
        at_once = events(*result(errors=[{"message": "x", "extensions": {"code": "not_entitled_tier"}}]), *COMPLETE)
        for answered in (lost, rejected, at_once):
            gateway = Gateway(answered)
            with waits() as waited, self.assertRaises(NotEntitled):
                list(gateway.client.subscribe(DOCUMENT))
            self.assertEqual(waited, [])
        with self.assertRaises(RateLimited):
            list(Gateway(failure(429, "rate_limited", {"Retry-After": "60"})).client.subscribe(DOCUMENT))

    def test_a_view_of_the_past_has_none(self) -> None:
        with self.assertRaises(ValueError):
            list(Gateway().client.as_of("2026-11-20").subscribe(DOCUMENT))

    def test_the_other_client_does_the_same(self) -> None:
        gateway = Gateway(events(*bar(1), ""), events(*bar(2), *COMPLETE))

        async def read() -> list[int]:
            async with AsyncClient("http://gateway", "key", transport=httpx.MockTransport(gateway._answer)) as client:
                results = client.subscribe(DOCUMENT, since=lambda data: data["bars"]["tsMs"])
                return [answer.data["bars"]["tsMs"] async for answer in results]

        with waits():
            self.assertEqual(asyncio.run(read()), [1, 2])
        self.assertEqual(variables(gateway.requests[1]), {"since": 1})

"""Streams: they resume, and end when they are over."""

from __future__ import annotations

import unittest
from unittest import mock

import httpx

from tapegraph import NotEntitled, RateLimited, Unreachable, streams

from .gateway import Gateway, events, failure, waits

READY = ("event: ready", "id: t-0", 'data: {"topics":["quotes:SPY"]}', "")
SHUTDOWN = ("event: end", 'data: {"reason":"shutdown","error":{"code":"internal","message":"x"}}', "", "")
COMPLETED = ("event: end", 'data: {"reason":"completed","at":1}', "", "")


def quote(number: int) -> tuple[str, ...]:
    return ("event: quotes", f"id: t-{number}", f'data: {{"spot":{number}}}', "")


class Streams(unittest.TestCase):
    def test_a_lost_stream_goes_on_after_its_last_event(self) -> None:
        gateway = Gateway(
            events(*READY, ": beat", "", *quote(1), "event: quotes"),
            httpx.ConnectError("refused"),
            failure(503, headers={"Retry-After": "3"}),
            events(*READY, *quote(2), *SHUTDOWN),
            events(*quote(3), *COMPLETED),
        )
        with waits() as waited:
            found = list(gateway.client.stream(["quotes:SPY", "gex:SPY"], since=5))
        self.assertEqual([(event.kind, event.data, event.id) for event in found], [
            ("quotes", {"spot": number}, f"t-{number}") for number in (1, 2, 3)
        ])
        sent = [request.headers.get("last-event-id") for request in gateway.requests]
        self.assertEqual(sent, [None, "t-1", "t-1", "t-1", "t-2"])
        self.assertEqual(dict(gateway.requests[4].url.params), {"topics": "quotes:SPY,gex:SPY", "since": "5"})
        self.assertEqual(waited, [0.5, 1.0, 3.0, 0.5])

    def test_a_text_may_hold_what_some_take_for_the_end_of_a_line(self) -> None:
        gateway = Gateway(events("event: quotes", 'data: {"a":"\u2028\\n"}', "", *COMPLETED))
        self.assertEqual([event.data for event in gateway.client.stream("quotes:SPY")], [{"a": "\u2028\n"}])

    def test_lost_rights_are_raised(self) -> None:
        end = '{"reason":"not_entitled","error":{"code":"not_entitled_tier","message":"x","required_tier":"pro"}}'
        gateway = Gateway(events(*quote(1), "event: end", f"data: {end}", "", ""))
        with self.assertRaises(NotEntitled) as raised:
            list(gateway.client.stream("quotes:SPY"))
        self.assertEqual(raised.exception.details, {"required_tier": "pro"})

    def test_a_rejected_stream_is_raised_and_so_is_a_long_wait(self) -> None:
        late = failure(429, "rate_limited", {"Retry-After": "60"})
        for rejected, kind in ((failure(403, "not_entitled_tier"), NotEntitled), (late, RateLimited)):
            with waits() as waited, self.assertRaises(kind):
                list(Gateway(rejected).client.stream("quotes:SPY"))
            self.assertEqual(waited, [])

    def test_connections_without_an_event_are_not_tried_for_ever(self) -> None:
        self.assertEqual(streams.MOST_FAILURES, 10)
        for lost in (events(""), httpx.ReadTimeout("silence")):
            gateway = Gateway(*[lost] * 3)
            with mock.patch.object(streams, "MOST_FAILURES", 3), waits() as waited, self.assertRaises(Unreachable):
                list(gateway.client.stream("quotes:SPY"))
            self.assertEqual(waited, [1.0, 2.0, 4.0])

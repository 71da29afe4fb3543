"""Requests: how values are sent, and when a request is sent again."""

from __future__ import annotations

import unittest
from datetime import date, datetime, timedelta, timezone
from unittest import mock

import httpx

from tapegraph import ApiError, InvalidParams, NotEntitled, RateLimited, ServerFailed, Unauthenticated, Unreachable

from .gateway import Gateway, answer, failure, waits


class Values(unittest.TestCase):
    def test_parameters_are_sent_as_the_contract_writes_them(self) -> None:
        gateway = Gateway(answer([]))
        eastern = timezone(timedelta(hours=-5))
        gateway.client.stock_bars(
            "BRK/B", datetime(2026, 11, 20, 9, 30, tzinfo=eastern), date(2026, 11, 21), adjusted=True, limit=5
        )
        url = gateway.requests[0].url
        self.assertEqual(url.raw_path.split(b"?")[0], b"/v2/stocks/BRK%2FB/bars")
        self.assertEqual(
            dict(url.params), {"from": "1795185000000", "to": "2026-11-21", "adjusted": "true", "limit": "5"}
        )

    def test_a_time_without_a_zone_is_left_to_the_requests_zone(self) -> None:
        gateway = Gateway(answer([]))
        gateway.client.quotes(["SPY", "QQQ"], at=datetime(2026, 11, 20, 9, 30), tz="UTC")
        params = {"symbols": "SPY,QQQ", "at": "2026-11-20T09:30:00.000", "tz": "UTC"}
        self.assertEqual(dict(gateway.requests[0].url.params), params)

    def test_a_filter_is_sent_as_json_and_a_body_with_its_media_type(self) -> None:
        gateway = Gateway(answer([]), answer({}))
        gateway.client.screen({"spot": {"gte": 5}})
        gateway.client.patch_journal_trade("a b", {"note": None})
        self.assertEqual(gateway.requests[0].url.params["where"], '{"spot": {"gte": 5}}')
        self.assertEqual(gateway.requests[1].url.raw_path, b"/v2/journal/trades/a%20b")
        self.assertEqual(gateway.requests[1].headers["content-type"], "application/merge-patch+json")
        self.assertEqual(gateway.requests[1].content, b'{"note": null}')

    def test_the_key_is_in_a_header_and_in_no_text(self) -> None:
        gateway = Gateway(answer([]))
        gateway.client.symbols()
        self.assertEqual(gateway.requests[0].headers["authorization"], "Bearer key")
        self.assertNotIn("key", repr(gateway.client))

    def test_an_empty_key_is_none(self) -> None:
        with mock.patch.dict("os.environ", {"TAPEGRAPH_KEY": ""}):
            gateway = Gateway(failure(401, "unauthenticated"), key=None)
        with self.assertRaises(Unauthenticated):
            gateway.client.symbols()
        self.assertNotIn("authorization", gateway.requests[0].headers)

    def test_a_redirect_is_an_error_and_the_key_goes_nowhere_else(self) -> None:
        gateway = Gateway(httpx.Response(302, headers={"location": "http://elsewhere/"}))
        with self.assertRaises(ApiError) as raised:
            gateway.client.symbols()
        self.assertEqual((raised.exception.code, len(gateway.requests)), ("http_302", 1))


class OtherRoutes(unittest.TestCase):
    def test_a_route_without_a_method_is_called_by_its_path(self) -> None:
        gateway = Gateway(answer({"day": "x", "levels": [{"price": 1}, {"price": 2}]}), answer(None))
        found = gateway.client.request("GET", "/v2/own/{symbol}/levels", {"symbol": "BRK/B", "top": 2})
        self.assertEqual(gateway.requests[0].url.raw_path, b"/v2/own/BRK%2FB/levels?top=2")
        self.assertEqual(found.columns(), {"price": [1, 2]})
        gateway.client.request("POST", "/v2/own", body={"a": 1})
        self.assertEqual(gateway.requests[1].content, b'{"a": 1}')
        self.assertEqual(gateway.requests[1].headers["content-type"], "application/json")

    def test_in_a_view_of_the_past_its_answer_must_be_of_the_past(self) -> None:
        gateway = Gateway(answer([], at=5), answer([]))
        view = gateway.client.as_of(5)
        view.request("GET", "/v2/own")
        self.assertEqual(gateway.requests[0].url.params["at"], "5")
        with self.assertRaisesRegex(ValueError, "/v2/own takes no at"):
            view.request("GET", "/v2/own")


class Retries(unittest.TestCase):
    def test_a_read_is_sent_again_twice_after_the_time_that_the_answer_names(self) -> None:
        gateway = Gateway(failure(429, "rate_limited", {"Retry-After": "7"}), failure(503), answer([1]))
        with waits() as waited:
            self.assertEqual(gateway.client.symbols().data, [1])
        self.assertEqual(waited, [7.0, 1.0])

    def test_the_third_failure_is_raised(self) -> None:
        gateway = Gateway(failure(502), failure(504), failure(503, "provider_unavailable"))
        with waits(), self.assertRaises(ServerFailed) as raised:
            gateway.client.symbols()
        self.assertEqual((raised.exception.code, raised.exception.status), ("provider_unavailable", 503))

    def test_a_wait_over_30_seconds_is_the_callers(self) -> None:
        gateway = Gateway(failure(429, "rate_limited", {"Retry-After": "31"}))
        with waits() as waited, self.assertRaises(RateLimited) as raised:
            gateway.client.symbols()
        self.assertEqual((waited, raised.exception.retry_after), ([], 31.0))

    def test_other_errors_are_raised_at_once(self) -> None:
        for status, code, kind in [
            (400, "invalid_params", InvalidParams),
            (401, "token_expired", Unauthenticated),
            (403, "attestation_required", NotEntitled),
            (500, "internal", ServerFailed),
            (418, "of_later_versions", ApiError),
        ]:
            gateway = Gateway(failure(status, code, {"x-request-id": "r1"}, parameter="top"))
            with self.subTest(code), self.assertRaises(kind) as raised:
                gateway.client.symbols()
            error = raised.exception
            self.assertEqual((type(error), error.code, error.request_id), (kind, code, "r1"))
            self.assertEqual(error.details, {"parameter": "top"})

    def test_a_write_is_never_sent_again(self) -> None:
        for refused in (failure(503), httpx.ConnectError("refused")):
            gateway = Gateway(refused)
            with self.assertRaises((ServerFailed, Unreachable)):
                gateway.client.put_watchlist("a", {"name": "A", "symbols": []})
            self.assertEqual(len(gateway.requests), 1)
        gateway = Gateway(failure(503))
        with self.assertRaises(ServerFailed):
            gateway.client.graph("mutation { revokeApiKey(id: 1) { revoked } }")

    def test_a_lost_connection_is_tried_again(self) -> None:
        gateway = Gateway(httpx.ReadError("lost"), httpx.Response(200, json={"data": {"a": 1}}))
        with waits() as waited:
            self.assertEqual(gateway.client.graph("{ a }").data, {"a": 1})
        self.assertEqual(waited, [0.5])

    def test_a_page_of_a_proxy_is_an_error_with_its_status(self) -> None:
        gateway = Gateway(httpx.Response(404, text="<html>"))
        with self.assertRaises(ApiError) as raised:
            gateway.client.symbols()
        self.assertEqual((raised.exception.code, raised.exception.message), ("http_404", "<html>"))


class Rates(unittest.TestCase):
    def test_the_budget_of_the_minute_is_that_of_the_last_answer(self) -> None:
        first = answer([])
        first.headers.update({"x-ratelimit-limit": "600", "x-ratelimit-remaining": "9", "x-ratelimit-reset": "30"})
        gateway = Gateway(first, answer([]))
        self.assertIsNone(gateway.client.rate)
        rate = gateway.client.symbols().rate
        assert rate is not None
        self.assertEqual((rate.limit, rate.remaining, rate.reset), (600, 9, 30))
        self.assertIsNone(gateway.client.as_of(0).quotes("SPY").rate)
        self.assertEqual(gateway.client.rate, rate)


class Graph(unittest.TestCase):
    def test_an_error_of_a_field_is_raised_unless_the_rest_is_asked_for(self) -> None:
        body = {
            "data": {"a": 1, "b": None},
            "errors": [{"message": "SPX needs pro.", "path": ["b"], "extensions": {"code": "not_entitled_tier"}}],
        }
        gateway = Gateway(httpx.Response(200, json=body), httpx.Response(200, json=body))
        with self.assertRaises(NotEntitled) as raised:
            gateway.client.graph("{ a b }")
        self.assertEqual(raised.exception.data, {"a": 1, "b": None})
        partial = gateway.client.graph("{ a b }", partial=True)
        self.assertEqual((partial.data["a"], partial.errors[0]["path"]), (1, ["b"]))

    def test_a_rejected_document_has_the_code_of_its_error(self) -> None:
        error = {"message": "no such field", "extensions": {"code": "invalid_params"}}
        gateway = Gateway(httpx.Response(400, json={"errors": [error]}))
        with self.assertRaises(InvalidParams):
            gateway.client.graph("{ x }")


class AsOf(unittest.TestCase):
    def test_a_view_sends_its_instant_with_routes_and_documents(self) -> None:
        gateway = Gateway(answer([]), httpx.Response(200, json={"data": {}}), answer([]))
        view = gateway.client.as_of("2026-11-20", tz="UTC")
        view.quotes("SPY")
        view.graph("query($at: PointInTime, $tz: TimeZone!) { asOf(at: $at, tz: $tz) { x } }", {"y": 1})
        view.quotes("SPY", at=5)
        self.assertEqual(dict(gateway.requests[0].url.params), {"symbols": "SPY", "at": "2026-11-20", "tz": "UTC"})
        self.assertIn(b'"variables": {"at": "2026-11-20", "tz": "UTC", "y": 1}', gateway.requests[1].content)
        self.assertEqual(gateway.requests[2].url.params["at"], "5")

    def test_a_view_never_answers_with_the_present(self) -> None:
        view = Gateway().client.as_of("2026-11-20")
        for present in (
            lambda: view.symbols(),
            lambda: view.graph("{ symbol(symbol: \"SPY\") { id } }"),
            lambda: next(iter(view.stream("quotes:SPY"))),
        ):
            with self.assertRaises(ValueError):
                present()
        with self.assertRaises(ValueError):
            Gateway().client.as_of()

"""Pages: in order, and never without end."""

from __future__ import annotations

import unittest
from typing import Any
from unittest import mock

import httpx

from tapegraph import TooManyPages, answers

from .gateway import Gateway, answer


class Endless(Gateway):
    """A list of one row a page that never ends."""

    def __init__(self) -> None:
        super().__init__()

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return answer([{"n": len(self.requests)}], cursor=f"c{len(self.requests)}")


def bars(gateway: Gateway) -> Any:
    return gateway.client.stock_bars("SPY", "2026-11-20", "2026-11-21", limit=1)


class Pages(unittest.TestCase):
    def test_all_pages_are_asked_for_with_the_same_parameters_and_the_cursor(self) -> None:
        gateway = Gateway(answer([1, 2], cursor="a"), answer([3], cursor="b"), answer([4], plane="live"))
        whole = bars(gateway).all()
        self.assertEqual((whole.data, whole.cursor, whole.meta), ([1, 2, 3, 4], None, {"plane": "live"}))
        sent = [dict(request.url.params) for request in gateway.requests]
        first = {"from": "2026-11-20", "to": "2026-11-21", "limit": "1"}
        self.assertEqual(sent, [first, {**first, "cursor": "a"}, {**first, "cursor": "b"}])

    def test_a_bound_of_the_caller_stops_and_the_cursor_says_that_there_is_more(self) -> None:
        for bound, count in (({"max_pages": 3}, 3), ({"max_rows": 2}, 2)):
            gateway = Endless()
            self.assertEqual(bars(gateway).all(**bound).cursor, f"c{count}")
            self.assertEqual(len(gateway.requests), count)

    def test_without_a_bound_an_endless_list_is_an_error(self) -> None:
        for name, at_most in (("MOST_PAGES", 1_000), ("MOST_ROWS", 1_000_000)):
            self.assertEqual(getattr(answers, name), at_most)
            gateway = Endless()
            with mock.patch.object(answers, name, 5), self.assertRaises(TooManyPages):
                bars(gateway).all()
            self.assertEqual(len(gateway.requests), 5)

    def test_a_cursor_that_repeats_is_an_error(self) -> None:
        gateway = Gateway(answer([1], cursor="a"), answer([2], cursor="a"))
        with self.assertRaises(TooManyPages):
            bars(gateway).all(max_rows=100)

    def test_a_bound_below_one_is_rejected(self) -> None:
        with self.assertRaises(ValueError):
            bars(Gateway(answer([]))).all(max_pages=0)

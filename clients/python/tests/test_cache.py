"""Answers that are kept: asked for again with their ETag, and bounded."""

from __future__ import annotations

import asyncio
import unittest

import httpx

from tapegraph import AsyncClient, Client

RATE = {"x-ratelimit-limit": "600", "x-ratelimit-reset": "60"}


class Archive:
    """Answers about sessions: each has a tag, and 304 if it is asked for with that."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.version = 1
        #: Bytes of the last answer.
        self.size = 0

    def answer(self, request: httpx.Request) -> httpx.Response:
        date = request.url.params["date"]
        etag = f'"{date}-{self.version}"'
        is_same = request.headers.get("if-none-match") == etag
        self.statuses.append(304 if is_same else 200)
        headers = {**RATE, "x-ratelimit-remaining": str(600 - len(self.statuses)), "ETag": etag}
        if is_same:
            return httpx.Response(304, headers=headers)
        captures = [{"captured_at": self.version}] * 20
        body = {"data": {"session_date": date, "captures": captures}, "meta": {"plane": "archive"}}
        response = httpx.Response(200, headers=headers, json=body)
        self.size = len(response.content)
        return response

    def client(self, cache_bytes: int) -> Client:
        return Client("http://gateway", "key", cache_bytes=cache_bytes, transport=httpx.MockTransport(self.answer))


class Cache(unittest.TestCase):
    def test_an_answer_is_sent_once_and_its_rate_is_that_of_the_last_request(self) -> None:
        archive = Archive()
        client = archive.client(100_000)
        first, again = client.gex_history("SPY", "2026-11-18"), client.gex_history("SPY", "2026-11-18")
        self.assertEqual(archive.statuses, [200, 304])
        self.assertEqual((again.data, again.meta, again.rows()), (first.data, first.meta, first.rows()))
        assert again.rate is not None
        self.assertEqual((again.rate.remaining, client.rate), (598, again.rate))

    def test_another_version_replaces_it(self) -> None:
        archive = Archive()
        client = archive.client(100_000)
        client.gex_history("SPY", "2026-11-18")
        archive.version = 2
        for _ in range(2):
            self.assertEqual(client.gex_history("SPY", "2026-11-18").data["captures"][0]["captured_at"], 2)
        self.assertEqual(archive.statuses, [200, 200, 304])

    def test_those_used_last_are_kept_and_none_that_is_too_large(self) -> None:
        archive = Archive()
        archive.client(0).gex_history("SPY", "2026-11-18")
        for most, expected in (
            (2 * archive.size, [200, 200, 200, 304, 304, 200]),
            (archive.size, [200, 200, 200, 304, 200, 200]),
            (archive.size - 1, [200] * 6),
        ):
            client = archive.client(most)
            archive.statuses.clear()
            for day in (16, 17, 18, 18, 17, 16):
                client.gex_history("SPY", f"2026-11-{day}")
            self.assertEqual(archive.statuses, expected)

    def test_by_default_nothing_is_kept(self) -> None:
        archive = Archive()
        client = Client("http://gateway", "key", transport=httpx.MockTransport(archive.answer))
        for _ in range(2):
            client.gex_history("SPY", "2026-11-18")
        self.assertEqual(archive.statuses, [200, 200])
        with self.assertRaises(ValueError):
            archive.client(-1)

    def test_the_other_client_does_the_same(self) -> None:
        archive = Archive()
        transport = httpx.MockTransport(archive.answer)

        async def read() -> None:
            async with AsyncClient("http://gateway", "key", cache_bytes=100_000, transport=transport) as client:
                first, again = await client.gex_history("SPY", "2026-11-18"), await client.gex_history("SPY", "2026-11-18")
                self.assertEqual(first.data, again.data)

        asyncio.run(read())
        self.assertEqual(archive.statuses, [200, 304])

"""The client for asyncio: what differs from the other is only that it is awaited."""

from __future__ import annotations

import asyncio
import inspect
import unittest

import httpx

from tapegraph import AsyncClient, Client, Unreachable

from .gateway import Gateway, answer, events, failure, waits
from .test_streams import COMPLETED, quote


def client(gateway: Gateway) -> AsyncClient:
    return AsyncClient("http://gateway", "key", transport=httpx.MockTransport(gateway._answer))


class Awaited(unittest.TestCase):
    def test_it_retries_and_reads_all_pages(self) -> None:
        gateway = Gateway(failure(503), answer([1], cursor="a"), answer([2]))

        async def read() -> list[int]:
            async with client(gateway) as opened:
                return (await (await opened.stock_bars("SPY", 0, 1)).all()).data  # type: ignore[return-value]

        with waits() as waited:
            self.assertEqual(asyncio.run(read()), [1, 2])
        self.assertEqual(waited, [0.5])

    def test_a_stream_resumes(self) -> None:
        gateway = Gateway(events(*quote(1), ""), httpx.ReadError("lost"), events(*quote(2), *COMPLETED))

        async def read() -> list[str | None]:
            async with client(gateway) as opened:
                return [event.id async for event in opened.stream("quotes:SPY")]

        with waits():
            self.assertEqual(asyncio.run(read()), ["t-1", "t-2"])
        self.assertEqual(gateway.requests[2].headers["last-event-id"], "t-1")

    def test_the_graph_is_asked(self) -> None:
        gateway = Gateway(httpx.Response(200, json={"data": {"a": 1}}), *[httpx.ConnectError("refused")] * 3)

        async def ask() -> dict[str, int]:
            async with client(gateway) as opened:
                found = await opened.graph("{ a }")
                with self.assertRaises(Unreachable):
                    await opened.graph("{ a }")
                return found.data

        with waits():
            self.assertEqual(asyncio.run(ask()), {"a": 1})

    def test_its_methods_are_those_of_the_other_with_the_same_parameters(self) -> None:
        def methods(kind: type) -> dict[str, list[str]]:
            found = inspect.getmembers(kind, inspect.isfunction)
            return {name: list(inspect.signature(method).parameters) for name, method in found if name[0] != "_"}

        self.assertEqual(methods(AsyncClient), methods(Client))

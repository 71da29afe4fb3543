"""Prints the results of subscriptions of the graph, one a line: replay SESSION, awaited SESSION, or live SINCE."""

import asyncio
import json
import sys

from tapegraph import AsyncClient, Client

REPLAY = """subscription($from: PointInTime!, $to: PointInTime!) {
  replay(topics: [{ kind: quotes, symbol: "SPY" }], from: $from, to: $to, speed: 3600) { at kind quote { spot } }
}"""
CAPTURES = """subscription($since: PointInTime) {
  gexCaptured(symbol: "SPY", since: $since, topStrikes: 1) { capturedAt netGex }
}"""

way, value = sys.argv[1:]
window = {"from": f"{value}T10:00", "to": f"{value}T10:30"}


async def awaited():
    async with AsyncClient() as client:
        async for answer in client.subscribe(REPLAY, window):
            print(json.dumps(answer.data), flush=True)


if way == "awaited":
    asyncio.run(awaited())
elif way == "replay":
    for answer in Client().subscribe(REPLAY, window):
        print(json.dumps(answer.data), flush=True)
else:
    since = (lambda data: data["gexCaptured"]["capturedAt"]) if way == "since" else None
    for answer in Client().subscribe(CAPTURES, {"since": value}, since=since):
        print(json.dumps(answer.data), flush=True)

"""Calls methods of the package: reads a JSON list of calls, and prints what each answered, by both clients if it reads."""

import asyncio
import json
import os
import sys

from tapegraph import AsyncClient, Client
from tapegraph.routes import ROUTES
from tapegraph.rows import _name

clients = {name: Client(key=os.environ[name]) for name in ("KEY", "SESSION")}
made = {}


def filled(value):
    """A value with the ids of the records that calls before this one made."""
    text = json.dumps(value)
    for name, identity in made.items():
        text = text.replace(f"{{{name}}}", identity)
    return json.loads(text)


async def awaited(method, args):
    async with AsyncClient(key=os.environ["KEY"]) as client:
        return await getattr(client, method)(**args)


def run(call):
    method, args = call["method"], filled(call["args"])
    answer = getattr(clients[call["credential"]], method)(**args)
    if method == "create_key":
        made["key"] = answer.data["meta"]["id"]
    if method == "create_journal_trade":
        made["trade"] = answer.data["id"]
    route = ROUTES[method]
    tables = {_name(path): answer.to_pandas(_name(path), tz=None) for path in route.tables}
    found = {
        "data": answer.data,
        "meta": answer.meta,
        "tables": {name: {"columns": list(frame), "rows": len(frame)} for name, frame in tables.items()},
    }
    if route.method == "GET" and call["credential"] == "KEY":
        again = asyncio.run(awaited(method, args))
        found["awaited"] = {"data": again.data, "meta": again.meta}
    return found


print(json.dumps({"answers": [run(call) for call in json.load(sys.stdin)], "made": made}))

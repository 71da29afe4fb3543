"""Prints the methods of both clients."""

import inspect
import json

from tapegraph import AsyncClient, Client


def methods(kind):
    return sorted(name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_"))


print(json.dumps([methods(Client), methods(AsyncClient)]))

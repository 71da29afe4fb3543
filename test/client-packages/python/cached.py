"""Reads a past session three times with a cache: prints the statuses, and the number of different answers."""

import json
import sys

from tapegraph import Client

statuses = []
client = Client(cache_bytes=10_000_000)
client._http.event_hooks["response"].append(lambda response: statuses.append(response.status_code))
answers = [client.gex_history("SPY", sys.argv[1]) for _ in range(3)]
print(json.dumps([statuses, len({json.dumps([each.data, each.meta]) for each in answers}), answers[2].data]))

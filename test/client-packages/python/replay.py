"""Prints the events of a replay, one a line: session, speed."""

import json
import sys

from tapegraph import Client

session, speed = sys.argv[1:]
topics = ["quotes:SPY", "gex:SPY:2"]
for event in Client().stream(topics, from_=f"{session}T10:00", to=f"{session}T11:00", speed=float(speed)):
    print(json.dumps([event.kind, event.data]), flush=True)

"""Runs the cells of notebooks, or the Python of pages, and prints the shape of each data frame that they made."""

import json
import re
import sys

import pandas


def cells_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".ipynb"):
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def frames_of(path):
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells_of(path)):
        exec(compile(cell, f"{path}, cell {number}", "exec"), names)
    frames = {name: value for name, value in names.items() if isinstance(value, pandas.DataFrame)}
    return {name: [*frame.shape, bool(frame.notna().any(axis=None))] for name, frame in frames.items()}


print(json.dumps({path: frames_of(path) for path in sys.argv[1:]}))

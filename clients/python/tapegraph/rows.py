"""Rows of nested data, with the names that the gateway gives the columns of CSV, Arrow and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def _flat(item: Mapping[str, Any], prefix: str, lists: set[str]) -> dict[str, Any]:
    """The values of an object, without its lists of objects, which are tables of their own."""
    found: dict[str, Any] = {}
    for key, value in item.items():
        if isinstance(value, Mapping):
            found.update(_flat(value, f"{prefix}{key}.", lists))
        elif prefix + key not in lists:
            found[prefix + key] = value
    return found


def _at(value: Any, keys: str) -> Any:
    for key in keys.split(".") if keys else ():
        value = None if value is None else value[key]
    return value


def _below(value: Any, path: list[str], lists: set[str], prefix: str = "") -> Iterator[dict[str, Any]]:
    first, *rest = path
    for item in _at(value, first) or ():
        row = _flat(item, prefix, lists)
        if rest:
            yield from ({**row, **inner} for inner in _below(item, rest, lists, f"{prefix}{rest[0]}."))
        else:
            yield row


def _name(path: str) -> str:
    return path.replace("/", ".").split(".")[-1] or "rows"


def _found_in(data: Any) -> tuple[str, ...]:
    """The paths of the lists of objects in data of no known shape; not of lists within lists."""
    if isinstance(data, list):
        return ("",)
    entries = data.items() if isinstance(data, Mapping) else ()
    return tuple(key for key, value in entries if isinstance(value, list) and value and isinstance(value[0], Mapping))


def rows_of(data: Any, paths: Iterable[str] | None, table: str | None) -> tuple[str | None, list[dict[str, Any]]]:
    """The path of a list of the data, None if it has none, and its rows.

    ``paths`` are those of its lists, with ``/`` after a list around another; None = they are found.
    """
    known = tuple(_found_in(data) if paths is None else paths)
    names = [_name(path) for path in known]
    if table is not None and table not in names:
        raise ValueError(f"table: expected one of {', '.join(names) or 'none'}, got {table!r}")
    if not known:
        return None, [] if data is None else [_flat(data, "", set())]
    path = known[0 if table is None else names.index(table)]
    # The columns that the lists within a list would be.
    lists = {each.partition("/")[2].replace("/", ".") for each in known}
    return path, list(_below(data, path.split("/"), lists))


def columns_of(rows: list[dict[str, Any]], known: Iterable[str]) -> dict[str, list[Any]]:
    """Rows as columns: those that are known, also without a row, then those that are new."""
    names = dict.fromkeys([*known, *(name for row in rows for name in row)])
    return {name: [row.get(name) for row in rows] for name in names}

"""Answers: their data, their pages, and their rows as data frames."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import TooManyPages
from .requests import Route
from .rows import columns_of, rows_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

T = TypeVar("T")

#: Bounds of a list whose caller gives none.
MOST_PAGES = 1_000
MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class Rate:
    """The caller's minute, as of an answer."""

    #: Requests per minute.
    limit: int
    #: Requests left in this minute.
    remaining: int
    #: Seconds until the minute ends.
    reset: int

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Rate | None:
        """The rate in the headers of an answer; None if they have none."""
        values = [headers.get(f"x-ratelimit-{name}", "") for name in ("limit", "remaining", "reset")]
        return cls(*map(int, values)) if all(value.isdigit() for value in values) else None


class _Rows:
    """Rows of an answer, and frames of them."""

    _times: tuple[str, ...] = ()

    def rows(self, table: str | None = None) -> list[dict[str, Any]]:
        """The rows of a list, without lists in them; values of the lists around it are repeated in each row.

        ``table`` is the name of the list; by default the first. Data without a list is one row.
        """
        raise NotImplementedError

    def columns(self, table: str | None = None) -> dict[str, list[Any]]:
        """The rows as columns, of the names and in the order of CSV."""
        raise NotImplementedError

    def to_pandas(self, table: str | None = None, *, tz: str | None = "America/New_York") -> pandas.DataFrame:
        """The rows as a pandas frame. Times are of the zone ``tz``; None = epoch ms, as they are sent."""
        import pandas

        frame = pandas.DataFrame(self.columns(table))
        for name in self._times if tz is not None else ():
            if name in frame:
                frame[name] = pandas.to_datetime(frame[name], unit="ms", utc=True).dt.tz_convert(tz)
        return frame

    def to_polars(self, table: str | None = None) -> polars.DataFrame:
        """The rows as a Polars frame. Times are epoch ms."""
        import polars

        # JSON has whole numbers among the others of a column.
        return polars.DataFrame(self.columns(table), strict=False)

    def to_arrow(self, table: str | None = None) -> pyarrow.Table:
        """The rows as an Arrow table. Times are epoch ms."""
        import pyarrow

        return pyarrow.table(self.columns(table))


@dataclass(frozen=True)
class _Answer(_Rows, Generic[T]):
    data: T
    #: Metadata, such as ``caps``, ``plane`` and ``cursor``.
    meta: dict[str, Any]
    #: The caller's minute; None if the answer has no rate headers.
    rate: Rate | None
    _route: Route = field(repr=False)

    @property
    def cursor(self) -> str | None:
        """The position of the next page; None = this is the last."""
        return self.meta.get("cursor")

    @property
    def _times(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._route.times

    def rows(self, table: str | None = None) -> list[dict[str, Any]]:
        return rows_of(self.data, self._route.tables, table)[1]

    def columns(self, table: str | None = None) -> dict[str, list[Any]]:
        path, rows = rows_of(self.data, self._route.tables, table)
        return columns_of(rows, (self._route.tables or {}).get(path or "", ()))


class _Bounds:
    """Counts pages and rows of a list, so that reading it ends."""

    def __init__(self, max_pages: int | None, max_rows: int | None) -> None:
        for name, bound in (("max_pages", max_pages), ("max_rows", max_rows)):
            if bound is not None and bound < 1:
                raise ValueError(f"{name}: expected 1 or more, got {bound}")
        self._is_default = max_pages is None and max_rows is None
        self._most_pages = max_pages or (MOST_PAGES if self._is_default else sys.maxsize)
        self._most_rows = max_rows or (MOST_ROWS if self._is_default else sys.maxsize)
        self._pages = self._rows = 0
        self._seen: set[str] = set()

    def go_on(self, page: _Answer[Any]) -> str | None:
        """The cursor of the next page; None at the end, or at a bound that the caller gave."""
        cursor = page.cursor
        if cursor is None:
            return None
        self._pages += 1
        self._rows += len(page.data)
        if cursor in self._seen:
            raise TooManyPages(f"the cursor {cursor} was sent before")
        self._seen.add(cursor)
        if not self._is_reached:
            return cursor
        if self._is_default:
            raise TooManyPages(
                f"more than {self._pages} pages with {self._rows} rows; give max_pages or max_rows, or a larger limit"
            )
        return None

    @property
    def _is_reached(self) -> bool:
        return self._pages >= self._most_pages or self._rows >= self._most_rows


def _together(pages: list[Any]) -> Any:
    """The last page, with the rows of all."""
    return replace(pages[-1], data=[row for page in pages for row in page.data])


@dataclass(frozen=True)
class Answer(_Answer[T]):
    """An answer of a route."""

    _follow: Callable[[str], Answer[T]] = field(repr=False)

    def pages(self, *, max_pages: int | None = None, max_rows: int | None = None) -> Iterator[Answer[T]]:
        """This page and those after it.

        Stops after ``max_pages``, or after the page that reaches ``max_rows``. Without either, a list of more than
        1,000 pages or 1,000,000 rows raises :class:`TooManyPages`.
        """
        bounds = _Bounds(max_pages, max_rows)
        page = self
        yield page
        while (cursor := bounds.go_on(page)) is not None:
            page = page._follow(cursor)
            yield page

    def all(self, *, max_pages: int | None = None, max_rows: int | None = None) -> Answer[T]:
        """All pages as one. Its ``cursor`` is None unless a bound stopped it."""
        whole: Answer[T] = _together(list(self.pages(max_pages=max_pages, max_rows=max_rows)))
        return whole


@dataclass(frozen=True)
class AsyncAnswer(_Answer[T]):
    """An answer of a route."""

    _follow: Callable[[str], Awaitable[AsyncAnswer[T]]] = field(repr=False)

    async def pages(
        self, *, max_pages: int | None = None, max_rows: int | None = None
    ) -> AsyncIterator[AsyncAnswer[T]]:
        """This page and those after it, with the bounds of :meth:`Answer.pages`."""
        bounds = _Bounds(max_pages, max_rows)
        page = self
        yield page
        while (cursor := bounds.go_on(page)) is not None:
            page = await page._follow(cursor)
            yield page

    async def all(self, *, max_pages: int | None = None, max_rows: int | None = None) -> AsyncAnswer[T]:
        """All pages as one. Its ``cursor`` is None unless a bound stopped it."""
        pages = [page async for page in self.pages(max_pages=max_pages, max_rows=max_rows)]
        whole: AsyncAnswer[T] = _together(pages)
        return whole


@dataclass(frozen=True)
class GraphAnswer(_Rows):
    """An answer of the graph."""

    data: dict[str, Any]
    #: Errors of fields that are null in ``data``; empty unless ``partial`` was asked for.
    errors: list[dict[str, Any]]
    #: ``cost`` and ``readAt``.
    extensions: dict[str, Any]
    rate: Rate | None

    def rows(self, table: str | None = None) -> list[dict[str, Any]]:
        """The rows of a list by its path, such as ``symbol.bars.rows``; by default the data as one row."""
        value: Any = self.data
        for key in table.split(".") if table else ():
            value = value[key]
        return rows_of(value, ("",) if isinstance(value, list) else (), None)[1]

    def columns(self, table: str | None = None) -> dict[str, list[Any]]:
        """The rows as columns."""
        return columns_of(self.rows(table), ())

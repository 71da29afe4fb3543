"""Rows as data frames. pandas is real.

Of Polars and Arrow there are stand-ins, which show only what they are given, and the libraries where they are there.
"""

from __future__ import annotations

import importlib.util
import sys
import types
import unittest
from typing import Any
from unittest import mock

from .gateway import Gateway, answer

STRIKES = [{"strike": 600000, "gex": 1.0}, {"strike": 601000, "gex": 2.0}]
CAPTURES = [
    {"captured_at": 1795183200000, "spot": 1.5, "strikes": STRIKES},
    {"captured_at": 1795183260000, "spot": None, "strikes": []},
]


def history() -> Any:
    data = {"symbol": "SPY", "session_date": "2026-11-20", "captures": CAPTURES}
    return Gateway(answer(data)).client.gex_history("SPY", "2026-11-20")


class Rows(unittest.TestCase):
    def test_a_row_of_a_list_within_a_list_repeats_what_is_around_it(self) -> None:
        around = {"captured_at": 1795183200000, "spot": 1.5}
        self.assertEqual(history().rows(), [around, {"captured_at": 1795183260000, "spot": None}])
        strikes = [{"strikes.strike": 600000, "strikes.gex": 1.0}, {"strikes.strike": 601000, "strikes.gex": 2.0}]
        self.assertEqual(history().rows("strikes"), [{**around, **strike} for strike in strikes])

    def test_a_table_that_the_answer_does_not_have_is_named_with_those_it_has(self) -> None:
        with self.assertRaisesRegex(ValueError, "captures, strikes.*legs"):
            history().rows("legs")

    def test_data_without_a_list_is_one_row(self) -> None:
        spot = {"symbol": "SPY", "price": 1.5, "ts": None}
        self.assertEqual(Gateway(answer(spot)).client.spot("SPY").rows(), [spot])


class Frames(unittest.TestCase):
    def test_pandas_has_times_of_new_york_or_as_they_are_sent(self) -> None:
        frame = history().to_pandas("strikes")
        self.assertEqual(str(frame["captured_at"].iloc[0]), "2026-11-20 09:00:00-05:00")
        self.assertEqual(list(frame["strikes.strike"]), [600000, 601000])
        self.assertEqual(history().to_pandas(tz=None)["captured_at"].tolist(), [1795183200000, 1795183260000])

    def test_pandas_has_unknown_times_as_nat(self) -> None:
        frame = Gateway(answer({"symbol": "SPY", "price": None, "ts": None})).client.spot("SPY").to_pandas()
        self.assertTrue(frame["ts"].isna().all())

    def test_a_list_without_rows_has_its_columns(self) -> None:
        empty = Gateway(answer({"symbol": "SPY", "captures": []})).client.gex_history("SPY", "2026-11-20").to_pandas()
        self.assertEqual(list(empty), ["captured_at", "spot", "prior_close_spot", "net_gex", "flip_point"])

    def test_a_column_of_a_later_version_is_the_last(self) -> None:
        bars = Gateway(answer([{"new": 1, "ts_ms": 0}])).client.stock_bars("SPY", 0, 1).to_pandas()
        self.assertEqual([bars.columns[0], bars.columns[-1]], ["symbol", "new"])

    def test_polars_gets_the_columns_and_takes_whole_numbers_among_others(self) -> None:
        polars = types.ModuleType("polars")
        polars.DataFrame = mock.Mock(return_value="frame")  # type: ignore[attr-defined]
        with mock.patch.dict(sys.modules, polars=polars):
            self.assertEqual(history().to_polars(), "frame")
        polars.DataFrame.assert_called_once_with(history().columns(), strict=False)

    def test_arrow_gets_the_columns(self) -> None:
        pyarrow = types.ModuleType("pyarrow")
        pyarrow.table = mock.Mock()  # type: ignore[attr-defined]
        with mock.patch.dict(sys.modules, pyarrow=pyarrow):
            history().to_arrow("strikes")
        pyarrow.table.assert_called_once_with(history().columns("strikes"))

    def mixed(self) -> Any:
        """Bars of which one column has whole numbers, others, and an unknown one."""
        return Gateway(answer([{"ts_ms": 1, "close": 1}, {"ts_ms": 2, "close": 2.5}, {"ts_ms": 3, "close": None}]))

    @unittest.skipUnless(importlib.util.find_spec("polars"), "there is no polars")
    def test_real_polars_makes_a_frame_of_them(self) -> None:
        frame = self.mixed().client.stock_bars("SPY", 0, 1).to_polars()
        self.assertEqual(frame["close"].to_list(), [1.0, 2.5, None])
        self.assertEqual(history().to_polars("strikes").shape, (2, 12))

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "there is no pyarrow")
    def test_real_arrow_makes_a_table_of_them(self) -> None:
        table = self.mixed().client.stock_bars("SPY", 0, 1).to_arrow()
        self.assertEqual(table["close"].to_pylist(), [1.0, 2.5, None])
        self.assertEqual(history().to_arrow("strikes").shape, (2, 12))

"""Rows as data frames. pandas is real; Polars and Arrow are stand-ins, which show only what they are given."""

from __future__ import annotations

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

    def test_polars_gets_the_rows_and_looks_at_all_of_them_for_their_types(self) -> None:
        polars = types.ModuleType("polars")
        polars.from_dicts = mock.Mock(return_value="frame")  # type: ignore[attr-defined]
        with mock.patch.dict(sys.modules, polars=polars):
            self.assertEqual(history().to_polars(), "frame")
        polars.from_dicts.assert_called_once_with(history().rows(), infer_schema_length=None)

    def test_arrow_gets_the_rows(self) -> None:
        pyarrow = types.ModuleType("pyarrow")
        pyarrow.Table = mock.Mock()  # type: ignore[attr-defined]
        with mock.patch.dict(sys.modules, pyarrow=pyarrow):
            history().to_arrow("strikes")
        pyarrow.Table.from_pylist.assert_called_once_with(history().rows("strikes"))

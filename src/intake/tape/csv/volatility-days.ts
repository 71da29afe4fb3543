import { isTradingDay } from '../../../core/domain/calendar.ts';
import type { VolatilityDay } from '../../../core/domain/chain/volatility-day.ts';
import type { ColumnOf } from '../formats/format.ts';
import { volatilityDayList as format } from '../formats/own-formats.ts';
import type { CsvFormat } from './csv.ts';
import { type Cells, cellReader, readNumber } from './values.ts';

type VolatilityDayColumn = ColumnOf<typeof format>;

function readVolatilityDay(cells: Cells<VolatilityDayColumn>): VolatilityDay {
  const symbol = cells.ticker('symbol');
  const date = cells.date('date');
  const iv30 = readNumber(cells.text('iv30'));
  return {
    symbol,
    date: cells.checked('date', isTradingDay(date) ? date : null, 'a trading day'),
    iv30: cells.checked('iv30', iv30 > 0 && iv30 <= 10 ? iv30 : null, 'a fraction above 0 and up to 10, such as 0.18'),
  };
}

/** Implied volatilities by session: `symbol,date,iv30`; `iv30` is an annualized fraction. */
export const volatilityDayList: CsvFormat<VolatilityDay, VolatilityDayColumn> = {
  ...format,
  reader: cellReader(readVolatilityDay),
};

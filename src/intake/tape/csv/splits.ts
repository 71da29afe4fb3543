import { isTradingDay } from '../../../core/domain/calendar.ts';
import type { Split } from '../../../core/domain/market/splits.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import type { ColumnOf } from '../formats/format.ts';
import { splitList as format } from '../formats/own-formats.ts';
import type { CsvFormat } from './csv.ts';
import { type Cells, cellReader, readNumber } from './values.ts';

type SplitColumn = ColumnOf<typeof format>;

const largestRatio = 100_000;

/** New shares per old one, from `10:1`, `3:2`, or a single number. NaN for everything else. */
function readRatio(text: string): number {
  const [news, olds, ...more] = text.split(':');
  const [shares, before] = [readNumber(news!.trim()), olds === undefined ? 1 : readNumber(olds.trim())];
  return more.length === 0 && shares > 0 && before > 0 ? shares / before : Number.NaN;
}

/** Reads the ex-date of a line, which is a session, and its declaration date, which is not later. */
export function readExDate(
  cells: Pick<Cells<'ex_date' | 'declared'>, 'date' | 'optionalDate' | 'checked' | 'refuse'>,
): { exDate: SessionDate; declared: SessionDate | null } {
  const exDate = cells.date('ex_date');
  cells.checked('ex_date', isTradingDay(exDate) ? exDate : null, 'a trading day');
  const declared = cells.optionalDate('declared');
  if (declared !== null && declared > exDate) cells.refuse(`declared: ${declared} is after ex_date, ${exDate}`);
  return { exDate, declared };
}

function readSplit(cells: Cells<SplitColumn>): Split {
  const symbol = cells.ticker('symbol');
  const dates = readExDate(cells);
  const ratio = readRatio(cells.text('ratio'));
  const isRatio = ratio !== 1 && ratio >= 1 / largestRatio && ratio <= largestRatio;
  return {
    symbol,
    ...dates,
    ratio: cells.checked('ratio', isRatio ? ratio : null, 'new shares for old, such as 10:1'),
  };
}

/**
 * Splits: `symbol,ex_date,ratio` and, optionally, `declared`. `ratio` is new shares for old (`10:1`, `1:8`), or for one
 * old share (`10`, `0.125`).
 */
export const splitList: CsvFormat<Split, SplitColumn> = {
  ...format,
  reader: cellReader(readSplit),
};

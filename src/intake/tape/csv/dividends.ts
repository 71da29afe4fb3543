import { type Dividend, dividendKinds } from '../../../core/domain/market/dividends.ts';
import type { ColumnOf } from '../formats/format.ts';
import { dividendList as format } from '../formats/own-formats.ts';
import type { CsvFormat } from './csv.ts';
import { readExDate } from './splits.ts';
import { type Cells, cellReader, readNumber } from './values.ts';

type DividendColumn = ColumnOf<typeof format>;

const largestAmount = 100_000;

function readDividend(cells: Cells<DividendColumn>): Dividend {
  const symbol = cells.ticker('symbol');
  const dates = readExDate(cells);
  const kind = cells.word('kind', dividendKinds, 'regular');
  const number = (name: 'amount' | 'ratio', most: number, expected: string) => {
    const value = readNumber(cells.text(name));
    return cells.text(name) === '' ? null : cells.checked(name, value > 0 && value < most ? value : null, expected);
  };
  const amount = number('amount', largestAmount, 'dollars a share, above 0');
  const ratio = number('ratio', 1, 'a fraction of the price, above 0 and below 1');
  if ((amount === null) === (ratio === null)) cells.refuse('expected either amount or ratio');
  return { symbol, ...dates, kind, amount, ratio };
}

/**
 * Dividends: `symbol,ex_date`, either `amount` (dollars per share) or `ratio` (fraction of the price) and, optionally,
 * `kind` (`regular` or `special`) and `declared`.
 */
export const dividendList: CsvFormat<Dividend, DividendColumn> = {
  ...format,
  reader: cellReader(readDividend),
};

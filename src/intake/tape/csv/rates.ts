import type { Rate } from '../../../core/domain/market/rates.ts';
import type { ColumnOf } from '../formats/format.ts';
import { rateList as format } from '../formats/own-formats.ts';
import type { CsvFormat } from './csv.ts';
import { type Cells, cellReader, readCount, readNumber } from './values.ts';

type RateColumn = ColumnOf<typeof format>;

const longestDays = 36_525;

function readRate(cells: Cells<RateColumn>): Rate {
  const date = cells.date('date');
  const days = readCount(cells.text('days'));
  const isDays = days >= 1 && days <= longestDays;
  const rate = readNumber(cells.text('rate'));
  const isRate = rate >= -0.5 && rate <= 1;
  return {
    date,
    days: cells.checked('days', isDays ? days : null, `a whole number of days from 1 to ${longestDays}`),
    rate: cells.checked('rate', isRate ? rate : null, 'a fraction a year from -0.5 to 1, such as 0.045'),
  };
}

/** Interest rates: `date,days,rate`; `rate` is continuous, a fraction per year. */
export const rateList: CsvFormat<Rate, RateColumn> = {
  ...format,
  reader: cellReader(readRate),
};

import type { Bar } from '../../domain/bar.ts';
import { type OptionContract, readOptionContract } from '../../domain/chain/option-contract.ts';
import type { InstantBounds } from '../../domain/instant-gate.ts';
import { minuteMs } from '../../domain/units.ts';
import { type BarColumnName, barColumns, barReader, optionalBarColumns } from '../csv/bar-lines.ts';
import type { ColumnIndex, CsvFormat } from '../csv/csv.ts';
import { shown } from '../csv/values.ts';

/** A bar of an option contract in the vendor's aggregate flat files; volume in contracts. */
export interface OptionBar {
  contract: OptionContract;
  bar: Bar;
}

type OptionBarFormat = CsvFormat<OptionBar, (typeof barColumns)[number], (typeof optionalBarColumns)[number]>;

/** Minute aggregates of option contracts: `ticker` is `O:` and the OSI symbol, `window_start` the start of a minute. */
export const optionMinuteBars = (bounds: InstantBounds): OptionBarFormat => ({
  required: barColumns,
  optional: optionalBarColumns,
  reader: (at: ColumnIndex<BarColumnName>) => {
    const read = barReader(at, bounds);
    // Lines of one contract follow one another: it is read once a run.
    let text = '';
    let contract: OptionContract | null = null;
    return (fields) => {
      const ticker = fields[at.ticker]!;
      if (ticker !== text) [text, contract] = [ticker, readOptionContract(ticker)];
      if (contract === null) return `ticker: expected O: and an OSI symbol, got ${shown(ticker)}`;
      const bar = read(fields);
      if (typeof bar === 'string') return bar;
      if (bar.tsMs % minuteMs !== 0) {
        return `window_start: expected the start of a minute, got ${new Date(bar.tsMs).toISOString()}`;
      }
      return { contract, bar };
    };
  },
});

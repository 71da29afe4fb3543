import { sessionEnds } from '../../../core/domain/chain/contract-book.ts';
import { type OptionContract, readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import type { GivenBar } from '../../../core/domain/market/bar.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { type BarColumnName, barReader } from '../csv/bar-lines.ts';
import type { ColumnIndex, CsvFormat } from '../csv/csv.ts';
import { beforeExpiry, shown } from '../csv/values.ts';
import { spellings } from '../formats/format.ts';
import { optionAggregates } from '../formats/own-formats.ts';

/** A bar of an option contract in the vendor's aggregate flat files; volume in contracts. */
export interface OptionBar {
  contract: OptionContract;
  bar: GivenBar;
}

type OptionBarFormat = CsvFormat<OptionBar, BarColumnName>;

const expected = spellings[optionAggregates.symbols.spelling];

/** Minute aggregates of option contracts: `ticker` is `O:` and the OSI symbol, `window_start` the start of a minute. */
export const optionMinuteBars = (bounds: InstantBounds): OptionBarFormat => ({
  ...optionAggregates,
  reader: (at: ColumnIndex<BarColumnName>) => {
    const read = barReader(optionAggregates, at, bounds);
    // Lines of one contract are consecutive: it is parsed once per run.
    let text = '';
    let contract: OptionContract | null = null;
    const endOf = sessionEnds();
    return (fields) => {
      const ticker = fields[at.ticker]!;
      if (ticker !== text) [text, contract] = [ticker, readOptionContract(ticker)];
      if (contract === null) return `ticker: expected ${expected}, got ${shown(ticker)}`;
      const bar = read(fields);
      if (typeof bar === 'string') return bar;
      if (bar.tsMs % minuteMs !== 0) {
        return `window_start: expected the start of a minute, got ${new Date(bar.tsMs).toISOString()}`;
      }
      const endMs = endOf(contract.expiry);
      if (bar.tsMs >= endMs)
        return `window_start: expected ${beforeExpiry(endMs)}, got ${shown(fields[at.window_start]!)}`;
      return { contract, bar };
    };
  },
});

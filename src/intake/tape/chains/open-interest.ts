import { mostContracts } from '../../../core/domain/chain/chain-columns.ts';
import { type OptionContract, readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import { isDate, type SessionDate } from '../../../core/domain/market-time.ts';
import type { CsvFormat } from '../csv/csv.ts';
import { readCount, shown } from '../csv/values.ts';
import { type ColumnOf, spellings } from '../formats/format.ts';
import { openInterestList as format } from '../formats/own-formats.ts';

/** Open interest of a contract; `sessionDate` null = not in the line. */
export interface OpenInterestLine extends OptionContract {
  openInterest: number;
  sessionDate: SessionDate | null;
}

const expected = spellings[format.symbols.spelling];

/**
 * Open interest: `ticker,open_interest`, and optionally `session_date`: the session at whose start the figure applied,
 * which is the close before.
 */
export const openInterestList: CsvFormat<OpenInterestLine, ColumnOf<typeof format>> = {
  ...format,
  reader: (at) => (fields) => {
    const contract = readOptionContract(fields[at.ticker]!);
    if (contract === null) return `ticker: expected ${expected}, got ${shown(fields[at.ticker]!)}`;
    const openInterest = readCount(fields[at.open_interest]!);
    if (!(openInterest <= mostContracts))
      return `open_interest: expected a whole number up to ${mostContracts}, got ${shown(fields[at.open_interest]!)}`;
    const date = at.session_date < 0 ? '' : fields[at.session_date]!;
    if (date !== '' && !isDate(date)) return `session_date: expected a date YYYY-MM-DD, got ${shown(date)}`;
    return { ...contract, openInterest, sessionDate: date === '' ? null : date };
  },
};

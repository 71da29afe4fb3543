import { type GenerationPart, wholeList } from '../../../core/domain/generation.ts';
import { problemOfDate } from '../../../core/domain/instant-gate.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { saveVolatilityDays } from '../../../store/chain/volatility-days.ts';
import { saveDividends } from '../../../store/market/dividends.ts';
import { forgetDatasets } from '../../../store/market/ingested-files.ts';
import { saveRoots } from '../../../store/market/option-roots.ts';
import { saveRates } from '../../../store/market/rates.ts';
import { saveSymbols } from '../../../store/market/symbols.ts';
import { type CsvFormat, type RecordBatch, readCsv } from '../../tape/csv/csv.ts';
import { dividendList } from '../../tape/csv/dividends.ts';
import { rateList } from '../../tape/csv/rates.ts';
import { rootList } from '../../tape/csv/roots.ts';
import { symbolList } from '../../tape/csv/symbols.ts';
import { volatilityDayList } from '../../tape/csv/volatility-days.ts';
import { DisplacedLines } from './bad-line-log.ts';
import type { FileJob, Loader } from './file-job.ts';
import { outdatedCaptures } from './outdated-captures.ts';

/** A list whose rows are stored one a key. */
interface ListKind<T> {
  keyOf(row: T): string;
  /** The date that the gate of time judges, its column, and whether it is announced before it comes; null = none. */
  dateOf(row: T): { column: string; date: SessionDate; isAnnounced: boolean } | null;
  /** Returns how many rows are new or different. */
  store(job: FileJob, rows: readonly T[]): Promise<number>;
  /** The symbols whose captures are priced with the rows, null = all; absent: none are. */
  symbolsOf?(rows: readonly T[]): ReadonlySet<string> | null;
  /** The part of the list that they are, all of it unless given. */
  partOf?(rows: readonly T[]): GenerationPart;
}

/**
 * The rows of a list, one per key. A line that contradicts an earlier one with the same key is bad: it is unknown which
 * of the two is right.
 */
async function distinctRows<T extends object>(
  { path, onBadLine, now }: Pick<FileJob, 'path' | 'onBadLine' | 'now'>,
  batches: AsyncIterable<RecordBatch<T>>,
  { keyOf, dateOf }: Pick<ListKind<T>, 'keyOf' | 'dateOf'>,
): Promise<{ rows: T[]; read: number }> {
  const nowMs = now();
  const found = new Map<string, { row: T; text: string; line: number }>();
  let read = 0;
  for await (const { records, lineNumbers } of batches) {
    for (const [i, row] of records.entries()) {
      const [key, line, text] = [keyOf(row), lineNumbers[i]!, JSON.stringify(row)];
      const before = found.get(key);
      read++;
      const dated = dateOf(row);
      const late = dated && problemOfDate(dated.date, nowMs, dated.isAnnounced);
      if (late !== null) onBadLine({ file: path, line, reason: `${dated!.column}: ${late}` });
      else if (!before) found.set(key, { row, text, line });
      else if (before.text !== text)
        onBadLine({ file: path, line, reason: `${key}: line ${before.line} says something else` });
    }
  }
  return { rows: Array.from(found.values(), ({ row }) => row), read };
}

/** Loads a list whose rows are stored one a key; rows that the file does not name stay as they are. */
export function listLoader<T extends object, Name extends string>(
  format: CsvFormat<T, Name>,
  { store, symbolsOf, partOf = () => wholeList, ...kind }: ListKind<T>,
): Loader {
  return async (job) => {
    const batches = readCsv(job.path, [format], job.onBadLine, job.onBytes);
    const { rows, read } = await distinctRows(job, batches, kind);
    if (job.refused()) return { rows: read, changed: 0 };
    const changed = await store(job, rows);
    const outdated = changed > 0 && symbolsOf ? await outdatedCaptures(job.tx, symbolsOf(rows)) : [];
    return { rows: read, changed, parts: ['all'], written: changed > 0 ? [partOf(rows)] : [], outdated };
  };
}

/** Dividends. */
export const loadDividends = listLoader(dividendList, {
  keyOf: ({ symbol, exDate, kind }) => `${symbol} ${exDate} ${kind}`,
  dateOf: ({ exDate }) => ({ column: 'ex_date', date: exDate, isAnnounced: true }),
  store: ({ tx }, rows) => saveDividends(tx, rows),
  symbolsOf: (rows) => new Set(rows.map(({ symbol }) => symbol)),
});

/** Points of interest rate curves. */
export const loadRates = listLoader(rateList, {
  keyOf: ({ date, days }) => `${date} ${days} days`,
  dateOf: ({ date }) => ({ column: 'date', date, isAnnounced: false }),
  store: ({ tx }, rows) => saveRates(tx, rows),
  symbolsOf: () => null,
  partOf: (rows) => {
    const dates = rows.map(({ date }) => date).sort();
    return { ...wholeList, from: dates[0]!, through: dates.at(-1)! };
  },
});

/**
 * Loads terms of option roots. Stored figures were computed with the former terms, so files of the roots are read again
 * when given again.
 */
export const loadRoots = listLoader(rootList, {
  keyOf: ({ root, from }) => (from ? `${root} from ${from}` : root),
  // A term may end in any year.
  dateOf: ({ from }) => (from === null ? null : { column: 'from', date: from, isAnnounced: true }),
  async store({ tx }, rows) {
    const changed = await saveRoots(tx, rows);
    if (changed === 0) return 0;
    await forgetDatasets(tx, ['chain', 'option-trades']);
    for (const { underlying } of rows)
      for (const subject of ['chain', 'gex', 'flow'] as const) tx.changes.add(subject, underlying);
    return changed;
  },
  // A root may have had another underlying before.
  symbolsOf: () => null,
});

/** Loads the symbol list. Tickers that it does not contain are unchanged. */
export const loadSymbols: Loader = async (job) => {
  let rows = 0;
  let changed = 0;
  const read = new Map<string, string>();
  const displaced = new DisplacedLines('with the same ticker: the last counts');
  for await (const { records } of readCsv(job.path, [symbolList], job.onBadLine, job.onBytes)) {
    rows += records.length;
    for (const record of records) {
      const [before, text] = [read.get(record.symbol), JSON.stringify(record)];
      if (before !== undefined) displaced.add(before === text);
      read.set(record.symbol, text);
    }
    if (!job.refused()) changed += await saveSymbols(job.tx, records);
  }
  for (const note of displaced.notes()) job.onNote(note);
  return { rows, changed, parts: ['all'], written: changed > 0 ? [wholeList] : [] };
};

/** Implied volatilities by session. */
export const loadVolatilityDays = listLoader(volatilityDayList, {
  keyOf: ({ symbol, date }) => `${symbol} ${date}`,
  dateOf: ({ date }) => ({ column: 'date', date, isAnnounced: false }),
  store: ({ tx }, rows) => saveVolatilityDays(tx, rows),
});

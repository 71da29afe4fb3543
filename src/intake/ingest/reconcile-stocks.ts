import { optionsAreOver } from '../../core/domain/calendar.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { Store } from '../../store/rows/connection.ts';
import { analyzeGrown } from '../../store/rows/statistics.ts';
import { pruneExpired } from '../../store/superseded/prune.ts';
import { readLines } from '../tape/csv/lines.ts';
import type { BadLine } from '../tape/csv/tape-file.ts';
import { lacking } from '../tape/formats/format.ts';
import { stockTrades } from '../tape/formats/own-formats.ts';
import { splitCsvLine } from '../tape/text/csv-rows.ts';
import { rejectionReason } from './files/bad-line-log.ts';
import { expandPatterns } from './files/file-patterns.ts';
import type { SessionChange } from './files/tape-report.ts';
import { ingestDefaults } from './ingest.ts';
import { FileNotStored, storeFiles } from './store-files.ts';

/** True if files are tapes of stocks: by the header and the first ticker of the first. Throws `NoSuchFileError`. */
export async function areStockTapes(patterns: readonly string[]): Promise<boolean> {
  const [path] = await expandPatterns(patterns);
  for await (const { lines } of readLines(path!)) {
    const names =
      splitCsvLine(lines[0]!)?.map((name) =>
        name
          .replace(/^\ufeff/, '')
          .trim()
          .toLowerCase(),
      ) ?? [];
    const ticker = splitCsvLine(lines[1] ?? '')?.[names.indexOf('ticker')] ?? '';
    return lacking(stockTrades, names).length === 0 && !ticker.startsWith('O:');
  }
  return false;
}

export interface StockReconcileOptions {
  session: SessionDate;
  maxErrors: number;
  now: Clock;
  keepDays?: number;
  /** Aborted to stop: everything is rolled back, and its reason is thrown. */
  signal?: AbortSignal;
  onBytes?: (bytes: number) => void;
}

/** Result of rebuilding a session of stocks. */
export interface StockReconcileReport {
  session: SessionDate;
  /** `refused`: nothing was stored or changed. */
  status: 'reconciled' | 'refused';
  /** Reason for `refused`; null if reconciled. */
  reason: string | null;
  /** Number of prints of its symbols before and after; null = nothing was stored. */
  change: SessionChange | null;
  badLines: BadLine[];
  badLineCount: number;
  notes: string[];
}

/** The reason for which nothing is stored, and the bad lines. Rethrows errors that are not the files'. */
function foundIn(error: unknown) {
  const { cause, log } = error instanceof FileNotStored ? error : { cause: error, log: null };
  const found = { badLines: log?.badLines ?? [], badLineCount: log?.count() ?? 0 };
  return { reason: rejectionReason(cause, log), ...found };
}

/**
 * Rebuilds a session from its full stock tape, in one or more files, in one transaction: bars and off-exchange figures
 * of the symbols on the tape replace the stored ones. Prints of other sessions are skipped. Throws `NoSuchFileError`
 * for a pattern without files, and when the store fails.
 */
export async function reconcileStocks(
  store: Store,
  patterns: readonly string[],
  { session, maxErrors, now, signal, keepDays, onBytes = () => {} }: StockReconcileOptions,
): Promise<StockReconcileReport> {
  const empty = { session, change: null, badLines: [], badLineCount: 0, notes: [] };
  if (!optionsAreOver(session, now())) return { ...empty, status: 'refused', reason: `${session} is not over` };
  const files = (await expandPatterns(patterns)).map((path) => ({ name: path, path, onBytes }));
  const settings = { ...ingestDefaults, maxErrors, replace: true, only: session, ...(keepDays && { keepDays }) };
  const options = { settings, now, signal, bundled: undefined, force: true };
  try {
    const stored = await storeFiles(store, 'stock-trades', files, options);
    await analyzeGrown(store);
    await pruneExpired(store, now());
    const changes = stored.flatMap((each) => (each.before ? [] : (each.result.sessions ?? [])));
    const badLines = stored.flatMap(({ log }) => log.badLines);
    const found = { badLines, badLineCount: stored.reduce((sum, { log }) => sum + log.count(), 0) };
    const notes = stored.flatMap((each) => each.notes);
    return { session, status: 'reconciled', reason: null, change: changes[0] ?? null, ...found, notes };
  } catch (error) {
    signal?.throwIfAborted();
    return { ...empty, status: 'refused', ...foundIn(error) };
  }
}

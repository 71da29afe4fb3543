import { methodologySettings, tapeSettings } from '../../analytics/methodology.ts';
import { optionsAreOver } from '../../domain/calendar.ts';
import { instantBounds } from '../../domain/instant-gate.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { noteOwnData, sampleKeyEnded } from '../../store/account/own-data.ts';
import type { Store } from '../../store/engine/connection.ts';
import { analyzeGrown } from '../../store/engine/statistics.ts';
import { inSettledTransaction, type Transaction } from '../../store/engine/transaction.ts';
import { forgetFiles } from '../../store/market/ingested-files.ts';
import { rejectSealed, SessionSealed, wholeSession } from '../../store/market/session-seals.ts';
import { type BadLine, TapeFileError } from '../../tape/csv/tape-file.ts';
import { type BadLineLog, badLineLog, FileRefused } from '../files/bad-line-log.ts';
import { expandPatterns } from '../files/file-patterns.ts';
import { readDayVolumes, type VolumeDifference, volumeDifferences } from './day-volumes.ts';
import type { MadeSession } from './option-session.ts';
import { lockOptionSessions, optionSessionWriter } from './option-session-writer.ts';
import { quoteNotes, tapeNotes } from './option-tape.ts';
import { type OptionTapeFiles, readOptionTape } from './option-tape-files.ts';
import { quotesOfTape } from './quote-source.ts';
import { sessionPlan } from './session-plan.ts';

/** What a session is rebuilt from: names and patterns. */
export interface ReconcileFiles {
  trades: readonly string[];
  /** Empty = those that are stored, where there are any. */
  quotes: readonly string[];
  /** Day aggregates of contracts, to compare volumes with; empty = not compared. */
  dayAggregates: readonly string[];
}

export interface ReconcileOptions {
  session: SessionDate;
  maxErrors: number;
  now: Clock;
  /** Continuous interest rate of the minute solves, a fraction a year; the usual one when absent. */
  rate?: number | undefined;
  /** Contracts of an underlying that are solved every minute; 0 = none. */
  solveMost?: number | undefined;
  /** Threads that read the tape and make its session; 1 = this thread alone, the usual. */
  threads?: number | undefined;
  /** Aborted to stop: everything is rolled back, and its reason is thrown. */
  signal?: AbortSignal;
  onBytes?: (bytes: number) => void;
}

/** What became of a session. */
export interface ReconcileReport {
  session: SessionDate;
  /** `refused`: nothing was stored, and what was there before stands. */
  status: 'reconciled' | 'refused';
  /** Why it was refused; null when it was reconciled. */
  reason: string | null;
  /** Prints of the session, contracts and underlyings they are of, and large trades found. */
  prints: number;
  contracts: number;
  underlyings: number;
  largeTrades: number;
  /** Contracts compared with day aggregates, and those whose volume differs; their underlyings are not complete. */
  compared: number;
  differences: VolumeDifference[];
  badLines: BadLine[];
  badLineCount: number;
  notes: string[];
}

async function store(
  tx: Transaction,
  files: OptionTapeFiles,
  paths: ReconcileFiles,
  log: BadLineLog,
  {
    session: date,
    now,
    rate = methodologySettings.usualRate,
    solveMost = tapeSettings.solvedContracts,
    onBytes = () => {},
  }: ReconcileOptions,
): Promise<Omit<ReconcileReport, 'badLines' | 'badLineCount'>> {
  const aggregates = await readDayVolumes(paths.dayAggregates, date, instantBounds(now()), log.add, onBytes);
  if (log.refused()) throw new FileRefused();
  const differences: VolumeDifference[] = [];
  const differing = new Set<string>();
  await lockOptionSessions(tx);
  const nowMs = now();
  const writer = optionSessionWriter(tx, date, {
    withoutGaps: (underlying) => log.count() === 0 && !differing.has(underlying),
    nowMs,
    source: 'option_trades_file',
  });
  const compare = ({ underlying, contracts, volumes }: MadeSession) => {
    if (volumes.length === 0) return;
    const onTape = contracts.map((contract, i) => ({ contract, volume: volumes[i]! }));
    const found = volumeDifferences(underlying, onTape, aggregates.get(underlying) ?? new Map());
    if (found.length > 0) differing.add(underlying);
    differences.push(...found);
  };
  if (!files.sessions.includes(date)) throw new TapeFileError(paths.trades[0]!, `no print of ${date}`);
  const plan = await sessionPlan(tx, files, { nowMs, solving: { rate, most: solveMost }, only: date });
  try {
    for await (const session of files.make(plan)) {
      if (paths.dayAggregates.length > 0) compare(session);
      await writer.add(session);
    }
  } finally {
    await writer.settle();
  }
  const { counts, contracts, underlyings, largeTrades } = await writer.done();
  return {
    session: date,
    status: 'reconciled',
    reason: null,
    prints: counts.prints,
    contracts,
    underlyings,
    largeTrades,
    compared: [...aggregates.values()].reduce((sum, { size }) => sum + size, 0),
    differences: differences.sort((a, b) => (a.contract < b.contract ? -1 : 1)),
    notes: [...tapeNotes(date, counts, now()), ...quoteNotes(paths.quotes, files)],
  };
}

async function rebuild(
  tx: Transaction,
  paths: ReconcileFiles,
  log: BadLineLog,
  options: ReconcileOptions,
): Promise<Omit<ReconcileReport, 'badLines' | 'badLineCount'>> {
  const onBytes = (bytes: number) => {
    options.signal?.throwIfAborted();
    options.onBytes?.(bytes);
  };
  // Asked again of each underlying that is written: this spares the reading of a tape that cannot be.
  await rejectSealed(tx, [{ symbol: wholeSession, sessionDate: options.session }]);
  const source = quotesOfTape(tx, paths.quotes);
  const { session: date, threads = 1 } = options;
  const files = await readOptionTape({
    trades: paths.trades,
    quotes: 'files' in source ? source : { stored: (span) => source.stored({ ...span, from: date, to: date }) },
    threads,
    bounds: instantBounds(options.now()),
    onBadLine: log.add,
    onBytes,
    refused: log.refused,
  });
  try {
    if (log.refused()) throw new FileRefused();
    return await store(tx, files, paths, log, { ...options, onBytes });
  } finally {
    await files.close();
  }
}

// Bad lines are reported as the files are read.
const readOnce = { once: true };

/**
 * Rebuilds a session from its full option tape, in one transaction: its data of the underlyings on the tape replaces
 * what was stored before, live or reconciled, including what was ingested in the meantime. Prints of other sessions are
 * skipped. Throws `NoSuchFileError` for a pattern without files, and when the store fails.
 */
export async function reconcile(
  store: Store,
  given: ReconcileFiles,
  options: ReconcileOptions,
): Promise<ReconcileReport> {
  const { session, maxErrors, now, signal } = options;
  const paths = {
    trades: await expandPatterns(given.trades),
    quotes: await expandPatterns(given.quotes),
    dayAggregates: await expandPatterns(given.dayAggregates),
  };
  const log = badLineLog(maxErrors);
  const found = () => ({ badLines: log.badLines, badLineCount: log.count() });
  const refused = (reason: string): ReconcileReport => ({
    session,
    status: 'refused',
    reason,
    prints: 0,
    contracts: 0,
    underlyings: 0,
    largeTrades: 0,
    compared: 0,
    differences: [],
    notes: [],
    ...found(),
  });
  if (!optionsAreOver(session, now())) return refused(`${session} is not over`);
  try {
    const report = await inSettledTransaction(
      store,
      async (tx) => {
        const rebuilt = await rebuild(tx, paths, log, options);
        await forgetFiles(tx, ['option-trades', 'option-minute-bars'], [session]);
        signal?.throwIfAborted();
        if (await noteOwnData(tx, now)) rebuilt.notes.push(sampleKeyEnded);
        return rebuilt;
      },
      readOnce,
    );
    await analyzeGrown(store);
    return { ...report, ...found() };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof FileRefused) return refused(log.reason());
    if (error instanceof TapeFileError || error instanceof SessionSealed) return refused(error.message);
    throw error;
  }
}

import { methodologySettings, tapeSettings } from '../../../core/analytics/methodology.ts';
import { optionsAreOver } from '../../../core/domain/calendar.ts';
import { contractId } from '../../../core/domain/chain/option-contract.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { GenerationPart, IngestedSource } from '../../../core/domain/generation.ts';
import { type InstantBounds, instantBounds } from '../../../core/domain/instant-gate.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import { forgetFiles, saveReconciledFiles } from '../../../store/market/ingested-files.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { markFiles } from '../../../store/market/session-origins.ts';
import { rejectSealed, SessionSealed, wholeSession } from '../../../store/market/session-seals.ts';
import { beginOwnData } from '../../../store/origin.ts';
import type { Store } from '../../../store/rows/connection.ts';
import { analyzeGrown } from '../../../store/rows/statistics.ts';
import { inSettledTransaction, isUsable, type Transaction } from '../../../store/rows/transaction.ts';
import { asGeneration } from '../../../store/superseded/generation.ts';
import { pruneExpired } from '../../../store/superseded/prune.ts';
import { optionMinuteBars } from '../../tape/chains/option-bars.ts';
import { dayBarDate } from '../../tape/csv/bar-lines.ts';
import { readCsv } from '../../tape/csv/csv.ts';
import { type BadLine, type OnBadLine, type OnBytes, TapeFileError } from '../../tape/csv/tape-file.ts';
import { type BadLineLog, badLineLog, FileRefused, rejectionReason } from '../files/bad-line-log.ts';
import { FileMeters } from '../files/content-hash.ts';
import { usualKeepDays } from '../files/file-job.ts';
import { expandPatterns } from '../files/file-patterns.ts';
import { noteGenerations } from '../files/generations.ts';
import { hoursByPart, openTapeGuard } from '../files/tape-guard.ts';
import type { SessionChange } from '../files/tape-report.ts';
import type { MadeSession } from './option-session.ts';
import { lockOptionSessions, optionSessionWriter } from './option-session-writer.ts';
import { quoteNotes, repeatedNotes, sessionPlan, tapeNotes } from './option-tape.ts';
import { type OptionTapeFiles, readOptionTape } from './option-tape-files.ts';
import { quotesOfTape } from './quote-source.ts';

/** A contract whose volume on the tape differs from the day aggregates. */
interface VolumeDifference {
  underlying: string;
  /** `O:` and the OSI symbol. */
  contract: string;
  /** Contracts; 0 = did not trade. */
  tape: number;
  dayAggregate: number;
}

/** Volumes of a session's contracts (`O:…`) by underlying, from day aggregate files. Throws `TapeFileError`. */
async function readDayVolumes(
  paths: readonly string[],
  session: SessionDate,
  { bounds, roots }: { bounds: InstantBounds; roots: OptionRoots },
  onBadLine: OnBadLine,
  onBytes: OnBytes,
): Promise<Map<string, Map<string, number>>> {
  const volumes = new Map<string, Map<string, number>>();
  for (const path of paths) {
    for await (const { records } of readCsv(path, [optionMinuteBars(bounds)], onBadLine, onBytes)) {
      for (const { contract, bar } of records) {
        if (dayBarDate(bar.tsMs) !== session) continue;
        const underlying = roots.of(contract.root, session).underlying;
        const known = volumes.get(underlying) ?? new Map<string, number>();
        if (known.size === 0) volumes.set(underlying, known);
        const id = contractId(contract);
        if (known.has(id) && known.get(id) !== bar.volume)
          throw new TapeFileError(
            path,
            `lines of one bar differ: ${id} on ${session}; expected one line per contract and day: bars of venues ` +
              'cannot be told from corrections here',
          );
        known.set(id, bar.volume);
      }
    }
  }
  return volumes;
}

/**
 * Differences by contract between the tape of an underlying and its day aggregates. A contract that one of them lacks
 * has a volume of 0 there.
 */
function volumeDifferences(
  underlying: string,
  onTape: readonly { contract: string; volume: number }[],
  inAggregates: ReadonlyMap<string, number>,
): VolumeDifference[] {
  const tape = new Map(onTape.map(({ contract, volume }) => [contract, volume]));
  return [...new Set([...tape.keys(), ...inAggregates.keys()])]
    .map((contract) => ({
      underlying,
      contract,
      tape: tape.get(contract) ?? 0,
      dayAggregate: inAggregates.get(contract) ?? 0,
    }))
    .filter((difference) => difference.tape !== difference.dayAggregate)
    .sort((a, b) => (a.contract < b.contract ? -1 : 1));
}

/** Files of a session to rebuild: names and patterns. */
export interface ReconcileFiles {
  trades: readonly string[];
  /** Empty = the stored ones, if any. */
  quotes: readonly string[];
  /** Day aggregates of contracts, to compare volumes with; empty = not compared. */
  dayAggregates: readonly string[];
}

export interface ReconcileOptions {
  session: SessionDate;
  maxErrors: number;
  now: Clock;
  /** Continuous interest rate of the minute solves, a fraction per year; the default if absent. */
  rate?: number | undefined;
  /** Number of contracts per underlying that are solved every minute; 0 = none. */
  solveMost?: number | undefined;
  /** Number of days that prints wait for the tape of their session; 14 if absent. */
  keepDays?: number | undefined;
  /** Number of threads that read the tape and compute its session; 1 = only the main thread, the default. */
  threads?: number | undefined;
  /** Aborted to stop: everything is rolled back, and its reason is thrown. */
  signal?: AbortSignal;
  onBytes?: (bytes: number) => void;
}

/** Result of rebuilding a session. */
export interface ReconcileReport {
  session: SessionDate;
  /** `refused`: nothing was stored or changed. */
  status: 'reconciled' | 'refused';
  /** Reason for `refused`; null if reconciled. */
  reason: string | null;
  /** Number of prints on the tapes of these underlyings before and after; null = nothing was stored. */
  change: SessionChange | null;
  /** Number of prints of the session, of their contracts and underlyings, and of large trades. */
  prints: number;
  contracts: number;
  underlyings: number;
  largeTrades: number;
  /**
   * Number of contracts compared with day aggregates, and of those whose volume differs; their underlyings are
   * incomplete.
   */
  compared: number;
  differences: VolumeDifference[];
  badLines: BadLine[];
  badLineCount: number;
  notes: string[];
}

/** A session that was rebuilt, and what was written of it. */
interface Rebuilt {
  report: Omit<ReconcileReport, 'badLines' | 'badLineCount'>;
  written: readonly GenerationPart[];
}

/** Compares the volumes of a tape's contracts with their day aggregates, by underlying. */
class VolumeComparison {
  readonly #aggregates: Awaited<ReturnType<typeof readDayVolumes>>;
  readonly #differing = new Set<string>();
  readonly #differences: VolumeDifference[] = [];

  constructor(aggregates: Awaited<ReturnType<typeof readDayVolumes>>) {
    this.#aggregates = aggregates;
  }

  add({ underlying, contracts, volumes }: MadeSession): void {
    if (volumes.length === 0) return;
    const onTape = contracts.map((contract, i) => ({ contract, volume: volumes[i]! }));
    const found = volumeDifferences(underlying, onTape, this.#aggregates.get(underlying) ?? new Map());
    if (found.length > 0) this.#differing.add(underlying);
    this.#differences.push(...found);
  }

  differs(underlying: string): boolean {
    return this.#differing.has(underlying);
  }

  /** True if the underlying has day aggregates, and none differs so far. */
  confirms(underlying: string): boolean {
    return this.#aggregates.has(underlying) && !this.differs(underlying);
  }

  /** Number of contracts with a day aggregate, and the differing ones by contract. */
  result(): { compared: number; differences: VolumeDifference[] } {
    return {
      compared: [...this.#aggregates.values()].reduce((sum, { size }) => sum + size, 0),
      differences: this.#differences.sort((a, b) => (a.contract < b.contract ? -1 : 1)),
    };
  }
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
    keepDays = usualKeepDays,
    onBytes = () => {},
    roots,
  }: ReconcileOptions & { roots: OptionRoots },
): Promise<Rebuilt> {
  const known = { bounds: instantBounds(now()), roots };
  const aggregates = await readDayVolumes(paths.dayAggregates, date, known, log.add, onBytes);
  if (log.refused()) throw new FileRefused();
  const comparison = new VolumeComparison(aggregates);
  await lockOptionSessions(tx);
  const nowMs = now();
  const guard = await openTapeGuard(tx, {
    dataset: 'option-trades',
    parts: files.parts.filter(({ session }) => session === date),
    filesOf: () => [...paths.trades],
    replace: true,
    keepDays,
    nowMs,
  });
  const writer = optionSessionWriter(tx, date, {
    isWhole: (underlying) => log.count() === 0 && !comparison.differs(underlying),
    isConfirmed: (underlying) => comparison.confirms(underlying),
    hoursOf: hoursByPart(files.parts),
    nowMs,
    source: 'option_trades_file',
    roots,
  });
  if (!files.sessions.includes(date)) throw new TapeFileError(paths.trades[0]!, `no print of ${date}`);
  const solving = { rate, most: solveMost };
  const plan = await sessionPlan(tx, files, { nowMs, solving, isWanted: (each) => each === date });
  try {
    for await (const session of files.make(plan)) {
      if (paths.dayAggregates.length > 0) comparison.add(session);
      await writer.add(session);
      if (session.observed === null) continue;
      await guard.wrote({ symbol: session.underlying, session: date, prints: session.prints }, session.sketch);
    }
  } finally {
    await writer.settle();
  }
  const { counts, contracts, underlyings, largeTrades } = await writer.done();
  const { sessions, written } = await guard.done();
  const report = {
    session: date,
    status: 'reconciled' as const,
    reason: null,
    change: sessions[0] ?? null,
    prints: counts.prints,
    contracts,
    underlyings,
    largeTrades,
    ...comparison.result(),
    notes: [...tapeNotes(date, counts, now()), ...repeatedNotes(files), ...quoteNotes(paths.quotes, files)],
  };
  return { report, written };
}

/** The error to report for one of rebuilding: if it is not of the store, the files caused it, whatever its class. */
async function errorOfFile(tx: Transaction, path: string, error: unknown): Promise<unknown> {
  const isKnown = [FileRefused, TapeFileError, SessionSealed].some((kind) => error instanceof kind);
  if (isKnown || !(await isUsable(tx, error))) return error;
  return new TapeFileError(path, `cannot be read (${(error as Error).message})`, { cause: error });
}

async function rebuild(
  tx: Transaction,
  paths: ReconcileFiles,
  log: BadLineLog,
  options: ReconcileOptions,
): Promise<Rebuilt & { sources: IngestedSource[] }> {
  const onBytes = (bytes: number) => {
    options.signal?.throwIfAborted();
    options.onBytes?.(bytes);
  };
  // Checked again for each written underlying; this early check spares reading a tape that cannot be stored.
  await rejectSealed(tx, [{ symbol: wholeSession, sessionDate: options.session }]);
  const source = quotesOfTape(tx, paths.quotes);
  const { session: date, threads = 1 } = options;
  const roots = await readRoots(tx);
  const meters = new FileMeters();
  const files = await readOptionTape({
    trades: paths.trades.map((path) => ({
      path,
      onBytes(count, text) {
        if (text) meters.add(path, text);
        onBytes(count);
      },
    })),
    onQuoteText: (path, text) => meters.add(path, text),
    quotes: 'files' in source ? source : { stored: (span) => source.stored({ ...span, from: date, to: date }) },
    threads,
    bounds: instantBounds(options.now()),
    roots,
    onBadLine: log.add,
    onBytes,
    refused: log.refused,
  });
  try {
    if (log.refused()) throw new FileRefused();
    const rebuilt = await store(tx, files, paths, log, { ...options, onBytes, roots });
    return { ...rebuilt, sources: meters.sources() };
  } catch (error) {
    options.signal?.throwIfAborted();
    throw await errorOfFile(tx, paths.trades[0]!, error);
  } finally {
    await files.close();
  }
}

// Bad lines are reported as the files are read.
const readOnce = { once: true };

/**
 * Rebuilds a session from its full option tape, in one transaction: the data of the underlyings on the tape replaces
 * the stored data, live or reconciled, including data ingested in the meantime. Prints of other sessions are skipped.
 * Throws `NoSuchFileError` for a pattern without files, and when the store fails.
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
  let log = badLineLog(maxErrors);
  const found = () => ({ badLines: log.badLines, badLineCount: log.count() });
  const refused = (reason: string): ReconcileReport => ({
    session,
    status: 'refused',
    reason,
    change: null,
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
    const work = (tx: Transaction) =>
      asGeneration(tx, now, async () => {
        log = badLineLog(maxErrors);
        const notes = await beginOwnData(tx, now());
        const { report, written, sources } = await rebuild(tx, paths, log, options);
        await markFiles(tx, { symbols: tx.changes.symbols(), sessions: [session] }, 'option-trades');
        await forgetFiles(tx, ['option-trades', 'option-minute-bars'], [session]);
        const { prints: rows } = report;
        await saveReconciledFiles(tx, 'option-trades', session, { names: paths.trades, rows, nowMs: now() });
        const how = { made: 'reconciliation', files: sources, live: null, ingestedMs: now() } as const;
        await noteGenerations(tx, 'option-trades', written, how);
        signal?.throwIfAborted();
        return { ...report, notes: [...report.notes, ...notes] };
      });
    const report = await inSettledTransaction(store, work, readOnce);
    await Promise.all([analyzeGrown(store), pruneExpired(store, now())]);
    return { ...report, ...found() };
  } catch (error) {
    signal?.throwIfAborted();
    return refused(rejectionReason(error, log));
  }
}

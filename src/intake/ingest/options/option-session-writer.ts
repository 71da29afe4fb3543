import { rankedLists } from '../../../core/analytics/flow/ranked-prints.ts';
import { emptyCounts, type OptionTapeCounts } from '../../../core/analytics/session/option-tape.ts';
import { optionsAreOver } from '../../../core/domain/calendar.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import {
  type Coverage,
  type CoverageStatus,
  type CrossSection,
  rankedListNames,
} from '../../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { reachesClose, type TapeHours } from '../../../core/domain/tape-hours.ts';
import { lockOptionBars, replaceOptionBars } from '../../../store/chain/option-bars.ts';
import { saveEncodedMinutes } from '../../../store/flow/contract-minutes.ts';
import { saveCrossSections } from '../../../store/flow/cross-sections.ts';
import { saveEncodedEvents } from '../../../store/flow/events.ts';
import { saveRankedLists, saveWholeRankedList, wholeList } from '../../../store/flow/ranked-prints.ts';
import { crossSectionNumbers, lockFlow, removeFlow, saveCoverages } from '../../../store/flow/sessions.ts';
import { registryVersion } from '../../../store/market/registry-version.ts';
import { rejectSealed } from '../../../store/market/session-seals.ts';
import { classesOf } from '../../../store/market/symbols.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';
import type { MadeSession } from './option-session.ts';

// Number of contracts of sessions that are written together: most underlyings have few.
const contractsAtOnce = 2048;

/** Properties of a session's tape besides its records. */
export interface SessionTapeInfo {
  /**
   * True if the tape of an underlying is complete as far as it extends: every line was valid, and volumes equal those
   * of the day aggregates, if there are any.
   */
  isWhole(underlying: string): boolean;
  /** True if the day aggregates have the same volumes, however far the tape extends; absent = not compared. */
  isConfirmed?(underlying: string): boolean;
  /** The part of a session that the files with prints of an underlying have. */
  hoursOf(underlying: string, session: SessionDate): TapeHours;
  nowMs: number;
  /** Source of the figures; informational. */
  source: string;
  roots: OptionRoots;
}

/**
 * Coverage of a session from a file. Once it is over, a tape that reaches the close observed all its hours, whenever
 * the underlying traded; another one as far as it extends.
 */
function coverageOf(
  { date, underlying, standardMultiplier, observed }: MadeSession,
  { isWhole, isConfirmed, nowMs, hoursOf }: SessionTapeInfo,
  registryVersion: number,
): Coverage {
  const { fromMs, throughMs } = observed!;
  const tape = hoursOf(underlying, date);
  const over = optionsAreOver(date, nowMs);
  const confirmed = isConfirmed?.(underlying) ?? false;
  const reaches = reachesClose(tape) || confirmed;
  return {
    status: over ? 'eod_reconciled' : 'observed_live',
    complete: over && reaches && isWhole(underlying),
    sessionDate: date,
    observedFromMs: over ? Math.min(fromMs, tape.openMs) : fromMs,
    observedThroughMs: over ? Math.max(throughMs, reaches ? tape.closeMs : tape.lastMs) : throughMs,
    registryVersion,
    standardMultiplierAssumed: standardMultiplier,
  };
}

/** Status of a session's bars and lists from its tape. */
export const statusOf = (date: SessionDate, nowMs: number): CoverageStatus =>
  optionsAreOver(date, nowMs) ? 'eod_reconciled' : 'observed_live';

function stampOf(date: SessionDate, { nowMs, source }: SessionTapeInfo) {
  return { sessionDate: date, coverageStatus: statusOf(date, nowMs), scannedAtMs: nowMs, source };
}

async function saveLists(
  tx: Transaction,
  sessions: readonly MadeSession[],
  tapeInfo: SessionTapeInfo,
): Promise<number> {
  const tops = sessions
    .filter(({ top }) => top.length > 0)
    .map(({ underlying, top }) => ({ underlying, prints: top }))
    .sort((a, b) => (a.underlying < b.underlying ? -1 : 1));
  const classes = await classesOf(
    tx,
    tops.map(({ underlying }) => underlying),
  );
  const stamp = stampOf(sessions[0]!.date, tapeInfo);
  // The list over all underlyings includes those of other batches and files.
  const lists = rankedLists(tops, (underlying) => classes.get(underlying) === 'index', stamp).filter(
    ({ scope }) => scope !== wholeList,
  );
  await saveRankedLists(tx, lists);
  return lists.reduce((sum, { prints }) => sum + prints.length, 0);
}

/** Writes the results of some underlyings' sessions of one date, in a transaction that holds `lockOptionSessions`. */
async function saveSessions(
  tx: Transaction,
  sessions: readonly MadeSession[],
  tapeInfo: SessionTapeInfo,
): Promise<number> {
  const { date } = sessions[0]!;
  const symbols = sessions.map(({ underlying }) => underlying);
  await rejectSealed(
    tx,
    symbols.map((symbol) => ({ symbol, sessionDate: date })),
  );
  await saveUnderlyings(tx, new Set(sessions.flatMap(({ roots }) => roots)), tapeInfo.roots);
  const numbers = await crossSectionNumbers(tx, date, symbols);
  await removeFlow(tx, date, symbols);
  const version = await registryVersion(tx);
  const coverages = new Map<string, Coverage>();
  const sections: CrossSection[] = [];
  for (const session of sessions) {
    const { underlying: symbol, section } = session;
    const coverage = coverageOf(session, tapeInfo, version);
    coverages.set(symbol, coverage);
    if (section.byStrike.length > 0)
      sections.push({ symbol, seq: (numbers.get(symbol) ?? 0) + 1, coverage, ...section });
  }
  await saveCoverages(tx, coverages);
  await saveCrossSections(tx, sections);
  await saveEncodedMinutes(
    tx,
    sessions.map(({ minutes }) => minutes),
  );
  await saveEncodedEvents(
    tx,
    sessions.map(({ events }) => events),
  );
  const blocks = await replaceOptionBars(
    tx,
    date,
    symbols,
    sessions.map(({ bars }) => bars),
  );
  const trades = sessions.reduce((sum, { largeTrades }) => sum + largeTrades, 0);
  return sections.length + trades + blocks + (await saveLists(tx, sessions, tapeInfo));
}

/** Totals of the sessions of a date. */
export interface OptionSessionTotals {
  counts: OptionTapeCounts;
  contracts: number;
  underlyings: number;
  largeTrades: number;
  /** Number of rows and blocks written. */
  changed: number;
}

/** Writes the sessions of one date as they are computed. */
export interface OptionSessionWriter {
  readonly date: SessionDate;
  /** Writes a session, immediately or with the next. */
  add(session: MadeSession): Promise<void>;
  /** Writes the rest of the date, and builds its lists over all underlyings. */
  done(): Promise<OptionSessionTotals>;
  /** Waits for writes in progress, failed or not: always call it before the transaction ends. */
  settle(): Promise<void>;
}

/** Takes the locks of a writer of whole sessions, until the transaction ends. */
export async function lockOptionSessions(tx: Transaction): Promise<void> {
  await lockFlow(tx);
  await lockOptionBars(tx);
}

/**
 * Writes the sessions of a date, each computed from its whole tape, in the caller's transaction, which holds
 * `lockOptionSessions`: the flow, bars and lists of every underlying replace the stored ones, whether observed live or
 * reconciled before. Underlyings without a session are unchanged.
 */
export function optionSessionWriter(
  tx: Transaction,
  date: SessionDate,
  tapeInfo: SessionTapeInfo,
): OptionSessionWriter {
  const counts = emptyCounts();
  const totals: OptionSessionTotals = { counts, contracts: 0, underlyings: 0, largeTrades: 0, changed: 0 };
  let held: MadeSession[] = [];
  let heldContracts = 0;
  // Sessions are written while the next ones are computed.
  let writing: Promise<number> | null = null;
  async function written() {
    if (writing) totals.changed += await writing;
    writing = null;
  }
  async function write() {
    await written();
    if (held.length === 0) return;
    writing = saveSessions(tx, held, tapeInfo);
    // A failure is thrown where it is awaited.
    writing.catch(() => {});
    held = [];
    heldContracts = 0;
  }
  return {
    date,
    async add(session) {
      for (const name of Object.keys(counts) as (keyof OptionTapeCounts)[]) counts[name] += session.counts[name];
      // Only quotes, or prints that are in no figure.
      if (session.observed === null) return;
      const contracts = session.contracts.length;
      totals.contracts += contracts;
      totals.underlyings++;
      totals.largeTrades += session.largeTrades;
      held.push(session);
      heldContracts += contracts;
      if (heldContracts >= contractsAtOnce) await write();
    },
    async done() {
      await write();
      await written();
      for (const list of rankedListNames) await saveWholeRankedList(tx, list, date, stampOf(date, tapeInfo));
      return totals;
    },
    async settle() {
      await writing?.catch(() => {});
    },
  };
}

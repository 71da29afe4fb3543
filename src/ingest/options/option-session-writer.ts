import { rankedLists } from '../../analytics/flow/ranked-prints.ts';
import { emptyCounts, type OptionTapeCounts } from '../../analytics/session/option-tape.ts';
import { optionsAreOver, regularSession } from '../../domain/calendar.ts';
import type { TradedUnderlying } from '../../domain/chain/contract-book.ts';
import type { Coverage } from '../../domain/flow/coverage.ts';
import { type CrossSection, type LargeTrade, rankedListNames } from '../../domain/flow/flow.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import {
  lockOptionBars,
  type OptionBarBlock,
  optionBarBlock,
  replaceOptionBars,
} from '../../store/chain/option-bars.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import { saveCoverages } from '../../store/flow/coverage.ts';
import { saveCrossSections } from '../../store/flow/cross-sections.ts';
import { saveLargeTrades } from '../../store/flow/events.ts';
import { saveRankedLists, saveWholeRankedList, wholeList } from '../../store/flow/ranked-prints.ts';
import { crossSectionNumbers, lockFlow, removeFlow } from '../../store/flow/sessions.ts';
import { rejectSealed } from '../../store/market/session-seals.ts';
import { classesOf, symbolsVersion } from '../../store/market/symbols.ts';
import { slices } from '../files/bar-batch.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';
import { createPrintSession, createQuotedSession, type OnContractBars, type OptionSession } from './option-session.ts';
import { type Solving, sessionSolver } from './session-greeks.ts';

const tradesAtOnce = 2000;
// Contracts of sessions that are held to be written together: most underlyings have few.
const contractsAtOnce = 2048;

/** What is known of a session's tape beside its records. */
export interface SessionTapeInfo {
  /**
   * Whether the tape of an underlying is known to be whole: every line was understood, and volumes are those of the day
   * aggregates, where there are any.
   */
  withoutGaps(underlying: string): boolean;
  nowMs: number;
  /** What the figures are made from; informational. */
  source: string;
  /**
   * How contracts are solved by the minute; null for a tape without quotes: they are not, and what was solved of them
   * before stays.
   */
  solving: Solving | null;
}

/** What was observed of a session that came as a file: all its hours, once it is over. */
function coverageOf(
  { date, tape, underlying }: OptionSession,
  { withoutGaps, nowMs }: SessionTapeInfo,
  registryVersion: number,
): Coverage {
  const { fromMs, throughMs } = tape.observed.of(underlying)!;
  const hours = regularSession(date);
  const over = optionsAreOver(date, nowMs);
  return {
    status: over ? 'eod_reconciled' : 'observed_live',
    complete: over && withoutGaps(underlying.symbol),
    sessionDate: date,
    observedFromMs: over && hours ? Math.min(fromMs, hours.openMs) : fromMs,
    observedThroughMs: over && hours ? Math.max(throughMs, hours.closeMs) : throughMs,
    registryVersion,
    standardMultiplierAssumed: tape.crossSections.volumes().every(({ contract }) => contract.multiplier === 100),
  };
}

function largeTradesOf({ events, underlying }: OptionSession, coverage: Coverage): LargeTrade[] {
  return [...events.values()]
    .sort((a, b) => a.eventTsMs - b.eventTsMs || (a.eventId < b.eventId ? -1 : 1))
    .map((event, i) => ({ symbol: underlying.symbol, seq: i + 1, coverage, event }));
}

function stampOf(date: SessionDate, { nowMs, source }: SessionTapeInfo) {
  const coverageStatus = optionsAreOver(date, nowMs) ? ('eod_reconciled' as const) : ('observed_live' as const);
  return { sessionDate: date, coverageStatus, scannedAtMs: nowMs, source };
}

async function saveLists(
  tx: Transaction,
  sessions: readonly OptionSession[],
  tapeInfo: SessionTapeInfo,
): Promise<number> {
  const tops = sessions.flatMap(({ tape }) => tape.ranked.tops());
  const classes = await classesOf(
    tx,
    tops.map(({ underlying }) => underlying),
  );
  const stamp = stampOf(sessions[0]!.date, tapeInfo);
  // The list over all has the underlyings of other batches, and of other files, too.
  const lists = rankedLists(tops, (underlying) => classes.get(underlying) === 'index', stamp).filter(
    ({ scope }) => scope !== wholeList,
  );
  await saveRankedLists(tx, lists);
  return lists.reduce((sum, { prints }) => sum + prints.length, 0);
}

/**
 * Writes what is made of some underlyings' sessions of one date, `bars` of all of them, in a transaction that holds the
 * locks of flow and bars.
 */
async function saveSessions(
  tx: Transaction,
  sessions: readonly OptionSession[],
  bars: readonly OptionBarBlock[],
  tapeInfo: SessionTapeInfo,
): Promise<number> {
  const { date } = sessions[0]!;
  const symbols = sessions.map(({ underlying }) => underlying.symbol);
  await rejectSealed(
    tx,
    symbols.map((symbol) => ({ symbol, sessionDate: date })),
  );
  const contracts = sessions.flatMap(({ tape }) => tape.crossSections.volumes().map(({ contract }) => contract));
  await saveUnderlyings(tx, new Set(contracts.map(({ contract }) => contract.root)));
  const numbers = await crossSectionNumbers(tx, date, symbols);
  await removeFlow(tx, date, symbols);
  const version = await symbolsVersion(tx);
  const coverages = new Map<string, Coverage>();
  const sections: CrossSection[] = [];
  const trades: LargeTrade[] = [];
  for (const session of sessions) {
    const { tape, underlying } = session;
    const coverage = coverageOf(session, tapeInfo, version);
    coverages.set(underlying.symbol, coverage);
    const section = tape.crossSections.snapshot(underlying, coverage);
    if (section) sections.push({ ...section, seq: (numbers.get(underlying.symbol) ?? 0) + 1 });
    trades.push(...largeTradesOf(session, coverage));
  }
  await saveCoverages(tx, coverages);
  await saveCrossSections(tx, sections);
  for (const slice of slices(trades, tradesAtOnce)) await saveLargeTrades(tx, slice);
  const blocks = await replaceOptionBars(tx, date, symbols, bars);
  return sections.length + trades.length + blocks + (await saveLists(tx, sessions, tapeInfo));
}

/** What the sessions of a date were in all. */
export interface OptionSessionTotals {
  counts: OptionTapeCounts;
  contracts: number;
  underlyings: number;
  largeTrades: number;
  /** Rows and blocks written. */
  changed: number;
}

/** Writes the sessions of one date as they are made. */
export interface OptionSessionWriter {
  readonly date: SessionDate;
  /** An empty session of an underlying. */
  open(underlying: TradedUnderlying): OptionSession;
  /** Writes a session that was opened last and has ended, at once or with the next. */
  add(session: OptionSession): Promise<void>;
  /** All of the date is written, and its lists over all underlyings are made. */
  done(): Promise<OptionSessionTotals>;
  /** Waits until nothing is being written, failed or not: called before the transaction is left, whatever happened. */
  settle(): Promise<void>;
}

/**
 * Writes the sessions of a date, each made from its whole tape, in the caller's transaction: the flow, bars and lists
 * of every underlying take the place of what was there, whether observed live or reconciled before. Underlyings that do
 * not come stay as they are.
 */
export async function optionSessionWriter(
  tx: Transaction,
  date: SessionDate,
  tapeInfo: SessionTapeInfo,
): Promise<OptionSessionWriter> {
  await lockFlow(tx);
  await lockOptionBars(tx);
  const counts = emptyCounts();
  const totals: OptionSessionTotals = { counts, contracts: 0, underlyings: 0, largeTrades: 0, changed: 0 };
  const solver = tapeInfo.solving ? await sessionSolver(tx, date, tapeInfo.solving) : () => null;
  const { coverageStatus } = stampOf(date, tapeInfo);
  let held: OptionSession[] = [];
  // The bars of the sessions held, as they are stored.
  let bars: OptionBarBlock[] = [];
  let heldContracts = 0;
  // Sessions are written while the next ones are made.
  let writing: Promise<number> | null = null;
  async function written() {
    if (writing) totals.changed += await writing;
    writing = null;
  }
  async function write() {
    await written();
    if (held.length === 0) return;
    writing = saveSessions(tx, held, bars, tapeInfo);
    // A failure is thrown where it is awaited.
    writing.catch(() => {});
    held = [];
    bars = [];
    heldContracts = 0;
  }
  function open(underlying: TradedUnderlying): OptionSession {
    const onBars: OnContractBars = ({ id }, barsOf) => {
      for (const timeframe of ['1m', '5m'] as const) {
        const run = { sessionDate: date, underlying: underlying.symbol, contract: id, timeframe };
        const ofContract = barsOf(timeframe);
        if (ofContract.tsMs.length === 0) return;
        bars.push(optionBarBlock({ ...run, bars: ofContract }, coverageStatus));
      }
    };
    if (tapeInfo.solving === null) return createPrintSession(underlying, date, onBars);
    return createQuotedSession(underlying, date, onBars, { greeks: solver(underlying), nowMs: tapeInfo.nowMs });
  }
  return {
    date,
    open,
    async add(session) {
      const { tape, events } = session;
      for (const name of Object.keys(counts) as (keyof OptionTapeCounts)[]) counts[name] += tape.counts[name];
      // Quotes alone, or prints that are in no figure.
      if (!tape.observed.of(session.underlying)) return;
      const contracts = tape.crossSections.volumes().length;
      totals.contracts += contracts;
      totals.underlyings++;
      totals.largeTrades += events.size;
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

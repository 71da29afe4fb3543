import type { FlowChange } from '../analytics/flow-changes.ts';
import { createOptionTape, type OptionTape } from '../analytics/option-tape.ts';
import { rankedLists } from '../analytics/ranked-prints.ts';
import { isSealed, regularSession } from '../domain/calendar.ts';
import type { TradedUnderlying } from '../domain/contract-book.ts';
import type { Coverage } from '../domain/coverage.ts';
import { type FlowEvent, type LargeTrade, rankedListNames } from '../domain/flow.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { minuteMs } from '../domain/units.ts';
import { saveCrossSection } from '../store/cross-sections.ts';
import { saveCoverage } from '../store/flow-coverage.ts';
import { saveLargeTrades } from '../store/flow-events.ts';
import { crossSectionNumbers, lockFlow, removeFlow } from '../store/flow-sessions.ts';
import { lockOptionBars, type OptionBarRun, removeOptionBarsBut, saveOptionBars } from '../store/option-bars.ts';
import { saveRankedList, saveWholeRankedList, wholeList } from '../store/ranked-prints.ts';
import { classesOf, symbolsVersion } from '../store/symbols.ts';
import type { Transaction } from '../store/transaction.ts';
import { slices } from './bar-batch.ts';
import { saveUnderlyings } from './option-underlyings.ts';

const tradesAtOnce = 500;
const runsAtOnce = 512;
// Options on broad funds and indices trade a quarter of an hour beyond the close.
const lateCloseMs = 15 * minuteMs;

/** One session of an option tape being made, and the events that stand so far. */
export interface OptionSession {
  date: SessionDate;
  tape: OptionTape;
  events: Map<string, FlowEvent>;
}

/** An empty session. */
export function createOptionSession(date: SessionDate): OptionSession {
  const events = new Map<string, FlowEvent>();
  const onChange = (change: FlowChange) => {
    if (change.kind === 'added') events.set(change.event.eventId, change.event);
    else events.delete(change.eventId);
  };
  return { date, tape: createOptionTape({ session: date, onChange }), events };
}

/** What is known of a session's tape beside its records. */
export interface SessionFacts {
  /** Whether the tape of an underlying is known to be whole: every line was understood, and volumes are those of the day aggregates, where there are any. */
  withoutGaps(underlying: string): boolean;
  nowMs: number;
  /** What the figures are made from; informational. */
  source: string;
}

/** Whether no option trades any more in a session. */
export function isOver(session: SessionDate, nowMs: number): boolean {
  const hours = regularSession(session);
  return hours ? nowMs >= hours.closeMs + lateCloseMs : isSealed(session, nowMs);
}

/** What was observed of a session that came as a file: all its hours, once it is over. */
function coverageOf(
  { date, tape }: OptionSession,
  underlying: TradedUnderlying,
  { withoutGaps, nowMs }: SessionFacts,
  registryVersion: number,
  standardMultiplierAssumed: boolean,
): Coverage {
  const { fromMs, throughMs } = tape.observed.of(underlying)!;
  const hours = regularSession(date);
  const over = isOver(date, nowMs);
  return {
    status: over ? 'eod_reconciled' : 'observed_live',
    complete: over && withoutGaps(underlying.symbol),
    sessionDate: date,
    observedFromMs: over && hours ? Math.min(fromMs, hours.openMs) : fromMs,
    observedThroughMs: over && hours ? Math.max(throughMs, hours.closeMs) : throughMs,
    registryVersion,
    standardMultiplierAssumed,
  };
}

function largeTradesOf(events: readonly FlowEvent[], coverages: ReadonlyMap<string, Coverage>): LargeTrade[] {
  const numbers = new Map<string, number>();
  return [...events]
    .sort((a, b) => a.eventTsMs - b.eventTsMs || (a.eventId < b.eventId ? -1 : 1))
    .map((event) => {
      const seq = (numbers.get(event.underlying) ?? 0) + 1;
      numbers.set(event.underlying, seq);
      return { symbol: event.underlying, seq, coverage: coverages.get(event.underlying)!, event };
    });
}

async function saveBars(tx: Transaction, { date, tape }: OptionSession, nowMs: number): Promise<number> {
  let changed = 0;
  const contracts = new Map<string, string[]>(tape.observed.underlyings().map(({ symbol }) => [symbol, []]));
  const status = isOver(date, nowMs) ? 'eod_reconciled' : 'observed_live';
  for (const slice of slices(tape.bars.takeChanged(), runsAtOnce)) {
    for (const timeframe of ['1m', '5m'] as const) {
      const runs = slice
        .map(
          ({ contract }): OptionBarRun => ({
            underlying: contract.underlying.symbol,
            sessionDate: date,
            contract: contract.id,
            bars: tape.bars.bars(contract, timeframe),
          }),
        )
        .filter((run) => run.bars.tsMs.length > 0);
      changed += (await saveOptionBars(tx, timeframe, status, runs, { whole: true })).length;
      if (timeframe === '5m') continue;
      for (const { underlying, contract } of runs) contracts.get(underlying)!.push(contract);
    }
  }
  for (const [underlying, ids] of contracts) changed += await removeOptionBarsBut(tx, underlying, date, ids);
  return changed;
}

async function saveLists(tx: Transaction, { date, tape }: OptionSession, facts: SessionFacts): Promise<number> {
  const tops = tape.ranked.tops();
  const classes = await classesOf(
    tx,
    tops.map(({ underlying }) => underlying),
  );
  const stamp = {
    sessionDate: date,
    coverageStatus: isOver(date, facts.nowMs) ? ('eod_reconciled' as const) : ('observed_live' as const),
    scannedAtMs: facts.nowMs,
    source: facts.source,
  };
  let changed = 0;
  for (const list of rankedLists(tops, (underlying) => classes.get(underlying) === 'index', stamp)) {
    // The list over all has the underlyings of other files too.
    if (list.scope === wholeList) continue;
    await saveRankedList(tx, list);
    changed += list.prints.length;
  }
  for (const list of rankedListNames) await saveWholeRankedList(tx, list, date, stamp);
  return changed;
}

/**
 * Writes a session made from its whole tape, in the caller's transaction: the flow, bars and lists of every underlying in it take the place
 * of what was there, whether observed live or reconciled before. Underlyings that are not in it stay as they are. Returns how many rows
 * and blocks were written.
 */
export async function saveOptionSession(tx: Transaction, session: OptionSession, facts: SessionFacts): Promise<number> {
  const { date, tape, events } = session;
  await lockFlow(tx);
  await lockOptionBars(tx);
  const contracts = tape.crossSections.volumes().map(({ contract }) => contract);
  await saveUnderlyings(tx, new Set(contracts.map(({ contract }) => contract.root)));
  const underlyings = tape.observed.underlyings();
  const symbols = underlyings.map(({ symbol }) => symbol);
  const numbers = await crossSectionNumbers(tx, date, symbols);
  await removeFlow(tx, date, symbols);
  const version = await symbolsVersion(tx);
  const special = new Set(contracts.filter(({ multiplier }) => multiplier !== 100).map(({ underlying }) => underlying));
  const coverages = new Map<string, Coverage>();
  let changed = 0;
  for (const underlying of underlyings) {
    const coverage = coverageOf(session, underlying, facts, version, !special.has(underlying));
    coverages.set(underlying.symbol, coverage);
    await saveCoverage(tx, underlying.symbol, coverage);
    const section = tape.crossSections.snapshot(underlying, coverage);
    if (!section) continue;
    await saveCrossSection(tx, { ...section, seq: (numbers.get(underlying.symbol) ?? 0) + 1 });
    changed++;
  }
  for (const trades of slices(largeTradesOf([...events.values()], coverages), tradesAtOnce)) {
    await saveLargeTrades(tx, trades);
    changed += trades.length;
  }
  changed += await saveBars(tx, session, facts.nowMs);
  return changed + (await saveLists(tx, session, facts));
}

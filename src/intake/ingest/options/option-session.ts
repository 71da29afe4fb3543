import { volumeBesideBars } from '../../../core/analytics/bars/option-bars-from-prints.ts';
import type { ChangedParts } from '../../../core/analytics/flow/contract-minutes.ts';
import type { FlowChange } from '../../../core/analytics/flow/flow-changes.ts';
import type { ObservedSpan } from '../../../core/analytics/flow/observed-spans.ts';
import type { RankedCandidate } from '../../../core/analytics/flow/ranked-prints.ts';
import { ContractTape } from '../../../core/analytics/session/contract-tape.ts';
import { OptionTape, type OptionTapeCounts } from '../../../core/analytics/session/option-tape.ts';
import { optionsAreOver, regularSession } from '../../../core/domain/calendar.ts';
import type { TradedContract, TradedUnderlying } from '../../../core/domain/chain/contract-book.ts';
import { readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import type { CoverageStatus, CrossSection, FlowEvent } from '../../../core/domain/flow/flow.ts';
import { type BarColumns, barColumns } from '../../../core/domain/market/bar.ts';
import { dateOfEpochDay, type SessionDate } from '../../../core/domain/market-time.ts';
import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';
import { type GreeksSlots, removeGreeks, saveGreeksMinutes } from '../../../store/chain/greeks.ts';
import { optionBarBlock } from '../../../store/chain/option-bars.ts';
import { contractMinuteBlock } from '../../../store/flow/contract-minutes.ts';
import { type EncodedEvents, eventRow, feedEntries, legRows } from '../../../store/flow/event-rows.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { followedWindows } from '../../../store/market/symbols.ts';
import { type EncodedRows, rowEncoder } from '../../../store/rows/models/encoded-rows.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import {
  recordAt as at,
  isQuote,
  nanosOf,
  recordAt,
  recordWidth,
  recordWidth as width,
} from '../../tape/prints/option-records.ts';
import { MinuteGreeks } from '../chains/minute-greeks.ts';
import { solveWithMinutes } from '../chains/write-chain.ts';
import { mixed, PrintSketch, textHash } from '../files/print-sketch.ts';
import { type PartitionFile, recordFeeder, recordsOf, type TapeFeed } from './tape-records.ts';

/** An underlying's session to compute from its records: plain data, which can be sent to another thread. */
export interface SessionWork extends PartitionFile {
  underlying: string;
  day: number;
  /** The ids of the underlying's contracts, by the numbers in the records. */
  contracts: readonly string[];
  /** Number of shares per contract, in the same order. */
  multipliers: readonly number[];
  /** Status of its stored bars. */
  status: CoverageStatus;
}

/** An underlying's computed session: plain data and bytes. */
export interface MadeSession {
  underlying: string;
  date: SessionDate;
  counts: OptionTapeCounts;
  /** Null if no print is in any figure. */
  observed: ObservedSpan | null;
  /** Contracts that traded, and their volumes. */
  contracts: string[];
  volumes: number[];
  /** OSI roots of these. */
  roots: string[];
  standardMultiplier: boolean;
  section: Pick<CrossSection, 'byStrike' | 'byExpiration' | 'minutes'>;
  minutes: EncodedRows<'ContractMinuteBlock'>;
  events: EncodedEvents;
  largeTrades: number;
  /** Its prints with the largest premium, in rank order. */
  top: RankedCandidate[];
  bars: EncodedRows<'OptionBarBlock'>;
  /** Its prints, including those in no figure: their number, and their sketch. */
  prints: number;
  sketch: Uint8Array<ArrayBuffer>;
}

/** Solves a session's contracts while it is computed. Once the session is over at `nowMs`, so are all its minutes. */
export interface SolvedSession {
  greeks: SessionGreeks;
  nowMs: number;
}

type OnContractBars = (contract: TradedContract, minutes: BarColumns) => void;

/** A session's engine: takes its records, then ends. */
interface Engine {
  feed: TapeFeed;
  end(): Promise<void>;
  tape: Pick<OptionTape, 'crossSections' | 'minutes' | 'ranked' | 'counts' | 'observed'>;
  events: Map<string, FlowEvent>;
}

const changing = (events: Map<string, FlowEvent>) => (change: FlowChange) => {
  if (change.kind === 'added') events.set(change.event.eventId, change.event);
  else events.delete(change.eventId);
};

/** The engine for prints without quotes, sorted by contract. */
function printEngine(session: SessionDate, onBars: OnContractBars): Engine {
  const events = new Map<string, FlowEvent>();
  const tape = new ContractTape({ session, onChange: changing(events), onBars });
  const quote = () => {
    throw new Error('a tape by contract takes no quotes');
  };
  return { feed: { print: (print) => tape.print(print), quote }, end: async () => tape.end(), tape, events };
}

/** An engine for prints and quotes, whose tape knows which prints are in no figure. */
interface QuotedEngine extends Engine {
  tape: OptionTape;
}

/** The engine for prints and quotes, in event time. */
function quotedEngine(session: SessionDate, onBars: OnContractBars, notesLeft: boolean): QuotedEngine {
  const events = new Map<string, FlowEvent>();
  // Records are in order: no print requires the quote of an earlier time.
  const tape = new OptionTape({ session, onChange: changing(events), holdMs: 0, rememberedQuotes: 0, notesLeft });
  async function end() {
    tape.end();
    for (const { contract } of tape.bars.takeChanged()) {
      const minutes = tape.bars.minutes(contract);
      if (minutes.tsMs.length > 0) onBars(contract, minutes);
    }
  }
  return { feed: tape, end, tape, events };
}

/** Solves a session's minutes from its quotes, and from the prints that are in its figures. */
async function solveSession(
  { tape }: QuotedEngine,
  work: SessionWork,
  { put, startMs }: ReturnType<typeof recordFeeder>,
  { greeks, nowMs }: SolvedSession,
): Promise<void> {
  let taken = 0;
  const feed: TapeFeed = {
    print(print) {
      if (!tape.isLeft(taken++)) greeks.print(print);
    },
    quote: (quote) => greeks.quote(quote),
  };
  for await (const records of recordsOf(work, 'instant')) {
    for (let i = 0; i < records.length; i += recordWidth) {
      while (startMs + records[i + recordAt.ms]! >= greeks.dueMs) await greeks.take();
      put(feed, records, i);
    }
    await yieldToEventLoop();
  }
  const throughMs = optionsAreOver(dateOfEpochDay(work.day), nowMs) ? Number.MAX_VALUE : tape.reachedMs;
  while (greeks.dueMs <= throughMs) await greeks.take();
  await greeks.end();
}

/** The underlying and its contracts, numbered for an engine with this underlying only. */
function tradedContracts({ underlying: symbol, contracts: ids, multipliers }: SessionWork) {
  const underlying: TradedUnderlying = { index: 0, symbol };
  const contracts = ids.map((id, index): TradedContract => {
    const contract = readOptionContract(id)!;
    return { index, id, contract, underlying, multiplier: multipliers[index]!, endMs: Number.POSITIVE_INFINITY };
  });
  return { underlying, contracts };
}

/** Feeds all records in an order. */
async function feedAll(
  { feed }: Engine,
  work: SessionWork,
  order: Parameters<typeof recordsOf>[1],
  { put }: ReturnType<typeof recordFeeder>,
  sketch: OptionSketch,
): Promise<void> {
  for await (const records of recordsOf(work, order)) {
    sketch.add(records);
    for (let i = 0; i < records.length; i += recordWidth) put(feed, records, i);
    await yieldToEventLoop();
  }
}

function encodedEvents({ underlying: symbol }: SessionWork, date: SessionDate, found: Iterable<FlowEvent>) {
  const rows = rowEncoder('FlowEvent', symbol);
  const legs = rowEncoder('FlowLeg', symbol);
  const events = [...found]
    .sort((a, b) => a.eventTsMs - b.eventTsMs || (a.eventId < b.eventId ? -1 : 1))
    .map((event, i) => ({ symbol, sessionDate: date, seq: i + 1, event }));
  for (const event of events) {
    rows.add(eventRow(event));
    for (const leg of legRows(event)) legs.add(leg);
  }
  return { symbol, sessionDate: date, events: rows.take(), legs: legs.take(), ...feedEntries(events) };
}

function encodedMinutes({ parts }: ChangedParts, underlying: string, sessionDate: SessionDate) {
  const rows = rowEncoder('ContractMinuteBlock', underlying);
  for (const part of parts)
    if (part.minutes.tsMs.length > 0) rows.add(contractMinuteBlock({ underlying, sessionDate, ...part }));
  return rows.take();
}

/** Encodes the bars of a session's contracts, and the volume beside them. */
function barRows({ underlying, status }: SessionWork, sessionDate: SessionDate) {
  const rows = rowEncoder('OptionBarBlock', underlying);
  const added = new Set<TradedContract>();
  const put = (contract: string, bars: BarColumns, timeframe: '1m' | 'rest') => {
    if (bars.tsMs.length === 0) return;
    rows.add(optionBarBlock({ sessionDate, underlying, contract, bars }, status, { timeframe, ofPrints: true }));
  };
  const add = ({ minutes }: Engine['tape'], contract: TradedContract, bars: BarColumns) => {
    added.add(contract);
    put(contract.id, bars, '1m');
    put(contract.id, volumeBesideBars(minutes.volumes(contract), bars), 'rest');
  };
  return {
    /** Adds the bars of a contract whose prints are all counted. */
    add,
    /** Adds a contract that may have no bars. */
    end(tape: Engine['tape'], contract: TradedContract) {
      if (!added.has(contract)) add(tape, contract, barColumns(0));
    },
    take: () => rows.take(),
  };
}

/** Computes an underlying's session from its records, and encodes it. */
export async function makeSession(
  work: SessionWork,
  conditions: readonly (readonly number[])[],
  solved: SolvedSession | null = null,
): Promise<MadeSession> {
  const { underlying: symbol, day } = work;
  const date = dateOfEpochDay(day);
  const { underlying, contracts } = tradedContracts(work);
  const rows = barRows(work, date);
  const onBars: OnContractBars = (contract, minutes) => rows.add(engine.tape, contract, minutes);
  const quoted = work.quotes > 0 || solved !== null ? quotedEngine(date, onBars, solved !== null) : null;
  const engine: Engine = quoted ?? printEngine(date, onBars);
  const feeder = () => recordFeeder(contracts, conditions, day);
  const sketch = optionSketch(work.contracts);
  await feedAll(engine, work, quoted ? 'instant' : 'contract', feeder(), sketch);
  await engine.end();
  for (const contract of contracts) rows.end(engine.tape, contract);
  // A cancel concerns the minutes since the print that it cancels.
  if (quoted && solved) await solveSession(quoted, work, feeder(), solved);
  const { tape, events } = engine;
  const volumes = tape.crossSections.volumes();
  return {
    underlying: symbol,
    date,
    counts: { ...tape.counts },
    observed: tape.observed.of(underlying),
    contracts: volumes.map(({ contract }) => contract.id),
    volumes: volumes.map(({ volume }) => volume),
    roots: [...new Set(volumes.map(({ contract }) => contract.contract.root))],
    standardMultiplier: volumes.every(({ contract }) => contract.multiplier === 100),
    section: tape.crossSections.sums(underlying),
    minutes: encodedMinutes(tape.minutes.take(underlying), symbol, date),
    events: encodedEvents(work, date, events.values()),
    largeTrades: events.size,
    top: tape.ranked.tops()[0]?.prints ?? [],
    bars: rows.take(),
    prints: sketch.sketch.prints,
    sketch: sketch.sketch.encoded(),
  };
}

/** Settings of solving the contracts of a tape by the minute. */
export interface Solving {
  /** Continuous interest rate, a fraction per year. */
  rate: number;
  /** Maximum number of solved contracts per underlying, the first of a session to trade. */
  most: number;
}

/** The minute solves of an underlying's session that is computed from its whole tape. */
interface SessionGreeks extends Pick<MinuteGreeks, 'print' | 'quote' | 'dueMs' | 'full'> {
  /** Starts the next boundary, and sometimes writes the solves of earlier ones. */
  take(): Promise<void>;
  /** Finishes and writes the last minutes, and solves the dependent chains of the session again. */
  end(): Promise<void>;
}

/** Number of minutes per write. */
const minutesAtOnce = 32;

/**
 * Solves sessions of one date, in a transaction that holds the flow: the solves of an underlying replace the stored
 * ones. Returns null for one whose contracts are not followed, else the function that starts its solves.
 */
export async function sessionSolver(
  tx: Transaction,
  session: SessionDate,
  { rate, most }: Solving,
): Promise<(symbol: string) => (() => SessionGreeks) | null> {
  const windows = most === 0 || regularSession(session) === null ? new Map() : await followedWindows(tx);
  const roots = await readRoots(tx);
  function begin(symbol: string): SessionGreeks {
    const minutes = new MinuteGreeks({ from: tx, session, rate, roots, most, windows });
    const slots: GreeksSlots = new Map();
    let taken = 0;
    async function write() {
      await minutes.finish();
      if (slots.size === 0) {
        await removeGreeks(tx, session, [symbol]);
        slots.set(symbol, new Map());
      }
      await saveGreeksMinutes(tx, session, minutes.takeSolved(), slots);
    }
    return {
      print: (print) => minutes.print(print),
      quote: (quote) => minutes.quote(quote),
      get dueMs() {
        return minutes.dueMs;
      },
      full: minutes.full,
      async take() {
        await minutes.begin();
        if (++taken % minutesAtOnce === 0) await write();
      },
      async end() {
        await write();
        const fromMs = Number.MIN_SAFE_INTEGER;
        await solveWithMinutes(tx, { underlying: symbol, sessionDate: session, fromMs }, rate);
      },
    };
  }
  return (symbol) => (windows.has(symbol) ? () => begin(symbol) : null);
}

const minuteMs = 60_000;

/** The sketch of an underlying's session; adding records skips those of quotes. */
interface OptionSketch {
  sketch: PrintSketch;
  add(records: Uint32Array): void;
}

/** Creates an empty sketch of contracts, which are identified by their ids. */
export function optionSketch(contracts: readonly string[], exact = false): OptionSketch {
  const hashes = new Uint32Array(contracts.length);
  const contractHash = (contract: number) => {
    if (hashes[contract] === 0) hashes[contract] = textHash(contracts[contract]!);
    return hashes[contract]!;
  };
  const sketch = new PrintSketch({ exact, contractHash });
  return {
    sketch,
    add(records) {
      // Reading the property for every record would cost as much as the rest; it becomes false once.
      let wantsPrints = sketch.wantsPrints;
      for (let i = 0; i < records.length; i += width) {
        const nanosAndCorrection = records[i + at.nanosAndCorrection]!;
        if (isQuote(nanosAndCorrection)) continue;
        const contract = records[i + at.contract]!;
        const ms = records[i + at.ms]!;
        sketch.count((ms / minuteMs) | 0, contract);
        if (!wantsPrints) continue;
        wantsPrints = sketch.wantsPrints;
        if (!wantsPrints) continue;
        const instant = mixed(mixed(contractHash(contract), ms), nanosOf(nanosAndCorrection));
        sketch.addPrint(mixed(instant, records[i + at.exchangeAndConditions]! & 0xffff));
      }
    },
  };
}

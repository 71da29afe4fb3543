import { isDeepStrictEqual } from 'node:util';
import { methodologyVersion, tapeSettings } from '../../../core/analytics/methodology.ts';
import { minuteMarket } from '../../../core/analytics/minute/minute-market.ts';
import { type FollowedContract, minuteSolve } from '../../../core/analytics/minute/solve.ts';
import type { KnownGroups } from '../../../core/analytics/pricing/group-market.ts';
import type { MarketReference } from '../../../core/analytics/pricing/group-rate.ts';
import { sideOf } from '../../../core/analytics/prints/quote-book.ts';
import type { ChainCapture, ChainRow } from '../../../core/domain/chain/chain.ts';
import { greekNames } from '../../../core/domain/chain/chain-columns.ts';
import type { GreeksSolve } from '../../../core/domain/chain/greeks.ts';
import { contractId, readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { commonSide } from '../../../core/domain/flow/event-figures.ts';
import { type FlowLeg, flowSides, type LargeTrade } from '../../../core/domain/flow/flow.ts';
import { auctionConditions, optionTraits, optionTraitsOf } from '../../../core/domain/flow/option-trade-conditions.ts';
import { capturePart, sessionPart } from '../../../core/domain/generation.ts';
import { toPriceUnits } from '../../../core/domain/market/print.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { roundTo } from '../../../core/domain/units.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';
import { saveGreeksMinutes, type WrittenMinute } from '../../../store/chain/greeks.ts';
import { holdOptionQuotes, listQuotes, type QuoteColumns, readQuotes } from '../../../store/chain/option-quotes.ts';
import { computedSessions, lockCaptures } from '../../../store/chain/session-captures.ts';
import {
  outdatedMinutes,
  ratesOfMinutes,
  type SolvedMinute,
  solvedMinuteAt,
  unpricedMinutes,
} from '../../../store/chain/solved-minutes.ts';
import { findLargeTrades, saveLargeTrades, unsidedSessions } from '../../../store/flow/events.ts';
import { removeLargeTrades } from '../../../store/flow/live.ts';
import { lockFlow } from '../../../store/flow/sessions.ts';
import { publishedFigures } from '../../../store/gex/captures.ts';
import { generationsInForce } from '../../../store/market/generations.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { rejectSealed, SessionSealed } from '../../../store/market/session-seals.ts';
import { listConcentrations } from '../../../store/offexchange/levels.ts';
import { holdOrigin } from '../../../store/origin.ts';
import type { Store } from '../../../store/rows/connection.ts';
import { inSettledTransaction, type Transaction } from '../../../store/rows/transaction.ts';
import { asGeneration } from '../../../store/superseded/generation.ts';
import { pruneExpired } from '../../../store/superseded/prune.ts';
import { MinuteMarketSource } from '../chains/minute-market.ts';
import { writeRegrouped } from '../chains/regroup.ts';
import { sessionGroups } from '../chains/session-groups.ts';
import { solveWithMinutes } from '../chains/write-chain.ts';
import { type GenerationDataset, noteGenerations } from '../files/generations.ts';
import { withOtherInputs } from '../files/outdated-captures.ts';
import { recomputeConcentration } from '../stocks/off-exchange-session.ts';
import type { RecomputedDataset } from './dataset-names.ts';
import { MoveCounter } from './moved-captures.ts';
import type { RecomputedWork, RecomputeWork, UnderlyingSession } from './session-work.ts';

/** Maximum number of decimals of a source's greeks; solved ones have more. */
const sourceDecimals = 6;

const isOurs = (value: number | null) => value !== null && value !== roundTo(value, sourceDecimals);

/**
 * A row as its source wrote it, of a capture from before solved greeks were stored separately: they then filled the
 * source's gaps.
 */
function sourceRow(row: ChainRow): ChainRow {
  const source = { ...row };
  for (const name of greekNames) if (isOurs(row[name])) source[name] = null;
  // Deep in the money a solved delta of one without gamma has no more decimals either: its volatility was solved too.
  if (isOurs(row.iv) && row.gamma === 0 && Math.abs(row.delta ?? 0) === 1) [source.delta, source.gamma] = [null, null];
  return source;
}

/** A chain as its source wrote it. */
function sourceChain(chain: ChainCapture): ChainCapture {
  const isSeparate = chain.rate != null || chain.rows.some(({ solved }) => solved !== undefined);
  return isSeparate ? chain : { ...chain, rows: chain.rows.map(sourceRow) };
}

/**
 * Sessions with captures of an older version, with other inputs than the stored ones, or with another delay than the
 * given one; with `all`, any session with captures.
 */
async function sessionsOfChains(
  store: Store,
  { delayMs, all }: Pick<RecomputeWork, 'delayMs' | 'all'>,
): Promise<UnderlyingSession[]> {
  const computed = await computedSessions(store.primary, { methodologyVersion, delayMs, all });
  const other = await withOtherInputs(
    store.primary,
    computed.filter(({ isWanted }) => !isWanted),
  );
  const wanted = new Set([...computed.filter(({ isWanted }) => isWanted), ...other]);
  const sessions = computed.filter((one) => wanted.has(one));
  return [
    ...new Map(
      sessions.map(({ underlying, session }) => [`${session} ${underlying}`, { underlying, session }]),
    ).values(),
  ];
}

/**
 * Makes the captures of a session again, in order of time, each with its former gammas, rate and, unless another is
 * given, delay: those of files that make other groups first. Returns the number of different rows, and the moves.
 */
async function recomputeChains(
  tx: Transaction,
  { underlying, session: sessionDate }: UnderlyingSession,
  { rate, delayMs, check }: Pick<RecomputeWork, 'rate' | 'delayMs' | 'check'>,
): Promise<RecomputedWork> {
  await lockCaptures(tx, underlying);
  const before = await publishedFigures(tx, underlying, sessionDate);
  const roots = await readRoots(tx);
  const settings = { roots, rate, delayMs, source: sourceChain, given: { rate, gammaSource: 'solve' as const } };
  const groups = await sessionGroups(tx, { underlying, sessionDate }, settings);
  const regrouped = await groups.regrouped(null, []);
  // Two groups of one instant cannot both be stored: neither is made.
  const change = regrouped.doubled === null ? regrouped : { changed: [], gone: [] };
  const { written } = await writeRegrouped(tx, groups, change, { ...settings, all: true, check });
  const moves = new MoveCounter();
  let changed = 0;
  const parts: RecomputedWork['parts'] = [];
  for (const [capturedAt, each] of written) {
    changed += each.changed;
    if (each.changed > 0) parts.push(capturePart({ underlying, sessionDate, capturedAt }));
    moves.add(each.chain, before.get(capturedAt) ?? null, each.gex);
  }
  return { changed: changed + change.gone.length, moved: moves.moved(), parts };
}

/** Number of contracts solved before a yield to the event loop: about 20 ms. */
const contractsPerYield = 200;

/** Sessions with minutes that were solved by an older version, or without a price of the underlying. */
async function sessionsOfGreeks(store: Store): Promise<UnderlyingSession[]> {
  const found = [
    ...(await outdatedMinutes(store, methodologyVersion)),
    ...(await unpricedMinutes(store.primary, null)),
  ];
  const bySession = new Map(found.map((each) => [`${each.session} ${each.underlying}`, each]));
  return [...bySession.keys()].sort().map((key) => bySession.get(key)!);
}

/**
 * A followed contract at a minute. The solve contains the inputs of its mark: the quote, a trade or a close. Their age
 * was within bounds.
 */
function followedAt(id: string, { tsMs, mark, markSource, bid, ask }: GreeksSolve): FollowedContract {
  return {
    contract: readOptionContract(id)!,
    quote: bid === null && ask === null ? null : { bid, ask, tsMs },
    trade: markSource === 'last' ? { price: mark, tsMs, eligible: true } : null,
    previousClose: markSource === 'close' ? mark : null,
  };
}

interface MinuteWork extends Pick<RecomputeWork, 'check'> {
  roots: OptionRoots;
  reference: MarketReference;
  chain: KnownGroups;
}

/** Solves a minute again from its stored marks, quotes and price of the underlying, or one that came since. */
async function solveAgain(minute: SolvedMinute, work: MinuteWork): Promise<WrittenMinute> {
  const { reference, chain, roots, check } = work;
  const { underlying, tsMs, spot } = minute;
  const followed = Array.from(minute.solves, ([id, solve]) => ({ id, contract: followedAt(id, solve) }));
  const market = minuteMarket(
    followed.map(({ contract }) => contract),
    { underlying, tsMs, spot, reference, chain, roots },
  );
  const solves = new Map<string, GreeksSolve>();
  for (const [i, { id, contract }] of followed.entries()) {
    if (i % contractsPerYield === 0) {
      await yieldToEventLoop();
      check();
    }
    const solve = minuteSolve(contract, market);
    if (solve !== null) solves.set(id, solve);
  }
  return { underlying, tsMs, spot, rate: reference.rate, methodologyVersion, solves };
}

/**
 * Solves the minutes of a session again, in order of time, each with its former rate, and then the dependent chains.
 * Returns the number of different minutes.
 */
async function recomputeGreeks(
  tx: Transaction,
  { underlying, session }: UnderlyingSession,
  { rate: usualRate, check }: Pick<RecomputeWork, 'rate' | 'check'>,
): Promise<RecomputedWork> {
  await lockFlow(tx);
  const sources = new Map<number, MinuteMarketSource>();
  const slots = new Map();
  const roots = await readRoots(tx);
  let changed = 0;
  for (const { tsMs, rate: ownRate } of await ratesOfMinutes(tx, underlying, session)) {
    const rate = ownRate ?? usualRate;
    const source = sources.get(rate) ?? new MinuteMarketSource({ from: tx, session, rate, roots });
    sources.set(rate, source);
    const minute = (await solvedMinuteAt(tx, underlying, session, tsMs))!;
    const spot = minute.spot ?? (await source.spots(tsMs, [underlying])).get(underlying) ?? null;
    const [reference, chain] = [await source.reference(underlying), await source.groups(tsMs, underlying)];
    const solved = await solveAgain({ ...minute, spot }, { reference, chain, roots, check });
    await saveGreeksMinutes(tx, session, [solved], slots);
    if (!isDeepStrictEqual(solved.solves, minute.solves)) changed++;
  }
  await solveWithMinutes(tx, { underlying, sessionDate: session, fromMs: Number.MIN_SAFE_INTEGER }, usualRate);
  return { changed, moved: null, parts: changed > 0 ? [sessionPart(underlying, session)] : [] };
}

/** Sessions with auction prints without a side, if their quotes are stored. */
async function sessionsOfFlow(store: Store): Promise<UnderlyingSession[]> {
  const quoted = new Set((await listQuotes(store)).map(({ session, underlying }) => `${session} ${underlying}`));
  const unsided = await unsidedSessions(store, auctionConditions);
  return unsided.filter(({ session, underlying }) => quoted.has(`${session} ${underlying}`));
}

/**
 * The range of `quotes`, ascending by time, in force at a leg's millisecond: the last one before it, and all within it.
 */
function inForce({ tsMs }: QuoteColumns, atMs: number): [from: number, to: number] {
  let to = 0;
  while (to < tsMs.length && tsMs[to]! <= atMs) to++;
  let from = to;
  while (from > 0 && tsMs[from - 1]! === atMs) from--;
  return [Math.max(0, from - 1), to];
}

/**
 * The side of a leg. Stored legs have millisecond times: if a quote changed within one, the side is known only if both
 * agree.
 */
function sideOfLeg(leg: FlowLeg, quotes: QuoteColumns): FlowLeg['side'] {
  const [from, to] = inForce(quotes, leg.eventTsMs);
  const sides = new Set<number>();
  for (let i = from; i < to; i++) {
    const isFresh = leg.eventTsMs - quotes.tsMs[i]! < tapeSettings.maximumSideQuoteAgeMs;
    sides.add(isFresh ? sideOf(toPriceUnits(leg.price), quotes.bid[i]!, quotes.ask[i]!) : flowSides.indexOf('unknown'));
  }
  return sides.size === 1 ? flowSides[[...sides][0]!]! : 'unknown';
}

const isUnsided = ({ side, conditions }: FlowLeg) =>
  side === 'unknown' &&
  conditions.some((id) => auctionConditions.includes(id)) &&
  (optionTraitsOf(conditions) & optionTraits.sideless) === 0;

/** An event with the sides of its auction legs; the same object if none is known. */
function sided(trade: LargeTrade, quotesOf: ReadonlyMap<string, QuoteColumns[]>): LargeTrade {
  let isChanged = false;
  const legs = trade.event.legs.map((leg) => {
    if (!isUnsided(leg)) return leg;
    const parts = quotesOf.get(contractId(leg.contract)) ?? [];
    // The part with the quote in force: the last that begins before.
    const part = parts.findLast(({ tsMs }) => tsMs[0]! <= leg.eventTsMs);
    const side = part ? sideOfLeg(leg, part) : 'unknown';
    isChanged ||= side !== leg.side;
    return { ...leg, side };
  });
  return isChanged
    ? { ...trade, event: { ...trade.event, legs, side: commonSide(legs.map((leg) => leg.side)) } }
    : trade;
}

/**
 * Adds sides to the auction prints of a session's large trades, from their stored quotes. The composition of events
 * does not change: the other prints are not stored. Returns the number of changed events.
 */
async function recomputeFlow(
  tx: Transaction,
  { underlying, session }: UnderlyingSession,
  { store }: Pick<RecomputeWork, 'store'>,
): Promise<RecomputedWork> {
  await lockFlow(tx);
  await holdOptionQuotes(tx);
  const unsided = await unsidedSessions(store, auctionConditions);
  const found = unsided.find((each) => each.underlying === underlying && each.session === session);
  const keys = (found?.eventIds ?? []).map((eventId) => ({ underlying, sessionDate: session, eventId }));
  const trades = await findLargeTrades(store, keys, Number.MAX_SAFE_INTEGER);
  const ids = new Set(trades.flatMap(({ event }) => event.legs.map(({ contract }) => contractId(contract))));
  const contracts = Array.from(ids, (id) => ({ id, underlying: { symbol: underlying } }));
  const quotesOf = new Map<string, QuoteColumns[]>();
  for await (const { contract, quotes } of readQuotes(tx, { contracts, from: session, to: session }))
    quotesOf.set(
      contract,
      [...(quotesOf.get(contract) ?? []), quotes].sort((a, b) => a.tsMs[0]! - b.tsMs[0]!),
    );
  const changed = trades.map((trade) => sided(trade, quotesOf)).filter((trade, i) => trade !== trades[i]);
  await removeLargeTrades(
    tx,
    session,
    changed.map(({ event: { eventId } }) => ({ eventId, underlying })),
  );
  await saveLargeTrades(tx, changed);
  return { changed: changed.length, moved: null, parts: changed.length > 0 ? [sessionPart(underlying, session)] : [] };
}

/** The outcome of an underlying's session. */
export interface RecomputedSession extends UnderlyingSession, Omit<RecomputedWork, 'parts'> {
  /** `refused`: it is sealed and was not changed. */
  status: 'recomputed' | 'unchanged' | 'refused';
  /** Reason for `refused`; null otherwise. */
  reason: string | null;
}

/** One kind of stored data that can be recomputed. */
interface Recomputing {
  /** Dataset whose generation it makes, from the files of the one in force of `from`. */
  generation: { dataset: GenerationDataset; from: readonly GenerationDataset[] };
  /** The sessions to recompute, in the order in which they are computed. */
  sessions(store: Store, how: Pick<RecomputeWork, 'delayMs' | 'all'>): Promise<UnderlyingSession[]>;
  /** True if sealed sessions are recomputed too, because what was removed from them may not be served. */
  reseals?: boolean;
  /** Recomputes a session, in a transaction of its own that may write it. */
  run(tx: Transaction, session: UnderlyingSession, how: RecomputeWork): Promise<RecomputedWork>;
}

/** Notes what was computed again, from the sources that it had. */
async function noteRecomputed(
  tx: Transaction,
  { dataset, from }: Recomputing['generation'],
  parts: RecomputedWork['parts'],
  ingestedMs: number,
) {
  for (const part of parts) {
    const { files = [], live = null } = (await generationsInForce(tx, from, part)).at(-1) ?? {};
    await noteGenerations(tx, dataset, [part], { made: 'recompute', files, live, ingestedMs });
  }
}

const recomputed: Record<RecomputedDataset, Recomputing> = {
  chain: {
    generation: { dataset: 'chain', from: ['chain'] },
    sessions: sessionsOfChains,
    run: recomputeChains,
  },
  greeks: {
    generation: { dataset: 'greeks', from: ['option-trades', 'greeks'] },
    sessions: sessionsOfGreeks,
    run: recomputeGreeks,
  },
  flow: {
    generation: { dataset: 'option-trades', from: ['option-trades'] },
    sessions: sessionsOfFlow,
    run: recomputeFlow,
  },
  'off-exchange': {
    // Only one generation of off-exchange figures is ever stored: no part of it is noted.
    generation: { dataset: 'stock-trades', from: [] },
    reseals: true,
    sessions: async (store, { all }) =>
      (await listConcentrations(store, all)).map(({ symbol, sessionDate }) => ({
        underlying: symbol,
        session: sessionDate,
      })),
    run: async (tx, { underlying, session }) => {
      await recomputeConcentration(tx, underlying, session);
      return { changed: 1, moved: null, parts: [] };
    },
  },
};

/**
 * Solves the minutes of sessions that were solved without a price, after prices of these sessions were stored, in their
 * transaction. Returns the sessions that changed.
 */
export async function solvePricedMinutes(
  tx: Transaction,
  unpriced: readonly UnderlyingSession[],
  { rate, now }: Pick<RecomputeOptions, 'rate' | 'now'>,
): Promise<UnderlyingSession[]> {
  const solved: UnderlyingSession[] = [];
  for (const session of unpriced) {
    const { changed, parts } = await recomputeGreeks(tx, session, { rate, check: () => {} });
    await noteRecomputed(tx, recomputed.greeks.generation, parts, now());
    if (changed > 0) solved.push(session);
  }
  return solved;
}

interface RecomputeRequest {
  /** Null = every underlying, from the first to the last session. */
  symbol: string | null;
  from: SessionDate | null;
  to: SessionDate | null;
}

interface RecomputeOptions {
  /** For the record of when figures were computed. */
  now: Clock;
  /** Continuous interest rate of captures and minutes that do not hold their own, a fraction a year. */
  rate: number;
  /** Delay of the source of captures, ms; null: each has its former one. */
  delayMs?: number | null;
  /** True to include captures of the current version and inputs. */
  all?: boolean;
  /** Aborted to stop: the current session is rolled back, and the reason is thrown. Sessions computed before stay. */
  signal?: AbortSignal | undefined;
  onProgress?: (session: UnderlyingSession, index: number, count: number) => void;
}

/**
 * Recomputes stored sessions from their stored data, by the current definitions, each in one transaction: the next run
 * continues a stopped one. Sealed sessions are rejected and the others continue. Throws if the store fails.
 */
export async function recompute(
  store: Store,
  dataset: RecomputedDataset,
  { symbol, from, to }: RecomputeRequest,
  { now, rate, delayMs = null, all = false, signal, onProgress }: RecomputeOptions,
): Promise<RecomputedSession[]> {
  const { sessions, run, generation, reseals = false } = recomputed[dataset];
  const wanted = (await sessions(store, { delayMs, all })).filter(
    ({ underlying, session }) =>
      (symbol === null || underlying === symbol) &&
      (from === null || session >= from) &&
      (to === null || session <= to),
  );
  const reports: RecomputedSession[] = [];
  const check = () => signal?.throwIfAborted();
  for (const [index, one] of wanted.entries()) {
    check();
    onProgress?.(one, index, wanted.length);
    try {
      const done = await inSettledTransaction(store, (tx) =>
        asGeneration(tx, now, async () => {
          await holdOrigin(tx);
          if (!reseals) await rejectSealed(tx, [{ symbol: one.underlying, sessionDate: one.session }]);
          const { parts, ...work } = await run(tx, one, { store, rate, delayMs, all, check });
          await noteRecomputed(tx, generation, parts, now());
          return work;
        }),
      );
      reports.push({ ...one, ...done, status: done.changed > 0 ? 'recomputed' : 'unchanged', reason: null });
    } catch (error) {
      if (!(error instanceof SessionSealed)) throw error;
      reports.push({ ...one, status: 'refused', changed: 0, moved: null, reason: error.message });
    }
    await yieldToEventLoop();
  }
  await pruneExpired(store, now());
  return reports;
}

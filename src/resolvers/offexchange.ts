import { requireOffExchange, requireReadable } from '../access/entitlement/entitlement.ts';
import { splitFactor } from '../core/domain/market/splits.ts';
import {
  exchangeDate,
  exchangeInstant,
  exchangeTimeZone,
  isDate,
  parseRequestedInstant,
  type SessionDate,
} from '../core/domain/market-time.ts';
import { nearestIndex } from '../core/domain/nearest-index.ts';
import {
  type OffExchangeRows,
  type OffExchangeTable,
  offExchangeLimits,
} from '../core/domain/offexchange/off-exchange.ts';
import { requireServedWindow } from '../core/domain/served-window.ts';
import { fromThousandths } from '../core/domain/units.ts';
import { batched } from '../platform/runtime/batched.ts';
import { oncePerRequest } from '../platform/runtime/once-per-request.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import {
  isRowKey,
  type OffExchangeHistory,
  type RowRange,
  readOffExchangeHistory,
  readOffExchangeRows,
  rowKey,
  type SessionRange,
  type StoredRow,
} from '../store/offexchange/session-rows.ts';
import { requireNow } from './as-of.ts';
import { storedCapture } from './captures-at.ts';
import { findSymbol, fromSource, ofAllInstants, type RequestContext, realTicker } from './context.ts';
import { loadSplits } from './corporate.ts';
import { foreignCursor, ofInstant, readCursor, writeCursor } from './cursor.ts';
import { type GexStrike, rowAtStrike, servedCaptures } from './gex/gex.ts';
import { lastOffExchangeSession } from './publication.ts';
import { type ResponseMeta, responseMeta } from './response-meta.ts';
import { offExchangeSource, spanOf } from './source-keys.ts';

export type { StoredRow };

interface OffExchangeArgs {
  from?: string | null | undefined;
  to?: string | null | undefined;
  tz?: string | null | undefined;
  limit?: number | null | undefined;
  cursor?: string | null | undefined;
}

export interface OffExchangeMeta extends ResponseMeta {
  symbol: string;
  /** Always true: derived aggregates, never a print. */
  synthetic: true;
  /** Number of withheld rows in the range. */
  suppressedCount: number;
  /** The last stored session of the range; null if none is. */
  session: SessionDate | null;
  /** The last stored session of the symbol; null if none is. */
  latestSession: SessionDate | null;
  /** The time at which the newest figures of the range were computed; null if there are none. */
  asOf: number | null;
  /** Number of sessions stored for the symbol. */
  historySessions: number;
  /** Number of rows on this page. */
  count: number;
  cursor: string | null;
  /** Reason for which there are no rows; null if there are any. */
  note: string | null;
}

export interface OffExchangePage<T extends OffExchangeTable> {
  rows: StoredRow<T>[];
  meta: OffExchangeMeta;
}

/** The session a bound names: a bare date is the session itself, an instant belongs to its date in New York. */
function sessionBound(text: string | null | undefined, zone: string, parameter: string): SessionDate | null {
  if (text == null) return null;
  const { ms, bareDate } = parseRequestedInstant(text, zone, parameter);
  return bareDate ?? exchangeDate(ms);
}

/** The stored data of a symbol in a range of sessions. */
function storedHistory(context: RequestContext, range: SessionRange): Promise<OffExchangeHistory> {
  const last = lastOffExchangeSession(context);
  return batched(ofAllInstants(context), `off-exchange history ${last}`, range, (ranges) =>
    readOffExchangeHistory(context.store, ranges, last),
  );
}

/** The first rows of a range. */
function storedRows<T extends OffExchangeTable>(
  context: RequestContext,
  table: T,
  range: RowRange,
  limit: number,
): Promise<StoredRow<T>[]> {
  return batched(ofAllInstants(context), `off-exchange ${table} ${limit}`, range, (ranges) =>
    readOffExchangeRows(context.store, table, ranges, limit),
  );
}

/** Start of a page. A cursor contains its range, so that a session added between two pages does not move it. */
interface Start {
  range: SessionRange;
  after: RowRange['after'];
}

function startOf(
  symbol: string,
  table: OffExchangeTable,
  args: OffExchangeArgs,
  bound: readonly (string | number)[],
): Start {
  const zone = args.tz ?? exchangeTimeZone;
  const range = {
    symbol,
    first: sessionBound(args.from, zone, 'from'),
    last: sessionBound(args.to, zone, 'to'),
  };
  const msOf = (date: SessionDate | null) => (date === null ? null : exchangeInstant(date));
  requireServedWindow({ name: 'from', ms: msOf(range.first) }, { name: 'to', ms: msOf(range.last) });
  if (args.cursor == null) return { range, after: null };
  const [first, last, date, ...key] = readCursor(args.cursor, bound).split('|') as [string, string, string];
  const after = { date, key: key.join('|') };
  // The checksum is no secret: a forged cursor may contain anything.
  if (![first, last, date].every((text) => isDate(text ?? '')) || !isRowKey(table, after.key)) throw foreignCursor();
  return { range: { symbol, first, last }, after };
}

function noteOf(
  { latestSession, session, unconcentrated }: OffExchangeHistory,
  symbol: string,
  table: OffExchangeTable,
): string {
  if (latestSession === null) return `No off-exchange data of ${symbol} is stored.`;
  if (session === null) return 'No session of the range is stored.';
  if (table === 'concentration' && unconcentrated > 0)
    return 'The concentration has not been computed from published levels yet: `tapegraph recompute off-exchange`.';
  return 'Nothing in the range reaches the disclosure threshold.';
}

/** A page of one of a symbol's off-exchange tables (spec 4.18). */
export async function offExchangePage<T extends OffExchangeTable>(
  context: RequestContext,
  symbol: string,
  table: T,
  args: OffExchangeArgs,
): Promise<OffExchangePage<T>> {
  requireOffExchange(context.caller);
  requireNow(context, 'off-exchange data');
  if (args.limit != null && args.limit < 1) throw invalidParameter('limit', 'expected 1 or more');
  const window = [args.from ?? '', args.to ?? '', args.tz ?? exchangeTimeZone];
  const bound = ['off-exchange', table, symbol, ...window, ...ofInstant(context)];
  const { range, after } = startOf(symbol, table, args, bound);
  requireReadable(context.caller, await realTicker(context, symbol));
  const clamped = (args.limit ?? 0) > offExchangeLimits.max;
  const limit = Math.min(args.limit ?? offExchangeLimits.default, offExchangeLimits.max);
  return fromSource(context, 'stock_tape', async () => {
    const history = await storedHistory(context, range);
    const { first, last } = history;
    // One row more than the limit is read, to know whether there is more.
    const read = first === null ? [] : await storedRows(context, table, { symbol, first, last, after }, limit + 1);
    const rows = read.slice(0, limit);
    const end: OffExchangeRows[T] | undefined = rows.at(-1);
    const more = read.length > limit && end !== undefined;
    return {
      rows,
      meta: {
        ...responseMeta(context, 'archive', clamped ? ['limit_clamped'] : [], () => {
          const span = spanOf(rows.map(({ date }) => date as SessionDate));
          return span ? [offExchangeSource(symbol, ...span)] : [];
        }),
        symbol,
        synthetic: true,
        suppressedCount: history.withheld[table],
        session: history.session,
        latestSession: history.latestSession,
        asOf: history.asOfMs,
        historySessions: history.historySessions,
        count: rows.length,
        cursor: more ? writeCursor(`${first}|${last}|${end.date}|${rowKey(table, end)}`, bound) : null,
        note: rows.length > 0 ? null : noteOf(history, symbol, table),
      },
    };
  });
}

/** A price of off-exchange trading, dollars, with the session whose shares it is in. */
interface OffExchangePrice {
  symbol: string;
  date: SessionDate;
  price: number;
}

interface Distance {
  /** Dollars from the price that was asked from, in shares of the capture's session; negative below it. */
  distance: number;
  /** The same, in basis points of that price. */
  distanceBps: number;
}

/** The strike nearest to a price of off-exchange trading. */
export interface NearestStrike extends Distance {
  strike: GexStrike;
}

/** The off-exchange price bucket nearest to a strike. */
export interface NearestLevel extends Distance {
  level: StoredRow<'concentration'>;
}

const distanceTo = (to: number, from: number): Distance => ({
  distance: to - from,
  distanceBps: (10_000 * (to - from)) / from,
});

/** Divisor that makes prices of the session `from` comparable with those of `to`, which may be earlier. */
async function factorBetween(context: RequestContext, symbol: string, from: SessionDate, to: SessionDate) {
  const splits = await loadSplits(context, symbol);
  return from <= to ? splitFactor(splits, from, to) : 1 / splitFactor(splits, to, from);
}

/** The latest net capture of a symbol; null if there is none. */
function latestCapture(context: RequestContext, symbol: string) {
  return oncePerRequest(context, `nearest strikes ${symbol} ${context.nowMs}`, async () => {
    requireReadable(context.caller, await findSymbol(context, symbol));
    const stored = await storedCapture(context, symbol, { byExpiry: false });
    return stored && servedCaptures([stored], false, null)[0]!;
  });
}

/**
 * The strike of the symbol's latest GEX capture that is nearest to a price of off-exchange trading; null if there is no
 * capture. The price is divided by the splits since.
 */
export async function nearestStrike(
  context: RequestContext,
  { symbol, date, price }: OffExchangePrice,
): Promise<NearestStrike | null> {
  const capture = await latestCapture(context, symbol);
  if (capture === null) return null;
  const from = price / (await factorBetween(context, symbol, date, capture.sessionDate));
  const index = nearestIndex(capture.columns.strike, from * 1000);
  if (index === -1) return null;
  const strike = rowAtStrike(capture, capture.columns.strike[index]!)!;
  return { strike, ...distanceTo(fromThousandths(strike.strike), from) };
}

/** The price buckets of a session, ascending, with their prices in shares of a capture's session. */
interface Levels {
  levels: StoredRow<'concentration'>[];
  prices: number[];
}

async function readLevels(context: RequestContext, symbol: string, last: SessionDate) {
  requireOffExchange(context.caller);
  requireReadable(context.caller, await realTicker(context, symbol));
  return fromSource(context, 'stock_tape', async () => {
    // Open to the past: the last session of the range counts, however long ago it was.
    const { session } = await storedHistory(context, { symbol, first: null, last });
    if (session === null) return [];
    const range = { symbol, first: session, last: session, after: null };
    return storedRows(context, 'concentration', range, offExchangeLimits.max);
  });
}

/** The price buckets of the last session that had been published when a capture was taken. */
function levelsOf(
  context: RequestContext,
  { underlying, capturedAt, sessionDate }: GexStrike['capture'],
): Promise<Levels> {
  requireNow(context, 'off-exchange data');
  const last = lastOffExchangeSession({ nowMs: capturedAt, past: { atMs: capturedAt, knownMs: null } });
  const name = `nearest levels ${underlying} ${last} ${sessionDate} ${context.nowMs}`;
  return oncePerRequest(context, name, async () => {
    const rows = await readLevels(context, underlying, last);
    const levels = rows.toSorted((a, b) => a.bucketMidpoint - b.bucketMidpoint);
    const factor = await factorBetween(context, underlying, levels[0]?.date ?? sessionDate, sessionDate);
    return { levels, prices: levels.map(({ bucketMidpoint }) => bucketMidpoint / factor) };
  });
}

/**
 * The off-exchange price bucket nearest to a strike, of the last session that had been published when the capture was
 * taken; null if there is none. Its price is divided by the splits since.
 */
export async function nearestLevel(context: RequestContext, row: GexStrike): Promise<NearestLevel | null> {
  const { levels, prices } = await levelsOf(context, row.capture);
  const strike = fromThousandths(row.strike);
  const index = nearestIndex(prices, strike);
  return index === -1 ? null : { level: levels[index]!, ...distanceTo(prices[index]!, strike) };
}

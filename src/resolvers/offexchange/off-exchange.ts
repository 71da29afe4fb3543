import { requireOffExchange, requireReadable } from '../../access/entitlement/entitlement.ts';
import {
  exchangeDate,
  exchangeInstant,
  exchangeTimeZone,
  isDate,
  parseRequestedInstant,
  type SessionDate,
} from '../../core/domain/market-time.ts';
import {
  type OffExchangeRows,
  type OffExchangeTable,
  offExchangeLimits,
} from '../../core/domain/offexchange/off-exchange.ts';
import { requireServedWindow } from '../../core/domain/served-window.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import {
  isRowKey,
  type OffExchangeHistory,
  type RowRange,
  readOffExchangeHistory,
  readOffExchangeRows,
  rowKey,
  type SessionRange,
  type StoredRow,
} from '../../store/offexchange/session-rows.ts';
import { requireNow } from '../as-of.ts';
import { fromSource, ofAllInstants, type RequestContext, realTicker } from '../context.ts';
import { foreignCursor, ofInstant, readCursor, writeCursor } from '../cursor.ts';
import { lastOffExchangeSession } from '../publication.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { offExchangeSource, spanOf } from '../source-keys.ts';

export type { StoredRow };

export interface OffExchangeArgs {
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
export function storedHistory(context: RequestContext, range: SessionRange): Promise<OffExchangeHistory> {
  const last = lastOffExchangeSession(context);
  return batched(ofAllInstants(context), `off-exchange history ${last}`, range, (ranges) =>
    readOffExchangeHistory(context.store, ranges, last),
  );
}

/** The first rows of a range. */
export function storedRows<T extends OffExchangeTable>(
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

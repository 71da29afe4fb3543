import { sessionOf } from '../../core/domain/calendar.ts';
import { sourceTime } from '../../core/domain/chain/chain.ts';
import { lastInstant } from '../../core/domain/chain/option-root.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { dayMs } from '../../platform/runtime/clock.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { findKnownRows } from '../rows/models/known-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { statement } from '../rows/statement.ts';
import { type HeldKind, heldId, readHeld } from '../versions/versioned-cache.ts';
import { decodeExpiries } from './captures.ts';
import { decodeInputs } from './inputs.ts';

/** Volatility at the money by expiry at the close of a session. */
export interface ClosingVolatility {
  sessionDate: SessionDate;
  /** Ascending: years of 365 days to the last instant of the root that settles last, and an annualized fraction. */
  expiries: { years: number; atmIv: number | null }[];
}

/** The times, epoch ms, between which the quotes of a session's closing capture lie, both included. */
export interface ClosingWindow {
  fromMs: number;
  toMs: number;
}

/** Number of captures decoded before a yield to the event loop: about 2 ms of work. */
const decodesPerYield = 50;

const closing = statement(
  'gex/closing-captures',
  { underlyings: 'text[]', fromMs: 'int8[]', toMs: 'int8[]' },
  { underlying: 'text', capturedAt: 'int8', sessionDate: 'text', delayMs: 'int4?', version: 'text' },
);

const headerFields = ['underlying', 'capturedAt', 'sessionDate', 'delayMs', 'version'] as const;
type ClosingHeader = Pick<Row<'GexCapture'>, (typeof headerFields)[number]>;

const heldClosings: HeldKind<readonly ClosingHeader[]> = {
  subject: 'gex',
  name: 'closing-captures',
  bytesOf: (headers) => 100 + 200 * headers.length,
};

/** The headers of closing captures, ascending, by underlying. One statement, none if all are cached. */
async function closingHeaders(
  store: Store,
  underlyings: readonly string[],
  windows: readonly ClosingWindow[],
): Promise<Map<string, readonly ClosingHeader[]>> {
  const part = `${windows[0]?.fromMs} ${windows.at(-1)?.toMs}`;
  const asked = underlyings.map((symbol) => ({ symbol, part }));
  const held = await readHeld(store, heldClosings, asked, async (missing) => {
    const pairs = missing.flatMap(({ symbol }) => windows.map((window) => ({ symbol, ...window })));
    const rows = await closing.rows(readFrom(store, 'gex', underlyings), {
      underlyings: pairs.map(({ symbol }) => symbol),
      fromMs: pairs.map(({ fromMs }) => fromMs),
      toMs: pairs.map(({ toMs }) => toMs),
    });
    return Map.groupBy(rows, ({ underlying }) => heldId({ symbol: underlying, part }));
  });
  return new Map(asked.map((key) => [key.symbol, held.get(heldId(key)) ?? []]));
}

type ClosingRow = ClosingHeader & Pick<Row<'GexCapture'>, 'expiries' | 'inputs'>;

function volatilityOf({ capturedAt, delayMs, expiries, inputs }: ClosingRow): ClosingVolatility {
  const years = new Map<SessionDate, number>();
  for (const each of inputs ? decodeInputs(inputs) : [])
    years.set(each.expiry, Math.max(years.get(each.expiry) ?? 0, each.years));
  const quotedAt = sourceTime({ capturedAt, delayMs });
  // Captures of before inputs were stored do not say which root an expiry's volatility is of: most settle at the close.
  const yearsTo = (expiry: SessionDate) => (lastInstant(expiry, 'pm') - quotedAt) / (365 * dayMs);
  return {
    sessionDate: sessionOf(quotedAt),
    expiries: decodeExpiries(expiries).map(({ expiry, atmIv }) => ({
      years: years.get(expiry) ?? yearsTo(expiry),
      atmIv,
    })),
  };
}

/** Key of a decoded capture: a rewritten one is another entry. */
const cacheKey = ({ underlying, capturedAt, version }: ClosingHeader) =>
  `gex:closing:${underlying}:${capturedAt}:${version}`;

const bytesOf = ({ expiries }: ClosingVolatility) => 100 + 40 * expiries.length;

/** The volatilities of captures that are not cached, by underlying and session. */
async function readMissing(store: Store, missing: readonly ClosingHeader[]): Promise<Map<string, ClosingVolatility>> {
  const read = new Map<string, ClosingVolatility>();
  if (missing.length === 0) return read;
  // Headers are read again with the payload: a capture rewritten in between must not be half old, half new.
  const keys = { by: ['underlying', 'capturedAt'] as const, keys: missing };
  const from = readFrom(store, 'gex', new Set(missing.map(({ underlying }) => underlying)));
  const rows = await findKnownRows(store, from, 'GexCapture', keys, [...headerFields, 'expiries', 'inputs']);
  for (const row of rows) {
    const closed = volatilityOf(row);
    store.blocks.set(cacheKey(row), closed, bytesOf(closed));
    read.set(`${row.underlying} ${row.capturedAt}`, closed);
    if (read.size % decodesPerYield === 0) await yieldToEventLoop();
  }
  return read;
}

/**
 * Volatilities at the close of sessions, ascending, by underlying: of the published capture with the last quotes in
 * each window; windows without a capture are absent. Two statements, none if all are cached.
 */
export async function closingVolatilities(
  store: Store,
  underlyings: readonly string[],
  windows: readonly ClosingWindow[],
): Promise<Map<string, ClosingVolatility[]>> {
  const headers = await closingHeaders(store, underlyings, windows);
  const closings = [...headers.values()].flat();
  const cached = new Map(closings.map((each) => [each, store.blocks.get<ClosingVolatility>(cacheKey(each))]));
  const read = await readMissing(
    store,
    closings.filter((each) => !cached.get(each)),
  );
  const volatilityAt = (each: ClosingHeader) => cached.get(each) ?? read.get(`${each.underlying} ${each.capturedAt}`);
  return new Map(Array.from(headers, ([symbol, some]) => [symbol, some.flatMap((each) => volatilityAt(each) ?? [])]));
}

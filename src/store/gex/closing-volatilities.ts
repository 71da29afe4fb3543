import { sourceTime } from '../../domain/chain/chain.ts';
import { lastInstant } from '../../domain/chain/option-root.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { dayMs } from '../../domain/units.ts';
import { readFrom, type Store } from '../rows/connection.ts';
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

/** The instants, epoch ms, between which a session's closing capture lies, both included. */
export interface ClosingWindow {
  fromMs: number;
  toMs: number;
}

const closing = statement(
  'gex/closing-captures',
  { underlyings: 'text[]', fromMs: 'int8[]', toMs: 'int8[]' },
  {
    ...({ underlying: 'text', capturedAt: 'int8', sessionDate: 'text', delayMs: 'int4?' } as const),
    ...({ expiries: 'bytea', inputs: 'bytea?' } as const),
  },
);

const heldClosings: HeldKind<readonly ClosingVolatility[]> = {
  subject: 'gex',
  name: 'closing-volatilities',
  bytesOf: (sessions) => sessions.reduce((sum, { expiries }) => sum + 100 + 40 * expiries.length, 100),
};

type ClosingRow = Awaited<ReturnType<typeof closing.rows>>[number];

function volatilityOf({ sessionDate, capturedAt, delayMs, expiries, inputs }: ClosingRow): ClosingVolatility {
  const years = new Map<SessionDate, number>();
  for (const each of inputs ? decodeInputs(inputs) : [])
    years.set(each.expiry, Math.max(years.get(each.expiry) ?? 0, each.years));
  const quotedAt = sourceTime({ capturedAt, delayMs });
  // Captures of before inputs were stored do not say which root an expiry's volatility is of: most settle at the close.
  const yearsTo = (expiry: SessionDate) => (lastInstant(expiry, 'pm') - quotedAt) / (365 * dayMs);
  return {
    sessionDate,
    expiries: decodeExpiries(expiries).map(({ expiry, atmIv }) => ({
      years: years.get(expiry) ?? yearsTo(expiry),
      atmIv,
    })),
  };
}

/**
 * Volatilities at the close of sessions, ascending, by underlying: of the last published capture in each window. One
 * statement, none when all are held; windows without a capture are absent.
 */
export async function closingVolatilities(
  store: Store,
  underlyings: readonly string[],
  windows: readonly ClosingWindow[],
): Promise<Map<string, readonly ClosingVolatility[]>> {
  const part = `${windows[0]?.fromMs} ${windows.at(-1)?.toMs}`;
  const asked = underlyings.map((symbol) => ({ symbol, part }));
  const held = await readHeld(store, heldClosings, asked, async (missing) => {
    const pairs = missing.flatMap(({ symbol }) => windows.map((window) => ({ symbol, ...window })));
    const rows = await closing.rows(readFrom(store, 'gex', underlyings), {
      underlyings: pairs.map(({ symbol }) => symbol),
      fromMs: pairs.map(({ fromMs }) => fromMs),
      toMs: pairs.map(({ toMs }) => toMs),
    });
    const found = Map.groupBy(rows, ({ underlying }) => heldId({ symbol: underlying, part }));
    return new Map(Array.from(found, ([key, some]) => [key, some.map(volatilityOf)] as const));
  });
  return new Map(asked.map((key) => [key.symbol, held.get(heldId(key)) ?? []]));
}

import type { Rate } from '../../core/domain/market/rates.ts';
import { addDays, type SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type HeldKind, readHeld } from '../versions/versioned-cache.ts';

/** Maximum age at which the last curve is valid, in calendar days. */
const longestHeldDays = 31;

const heldCurves: HeldKind<readonly Rate[]> = {
  subject: 'corporate',
  name: 'rates',
  bytesOf: (points) => 100 + 80 * points.length,
};

// A curve has no symbol: any change of rates concerns all.
const ofNone = '*';

/**
 * The points of the last curve up to `date` that is at most 31 days old, ascending by days; empty without one. In the
 * caller's transaction if given.
 */
export async function readCurve({ prisma }: Pick<Reader, 'prisma'>, date: SessionDate): Promise<readonly Rate[]> {
  const within = { lte: date, gte: addDays(date, -longestHeldDays) };
  const last = await prisma.rate.findFirst({ where: { date: within }, orderBy: { date: 'desc' } });
  return last ? prisma.rate.findMany({ where: { date: last.date }, orderBy: { days: 'asc' } }) : [];
}

/** Like `readCurve`, cached in the process. */
export async function curveOn(store: Store, date: SessionDate): Promise<readonly Rate[]> {
  const found = await readHeld(store, heldCurves, [{ symbol: ofNone, part: date }], async () => {
    const curve = await readCurve(readFrom(store, 'corporate', [ofNone]), date);
    return new Map([[`${ofNone} ${date}`, curve]]);
  });
  return found.get(`${ofNone} ${date}`) ?? [];
}

/** All stored points, by date, then days. */
export function allRates({ prisma }: Store): Promise<Rate[]> {
  return prisma.rate.findMany({ orderBy: [{ date: 'asc' }, { days: 'asc' }] });
}

/**
 * Inserts or replaces points, inside the caller's transaction; no two may have the same date and days. Returns the
 * number that are new or different.
 */
export function saveRates(tx: Transaction, rates: readonly Rate[]): Promise<number> {
  return upsertRows(tx, 'Rate', rates, { ifDifferent: ['rate'] });
}

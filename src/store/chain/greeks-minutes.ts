import type { GreeksSolve } from '../../domain/chain/greeks.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { anyOf } from '../engine/models/any-of.ts';
import { copyRows, upsertRows } from '../engine/models/sets.ts';
import type { Transaction } from '../engine/transaction.ts';
import { blockVersion } from '../market/bar-blocks.ts';
import { encodeSolves, recordBytes } from './greeks-record.ts';

/** The solves of an underlying at a minute's boundary, to be written. */
export interface WrittenMinute {
  underlying: string;
  tsMs: number;
  /** Dollars; null when unknown. */
  spot: number | null;
  /** By contract path form. New contracts take the next places in this order. */
  solves: ReadonlyMap<string, GreeksSolve>;
}

/** Where the contracts of a session's underlyings have their records, as far as a writer knows. */
export type GreeksSlots = Map<string, Map<string, number>>;

/** Learns the places of underlyings that a writer does not know yet. */
async function loadSlots(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
  places: GreeksSlots,
): Promise<void> {
  const unknown = underlyings.filter((underlying) => !places.has(underlying));
  if (unknown.length === 0) return;
  for (const underlying of unknown) places.set(underlying, new Map());
  const rows = await tx.prisma.greeksPlace.findMany({
    where: { underlying: anyOf(unknown), sessionDate: session },
    select: { underlying: true, contract: true, place: true },
  });
  for (const { underlying, contract, place } of rows) places.get(underlying)!.set(contract, place);
}

interface EncodedMinute extends Omit<WrittenMinute, 'solves'> {
  payload: Buffer;
}

type Place = { underlying: string; contract: string; place: number };

/** Gives every new contract the next place of its underlying, and packs the solves by place. */
function encodeMinutes(
  minutes: readonly WrittenMinute[],
  places: GreeksSlots,
): { rows: EncodedMinute[]; added: Place[] } {
  const added: Place[] = [];
  const rows = minutes.map(({ underlying, tsMs, spot, solves }) => {
    const known = places.get(underlying)!;
    const bySlot = new Map<number, GreeksSolve>();
    for (const [contract, solve] of solves) {
      let place = known.get(contract);
      if (place === undefined) {
        place = known.size;
        known.set(contract, place);
        added.push({ underlying, contract, place });
      }
      bySlot.set(place, solve);
    }
    return { underlying, tsMs, spot, payload: encodeSolves(bySlot) };
  });
  return { rows, added };
}

/**
 * Writes minutes of a session, in a transaction that holds the flow; a minute already there is replaced. `places` is what this writer
 * learned before, and learns more: of no use once a transaction failed.
 */
export async function saveGreeksMinutes(
  tx: Transaction,
  session: SessionDate,
  minutes: readonly WrittenMinute[],
  places: GreeksSlots,
): Promise<void> {
  if (minutes.length === 0) return;
  await loadSlots(tx, session, [...new Set(minutes.map(({ underlying }) => underlying))], places);
  const { rows, added } = encodeMinutes(minutes, places);
  const placed = added.map((place) => ({ ...place, sessionDate: session }));
  if (placed.length > 0) await copyRows(tx, 'GreeksPlace', placed);
  const written = rows.map((row) => ({
    ...row,
    sessionDate: session,
    count: row.payload.length / recordBytes,
    version: blockVersion(row.payload),
  }));
  await upsertRows(tx, 'GreeksMinute', written);
}

/** Takes the solves of underlyings out of a session, in a transaction that holds the flow. */
export async function removeGreeks(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
): Promise<void> {
  const where = { sessionDate: session, underlying: anyOf(underlyings) };
  await tx.prisma.greeksMinute.deleteMany({ where });
  await tx.prisma.greeksPlace.deleteMany({ where });
}

/** Drops the solves of sessions before one. */
export async function dropGreeks(tx: Transaction, before: SessionDate): Promise<void> {
  const where = { sessionDate: { lt: before } };
  await tx.prisma.greeksMinute.deleteMany({ where });
  await tx.prisma.greeksPlace.deleteMany({ where });
}

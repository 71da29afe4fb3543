import type { GreeksSolve } from '../../core/domain/chain/greeks.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { copyRows } from '../rows/models/copied-rows.ts';
import { deleteRows, upsertRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';
import { blockVersion } from '../series/block-version.ts';
import { assertSolves, encodeSolves, recordBytes } from './greeks-record.ts';

/** The solves of an underlying at a minute's boundary to write. */
export interface WrittenMinute {
  underlying: string;
  tsMs: number;
  /** Dollars; null when unknown. */
  spot: number | null;
  /** Continuous interest rate, a fraction per year, and version of the definitions of the solves. */
  rate: number;
  methodologyVersion: string;
  /** By contract path form. New contracts get the next slots in this order. */
  solves: ReadonlyMap<string, GreeksSolve>;
}

/** Record slots of the contracts of a session's underlyings, as far as a writer knows them. */
export type GreeksSlots = Map<string, Map<string, number>>;

/** Reads the slots of underlyings unknown to a writer. */
async function loadSlots(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
  slots: GreeksSlots,
): Promise<void> {
  const unknown = underlyings.filter((underlying) => !slots.has(underlying));
  if (unknown.length === 0) return;
  for (const underlying of unknown) slots.set(underlying, new Map());
  const rows = await tx.prisma.greeksSlot.findMany({
    where: { underlying: anyOf(unknown), sessionDate: session },
    select: { underlying: true, contract: true, slot: true },
  });
  for (const { underlying, contract, slot } of rows) slots.get(underlying)!.set(contract, slot);
}

interface EncodedMinute extends Omit<WrittenMinute, 'solves'> {
  payload: Buffer;
}

type GreeksSlotRow = { underlying: string; contract: string; slot: number };

/** Assigns every new contract the next slot of its underlying, and packs the solves by slot. */
function encodeMinutes(
  minutes: readonly WrittenMinute[],
  slots: GreeksSlots,
): { rows: EncodedMinute[]; added: GreeksSlotRow[] } {
  const added: GreeksSlotRow[] = [];
  const rows = minutes.map(({ solves, ...minute }) => {
    const { underlying } = minute;
    const known = slots.get(underlying)!;
    const bySlot = new Map<number, GreeksSolve>();
    for (const [contract, solve] of solves) {
      let slot = known.get(contract);
      if (slot === undefined) {
        slot = known.size;
        known.set(contract, slot);
        added.push({ underlying, contract, slot });
      }
      bySlot.set(slot, solve);
    }
    return { ...minute, payload: encodeSolves(bySlot) };
  });
  return { rows, added };
}

/**
 * Writes minutes of a session, in a transaction that holds the flow; a stored minute is replaced. `places` caches this
 * writer's slots; discard it after a failed transaction.
 */
export async function saveGreeksMinutes(
  tx: Transaction,
  session: SessionDate,
  minutes: readonly WrittenMinute[],
  slots: GreeksSlots,
): Promise<void> {
  if (minutes.length === 0) return;
  for (const [of, some] of Map.groupBy(minutes, ({ underlying }) => underlying))
    assertSolves.onWrite({ of, sessionDate: session, tsMs: some.map(({ tsMs }) => tsMs) });
  await loadSlots(tx, session, [...new Set(minutes.map(({ underlying }) => underlying))], slots);
  const { rows, added } = encodeMinutes(minutes, slots);
  const placed = added.map((slot) => ({ ...slot, sessionDate: session }));
  if (placed.length > 0) await copyRows(tx, 'GreeksSlot', placed);
  const written = rows.map((row) => ({
    ...row,
    sessionDate: session,
    count: row.payload.length / recordBytes,
    version: blockVersion(row.payload),
  }));
  await upsertRows(tx, 'GreeksMinute', written);
}

/** Removes the solves of underlyings from a session, in a transaction that holds the flow. */
export async function removeGreeks(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
): Promise<void> {
  const keys = underlyings.map((underlying) => ({ underlying, sessionDate: session }));
  for (const model of ['GreeksMinute', 'GreeksSlot'] as const)
    await deleteRows(tx, model, { by: ['underlying', 'sessionDate'], keys });
}

/** Deletes the solves of sessions before one. */
export async function dropGreeks(tx: Transaction, before: SessionDate): Promise<void> {
  const where = { sessionDate: { lt: before } };
  await tx.prisma.greeksMinute.deleteMany({ where });
  await tx.prisma.greeksSlot.deleteMany({ where });
}

import { type GreeksSample, type GreeksSolve, type MarkSource, markSources } from '../../core/domain/chain/greeks.ts';
import { solveColumns } from '../../core/domain/chain/greeks-columns.ts';
import { type Column, namesOf } from '../../core/domain/columns.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { copyRows } from '../rows/copied-rows.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { deleteRows, upsertRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { areOfSession, ascends, blockAssertions } from '../series/assertions.ts';
import { blockVersion, known } from '../series/codec.ts';

/** Key of a contract's solves: its underlying, and its path form (`O:…`). */
interface GreeksKey {
  underlying: string;
  contract: string;
}

/** Maximum number of sessions, of those in which it was followed, in a contract's series. */
const sessionsBack = 10;

const records = statement(
  'chain/greeks-records',
  {
    underlyings: 'text[]',
    contracts: 'text[]',
    throughMs: 'int8',
    today: 'text',
    length: 'int8',
    sessionsBack: 'int8',
  },
  { nth: 'int8', sessionDate: 'text', tsMs: 'int8', record: 'bytea' },
);

/**
 * The newest solves of several contracts, newest first, each at most `length` and none later than `throughMs`. One
 * statement, which reads only their records of a minute.
 */
async function newestRecords(store: Store, keys: readonly GreeksKey[], { throughMs, today, length }: SeriesRange) {
  const underlyings = keys.map((key) => key.underlying);
  const contracts = keys.map((key) => key.contract);
  const asked = { underlyings, contracts, throughMs, today, length, sessionsBack };
  const rows = await records.rows(readFrom(store, 'chain', new Set(underlyings)), asked);
  for (let from = 0, to = 0; from < rows.length; from = to) {
    const { nth, sessionDate } = rows[from]!;
    while (rows[to]?.nth === nth && rows[to]!.sessionDate === sessionDate) to++;
    const tsMs = rows.slice(from, to).map((row) => row.tsMs);
    assertSolves.onRead({ of: keys[nth - 1]!.contract, sessionDate, tsMs: tsMs.reverse() });
  }
  return rows;
}

interface SeriesRange {
  throughMs: number;
  /** The session of `throughMs`. */
  today: SessionDate;
  length: number;
}

/**
 * The newest solves of several contracts in one statement, none later than `throughMs`; absent for a contract without
 * one.
 */
export async function readLatestGreeks(
  store: Store,
  keys: readonly GreeksKey[],
  range: Omit<SeriesRange, 'length'>,
): Promise<Map<string, GreeksSolve>> {
  const rows = await newestRecords(store, keys, { ...range, length: 1 });
  return new Map(rows.map(({ nth, tsMs, record }) => [keys[nth - 1]!.contract, decodeSolve(record, tsMs)!]));
}

/**
 * The newest `length` samples of several contracts up to `throughMs`, ascending, in one statement; absent for a
 * contract without one.
 */
export async function readGreeksSeries(
  store: Store,
  keys: readonly GreeksKey[],
  range: SeriesRange,
): Promise<Map<string, GreeksSample[]>> {
  const series = new Map<string, GreeksSample[]>();
  for (const { nth, tsMs, record } of await newestRecords(store, keys, range)) {
    const { contract } = keys[nth - 1]!;
    if (!series.has(contract)) series.set(contract, []);
    series.get(contract)!.push(decodeSolve(record, tsMs)!);
  }
  for (const samples of series.values()) samples.reverse();
  return series;
}

const numberNames = namesOf(solveColumns);
const isNeverNull = (name: keyof typeof solveColumns) => (solveColumns[name] as Column).nullable === false;
/** A record of an older layout has fewer numbers, but every one that is never null. */
const leastBytes = 8 * (numberNames.findLastIndex(isNeverNull) + 1) + 1;

/**
 * Bytes of one solve: its numbers (little-endian doubles, NaN = unknown) and, last, the source of its mark; 0 there =
 * no solve. All records of a minute have one length, which says how many numbers they have.
 */
const recordBytes = 8 * numberNames.length + 1;

/** Minutes of a session with solves: those of an underlying to write, or those of a contract as read. */
interface SolvedSeries {
  /** Underlying, or contract. */
  of: string;
  sessionDate: SessionDate;
  /** Epoch ms. */
  tsMs: readonly number[];
}

/** Asserts what holds of the minutes of a session with solves. */
export const assertSolves = blockAssertions<SolvedSeries>('solves', ({ of, sessionDate }) => `${of} ${sessionDate}`, {
  'its minutes ascend': ({ tsMs }) => ascends(tsMs),
  'its minutes are in its session': ({ sessionDate, tsMs }) => areOfSession(tsMs, (session) => session === sessionDate),
});

/** Records by slot; those without a solve are empty. */
export function encodeSolves(solves: ReadonlyMap<number, GreeksSolve>): Buffer<ArrayBuffer> {
  let count = 0;
  for (const slot of solves.keys()) if (slot >= count) count = slot + 1;
  const bytes = Buffer.alloc(count * recordBytes);
  for (const [slot, solve] of solves) {
    const offset = slot * recordBytes;
    numberNames.forEach((name, i) => {
      bytes.writeDoubleLE(solve[name] ?? Number.NaN, offset + 8 * i);
    });
    bytes[offset + recordBytes - 1] = 1 + markSources.indexOf(solve.markSource);
  }
  return bytes;
}

/**
 * The solve of `tsMs` that a record holds; null for an empty one. A number that an older record lacks is unknown.
 * Throws on bytes that are none.
 */
export function decodeSolve(record: Buffer, tsMs: number): GreeksSolve | null {
  const sourceAt = record.length - 1;
  if (sourceAt % 8 !== 0 || record.length < leastBytes) throw new RangeError('a record of a solve is cut short');
  const source = record[sourceAt]!;
  if (source === 0) return null;
  const markSource: MarkSource | undefined = markSources[source - 1];
  if (!markSource) throw new RangeError(`a record of a solve has mark source ${source}`);
  const solve: Record<string, unknown> = { tsMs, markSource };
  numberNames.forEach((name, i) => {
    solve[name] = 8 * i < sourceAt ? known(record.readDoubleLE(8 * i)) : null;
  });
  return solve as unknown as GreeksSolve;
}

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

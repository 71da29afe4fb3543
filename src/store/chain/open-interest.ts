import { compareContracts, type OptionContract, osiSymbol } from '../../core/domain/chain/option-contract.ts';
import { dateOfEpochDay, epochDay, exchangeInstant, type SessionDate } from '../../core/domain/market-time.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { lock } from '../rows/locks.ts';
import { anyOf, findAny } from '../rows/models/any-of.ts';
import { selection } from '../rows/models/columns.ts';
import { findKnownRows } from '../rows/models/known-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { findRows, upsertRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';
import { blockAssertions } from '../series/assertions.ts';
import { blockVersion, decodeBlock, encodeBlock, numbers, texts } from '../series/codec.ts';
import { type HeldKind, heldId, readHeld } from '../versions/versioned-cache.ts';

/** Contracts outstanding of one option contract, as of the close before the session. */
export interface OpenInterest extends OptionContract {
  openInterest: number;
}

const assertions = blockAssertions<OpenInterestRun>(
  'open interest',
  ({ underlying, sessionDate }) => `${underlying} ${sessionDate}`,
  {
    'its contracts ascend': ({ rows }) => rows.every((row, i) => i === 0 || compareContracts(rows[i - 1]!, row) < 0),
  },
);

function encode(run: OpenInterestRun): Uint8Array<ArrayBuffer> {
  assertions.onWrite(run);
  const { rows } = run;
  return encodeBlock({
    root: rows.map((row) => row.root),
    expiryDay: Float64Array.from(rows, (row) => epochDay(row.expiry)),
    isPut: Float64Array.from(rows, (row) => (row.right === 'put' ? 1 : 0)),
    strike: Float64Array.from(rows, (row) => row.strike),
    openInterest: Float64Array.from(rows, (row) => row.openInterest),
  });
}

function decode({
  payload,
  ...key
}: Pick<Row<'OpenInterestBlock'>, 'underlying' | 'sessionDate' | 'payload'>): OpenInterest[] {
  const columns = decodeBlock(payload);
  const day = numbers(columns, 'expiryDay');
  const isPut = numbers(columns, 'isPut');
  const strike = numbers(columns, 'strike');
  const openInterest = numbers(columns, 'openInterest');
  const rows = texts(columns, 'root').map(
    (root, i): OpenInterest => ({
      root,
      expiry: dateOfEpochDay(day[i]!),
      right: isPut[i] === 1 ? 'put' : 'call',
      strike: strike[i]!,
      openInterest: openInterest[i]!,
    }),
  );
  assertions.onRead({ ...key, rows });
  return rows;
}

/**
 * Listed expiries, ascending. `capturedAt` is the chain capture's, or the start of the session of the open interest.
 */
export interface ListedExpirations {
  capturedAt: number;
  expirations: SessionDate[];
}

function listedIn(sessionDate: SessionDate, rows: readonly OpenInterest[]): ListedExpirations {
  const expirations = [...new Set(rows.map(({ expiry }) => expiry))].sort();
  return { capturedAt: exchangeInstant(sessionDate), expirations };
}

/** Open interest of some contracts of one underlying in one session. */
export interface OpenInterestRun {
  underlying: string;
  sessionDate: SessionDate;
  rows: OpenInterest[];
}

function merge(older: readonly OpenInterest[], newer: readonly OpenInterest[]): OpenInterest[] {
  const byContract = new Map([...older, ...newer].map((row) => [osiSymbol(row), row]));
  return [...byContract.values()].sort(compareContracts);
}

/** Locks all open interest for a writer until its transaction ends. */
export async function lockOpenInterest(tx: Transaction): Promise<void> {
  await lock(tx, 'open_interest_blocks');
}

/**
 * Merges open interest into its blocks, inside the caller's transaction, which holds `lockOpenInterest`; a new figure
 * of a contract replaces the old one. Returns the number of changed blocks.
 */
export async function saveOpenInterest(tx: Transaction, runs: readonly OpenInterestRun[]): Promise<number> {
  let changed = 0;
  for (const { underlying, sessionDate, rows } of runs) {
    const keys = { by: ['underlying', 'sessionDate'] as const, keys: [{ underlying, sessionDate }] };
    const before = await findRows(tx, 'OpenInterestBlock', keys, [...keys.by, 'payload', 'version']);
    const merged = merge(before[0] ? decode(before[0]) : [], rows);
    const payload = Buffer.from(encode({ underlying, sessionDate, rows: merged }));
    const version = blockVersion(payload);
    if (before[0]?.version === version) continue;
    changed++;
    await upsertRows(tx, 'OpenInterestBlock', [{ underlying, sessionDate, count: merged.length, version, payload }]);
  }
  return changed;
}

/**
 * Contracts outstanding in a session, by OSI symbol, inside the caller's transaction; null if no open interest of it is
 * stored.
 */
export async function storedOpenInterest(
  tx: Transaction,
  underlying: string,
  sessionDate: SessionDate,
): Promise<Map<string, number> | null> {
  const keys = { by: ['underlying', 'sessionDate'] as const, keys: [{ underlying, sessionDate }] };
  const [block] = await findRows(tx, 'OpenInterestBlock', keys, [...keys.by, 'payload']);
  return block ? new Map(decode(block).map((row) => [osiSymbol(row), row.openInterest])) : null;
}

/** Open interest of an underlying's listed contracts in a session. Shared by its readers; do not change it. */
export interface ListedInterest {
  sessionDate: SessionDate;
  /** Contracts outstanding, by OSI symbol. */
  byContract: ReadonlyMap<string, number>;
  listed: ListedExpirations;
}

/** Approximate bytes of a cached figure. */
const figureBytes = 90;

/** A block of open interest without its payload. */
type InterestHeader = Pick<Row<'OpenInterestBlock'>, 'underlying' | 'sessionDate' | 'version'>;

const heldLatest: HeldKind<InterestHeader> = { subject: 'chain', name: 'open-interest', bytesOf: () => 200 };

/**
 * The last block of each underlying up to `through`; an underlying without any is absent. Two statements for up to 250
 * underlyings, none if all are cached.
 */
async function latestHeaders(
  store: Store,
  underlyings: readonly string[],
  through: SessionDate,
): Promise<InterestHeader[]> {
  const asked = underlyings.map((symbol) => ({ symbol, part: through }));
  const held = await readHeld(store, heldLatest, asked, async (missing) => {
    const { openInterestBlock } = readFrom(store, 'chain', underlyings).prisma;
    const rows = await findAny(
      missing.map(({ symbol }) => symbol),
      async (underlying) => {
        // At most one row per session: Prisma would read them all for the last one.
        const where = { underlying, sessionDate: { lte: through } };
        const last = await openInterestBlock.groupBy({ by: ['underlying'], where, _max: { sessionDate: true } });
        const dates = new Map(last.map((each) => [each.underlying, each._max.sessionDate!]));
        const found = await openInterestBlock.findMany({
          where: { underlying: anyOf(dates.keys()), sessionDate: anyOf(dates.values()) },
          select: selection(['underlying', 'sessionDate', 'version']),
        });
        return found.filter((row) => row.sessionDate === dates.get(row.underlying));
      },
    );
    return new Map(rows.map((row) => [heldId({ symbol: row.underlying, part: through }), row]));
  });
  return [...held.values()];
}

/**
 * The open interest of each underlying in its last session with any up to `through`, in order; null if none is stored.
 * Three statements, none if all are cached.
 */
export async function latestOpenInterest(
  store: Store,
  underlyings: readonly string[],
  through: SessionDate,
): Promise<(ListedInterest | null)[]> {
  const rows = await latestHeaders(store, underlyings, through);
  const cacheKey = (row: InterestHeader) => `open-interest:${row.underlying}:${row.sessionDate}:${row.version}`;
  const found = new Map(rows.map((row) => [row.underlying, store.blocks.get<ListedInterest>(cacheKey(row))]));
  const missing = rows.filter(({ underlying }) => !found.get(underlying));
  if (missing.length > 0) {
    const by = ['underlying', 'sessionDate'] as const;
    const fields = [...by, 'version', 'payload'] as const;
    const from = readFrom(store, 'chain', underlyings);
    const read = await findKnownRows(store, from, 'OpenInterestBlock', { by, keys: missing }, fields);
    for (const row of read) {
      const { underlying, sessionDate } = row;
      const rows = decode(row);
      const byContract = new Map(rows.map((one) => [osiSymbol(one), one.openInterest]));
      const interest: ListedInterest = { sessionDate, byContract, listed: listedIn(sessionDate, rows) };
      store.blocks.set(cacheKey(row), interest, 500 + byContract.size * figureBytes);
      found.set(underlying, interest);
      await yieldToEventLoop();
    }
  }
  return underlyings.map((underlying) => found.get(underlying) ?? null);
}

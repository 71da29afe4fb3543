// Origin of a store: all it holds of the market is the sample market's, or the operator's own. One row says which. The
// first own data empties the market's tables in the transaction that stores it (docs/decisions/0045-sample-or-own.md).

import { revokeSampleKeys, sampleKeyEnded } from './account/api-keys.ts';
import { raiseRegistryVersion } from './market/registry-version.ts';
import { saveStoreOrigin, storeOrigin } from './market/session-origins.ts';
import { marketModels } from './market-models.ts';
import { lock, lockShared } from './rows/locks.ts';
import { isKept, supersededTable } from './rows/models/kept-models.ts';
import { tableOf } from './rows/models/model-tables.ts';
import type { Reader } from './rows/reader.ts';
import type { Transaction } from './rows/transaction.ts';
import { knownFrom } from './superseded/generation.ts';

/** Lock that is exclusive for a change of the origin, and shared by those who write what must be of it. */
export const originLock = 'sample data';

/** The metadata key of the sample market's state. */
export const sampleFact = 'sample';
/** The name under which the position on the sample market's live tape is stored. */
export const sampleTape = 'sample market';

/** Paths of the files that the sample market writes. */
const sampleFolder = /[\\/]sample[\\/]/;

/** The note when own data took the place of the sample market. */
export const sampleReplaced = 'other data is stored: the sample market is deleted, and not loaded any more';

/** Thrown when the store is no sample market, or not any more, so that nothing of one must be stored. */
export class SampleEnded extends Error {
  override readonly name = 'SampleEnded';

  constructor() {
    super('the store is not of the sample market any more, which stores nothing more');
  }
}

/** Thrown when the store of a sample market holds something else, which must not be deleted with it. */
export class MixedStore extends Error {
  override readonly name = 'MixedStore';

  constructor(what: string) {
    super(
      `the store is of the sample market, but ${what} is not simulated: nothing is stored; use another data folder`,
    );
  }
}

/** Keeps the origin as it is until the transaction ends. Call it before what is to be written again is read. */
export function holdOrigin(tx: Transaction): Promise<void> {
  return lockShared(tx, originLock);
}

/** Makes an empty store one of the sample market. Throws `SampleEnded` if it has other data. */
export async function beginSample(tx: Transaction): Promise<void> {
  await holdOrigin(tx);
  const origin = await storeOrigin(tx);
  if (origin === 'own') throw new SampleEnded();
  if (origin === null) await saveStoreOrigin(tx, 'sample');
}

/** Begins a write of the sample market: own data waits until it is committed. Throws `SampleEnded`. */
export async function beginSampleWrite(tx: Transaction): Promise<void> {
  await holdOrigin(tx);
  if ((await storeOrigin(tx)) !== 'sample') throw new SampleEnded();
}

/** Throws `MixedStore` if something in the store of a sample market is not the sample market's. */
async function rejectOthers({ prisma }: Transaction): Promise<void> {
  const live = await prisma.sessionOrigin.findFirst({ where: { origin: 'live' } });
  if (live) throw new MixedStore(`${live.symbol} of ${live.sessionDate}`);
  const files = await prisma.ingestedFile.findMany({
    where: { dataset: { not: 'symbols' } },
    select: { name: true, dataset: true, parts: true },
  });
  const own = files.find(({ name }) => !sampleFolder.test(name));
  if (own) throw new MixedStore(`${[own.dataset, ...own.parts.slice(0, 1)].join(' of ')} (${own.name})`);
}

/** Deletes all that is stored of the market. Accounts with all that is theirs, and the registry, stay. */
async function emptyMarket(tx: Transaction): Promise<void> {
  // Rows at a time, not TRUNCATE: readers go on, each with all of the sample market or nothing.
  for (const model of marketModels) {
    await tx.query(`DELETE FROM ${tableOf(model).table}`);
    if (isKept(model)) await tx.query(`DELETE FROM ${supersededTable(model)}`);
  }
  await tx.prisma.sessionOrigin.deleteMany({});
  await tx.prisma.ingestedFile.deleteMany({ where: { dataset: { not: 'symbols' } } });
  await tx.prisma.followedLines.deleteMany({ where: { source: sampleTape } });
  const gone = [sampleFact, `followed ${sampleTape}`, knownFrom];
  await tx.prisma.metadataEntry.deleteMany({ where: { key: { in: gone } } });
  // Roots are held with the registry.
  await raiseRegistryVersion(tx);
  tx.changes.addAll();
}

/**
 * Records that own data is about to be stored; call it before anything is read or written for it. The first time, the
 * sample market is deleted, and its key revoked, which anyone who opened the pages may have. Returns the notes about
 * that. Throws `MixedStore`.
 */
export async function beginOwnData(tx: Transaction, nowMs: number): Promise<string[]> {
  if ((await storeOrigin(tx)) === 'own') return [];
  // Waits for writers of the sample market; later ones find the new origin.
  await lock(tx, originLock);
  const before = await storeOrigin(tx);
  if (before === 'own') return [];
  if (before === 'sample') {
    await rejectOthers(tx);
    await emptyMarket(tx);
  }
  await saveStoreOrigin(tx, 'own');
  const hadKey = ((await revokeSampleKeys(tx, nowMs)) ?? 0) > 0;
  return [...(hadKey ? [sampleKeyEnded] : []), ...(before === 'sample' ? [sampleReplaced] : [])];
}

/** Deletes the sample market: the store is empty then. Returns false if there is none. Throws `MixedStore`. */
export async function removeSample(tx: Transaction): Promise<boolean> {
  await lock(tx, originLock);
  if ((await storeOrigin(tx)) !== 'sample') return false;
  await rejectOthers(tx);
  await emptyMarket(tx);
  return true;
}

/** True if anything of the market is stored. */
export async function holdsMarketData(from: Pick<Reader, 'query'>): Promise<boolean> {
  for (const { table } of marketModels.map(tableOf)) {
    // 1: of a distributed table, the coordinator reads no rows without a column.
    const { rows } = await from.query<{ found: boolean }>(`SELECT EXISTS (SELECT 1 FROM ${table}) AS found`);
    if (rows[0]!.found) return true;
  }
  return false;
}

/** Number of stored rows of the market, by table; those without rows are absent. */
export async function marketRows(from: Pick<Reader, 'query'>): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const { table } of marketModels.map(tableOf)) {
    const { rows: counted } = await from.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
    if (counted[0]!.count > 0) rows[table] = counted[0]!.count;
  }
  return rows;
}

import { isId, maxIdLength } from '../../core/domain/account.ts';
import { savedScreenLimits } from '../../core/domain/screener.ts';
import { isStorableText, storableText } from '../../platform/runtime/storable-text.ts';
import { invalidParameter, screensFull } from '../../platform/wire/failure.ts';
import type { Store } from '../rows/connection.ts';
import type { Row } from '../rows/models/row-values.ts';
import { inTransaction, type Transaction } from '../rows/transaction.ts';

/** A saved screen: its id is the client's choice, its name unique within the account. `definition` is JSON. */
export type StoredScreen = Pick<Row<'SavedScreen'>, 'id' | 'name' | 'definition'>;

/** The screens of an account, and how many it may save. */
export interface OwnScreens {
  accountId: string;
  maxScreens: number;
}

const select = { id: true, name: true, definition: true } as const;

/** Number of screens that an account saved. */
export function countScreens(store: Store, accountId: string): Promise<number> {
  return store.prisma.savedScreen.count({ where: { accountId } });
}

/** Screens of an account, oldest first: `take` of them after the first `skip`. */
export async function listScreens(
  store: Store,
  accountId: string,
  page: { skip: number; take: number },
): Promise<StoredScreen[]> {
  const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
  return store.prisma.savedScreen.findMany({ where: { accountId }, orderBy, select, ...page });
}

/** The screens of an account with these ids, in no order. */
export async function findScreens(store: Store, accountId: string, ids: readonly string[]): Promise<StoredScreen[]> {
  return store.prisma.savedScreen.findMany({ where: { accountId, id: { in: [...ids] } }, select });
}

function checkName(name: string): void {
  if (name.trim() === '') throw invalidParameter('name', 'a value is required; it was empty');
  if (name.length > savedScreenLimits.nameLength || !isStorableText(name))
    throw invalidParameter('name', `expected ${storableText}, of at most ${savedScreenLimits.nameLength} characters`);
}

async function requireFreeName(tx: Transaction, accountId: string, id: string, name: string): Promise<void> {
  const other = await tx.prisma.savedScreen.findFirst({ where: { accountId, name, id: { not: id } }, select });
  if (other) throw invalidParameter('name', `the screen ${JSON.stringify(other.id)} has this name`);
}

/** Work on the screens of an account, one at a time: two requests cannot both take the last slot or the same name. */
function serialized<T>(store: Store, accountId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return inTransaction(store, work, { lock: `screens ${accountId}` });
}

/**
 * Stores a screen, replacing the one with that id. Throws 400 for an invalid id or name, a name of another screen, a
 * definition that is too large, and over the account's number of screens, also under concurrency.
 */
export async function putScreen(
  store: Store,
  { accountId, maxScreens }: OwnScreens,
  { id, name, definition }: StoredScreen,
  nowMs: number,
): Promise<StoredScreen> {
  if (!isId(id)) throw invalidParameter('id', `expected 1 to ${maxIdLength} characters without control characters`);
  checkName(name);
  const bytes = Buffer.byteLength(definition);
  if (bytes > savedScreenLimits.bytes)
    throw invalidParameter('where', `expected at most ${savedScreenLimits.bytes} bytes with the order, got ${bytes}`);
  return serialized(store, accountId, async (tx) => {
    const others = await tx.prisma.savedScreen.count({ where: { accountId, id: { not: id } } });
    if (others >= maxScreens) throw screensFull(maxScreens);
    await requireFreeName(tx, accountId, id, name);
    const change = { name, definition, updatedAt: nowMs };
    return tx.prisma.savedScreen.upsert({
      where: { accountId_id: { accountId, id } },
      create: { accountId, id, createdAt: nowMs, ...change },
      update: change,
      select,
    });
  });
}

/** Gives a screen another name; null = the account has none with that id. Throws 400 as `putScreen`. */
export async function renameScreen(
  store: Store,
  accountId: string,
  { id, name }: Pick<StoredScreen, 'id' | 'name'>,
  nowMs: number,
): Promise<StoredScreen | null> {
  if (!isId(id)) return null;
  checkName(name);
  return serialized(store, accountId, async (tx) => {
    const where = { accountId_id: { accountId, id } };
    if (!(await tx.prisma.savedScreen.findUnique({ where, select }))) return null;
    await requireFreeName(tx, accountId, id, name);
    return tx.prisma.savedScreen.update({ where, data: { name, updatedAt: nowMs }, select });
  });
}

/** Deletes a screen; false = the account has none with that id. */
export async function deleteScreen(store: Store, accountId: string, id: string): Promise<boolean> {
  if (!isId(id)) return false;
  const { count } = await store.prisma.savedScreen.deleteMany({ where: { accountId, id } });
  return count === 1;
}

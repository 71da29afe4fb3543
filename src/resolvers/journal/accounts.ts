import { isId } from '../../domain/account.ts';
import type { JournalAccount } from '../../domain/journal/journal.ts';
import { requireJournalAccount } from '../../domain/journal/journal-account.ts';
import { batched } from '../../runtime/batched.ts';
import { ulid } from '../../runtime/ulid.ts';
import {
  changeJournalAccount,
  deleteJournalAccount,
  findJournalAccounts,
  insertJournalAccount,
  listJournalAccounts,
} from '../../store/journal/accounts.ts';
import { invalidParameter, notFound } from '../../wire/failure.ts';
import { fromStore, type RequestContext } from '../context.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { createOrReplace } from './create-or-replace.ts';
import { mergePatch } from './merge-patch.ts';
import { ownJournal } from './own-journal.ts';
import { type JournalPage, type JournalPageArgs, journalLimit, journalPage } from './page.ts';

export type { JournalAccount };

const notThere = (id: string) => notFound(`Journal account ${JSON.stringify(id.slice(0, 40))}`);

/** The caller's journal accounts, ascending by id. */
export async function journalAccounts(
  context: RequestContext,
  args: JournalPageArgs,
): Promise<JournalPage<JournalAccount>> {
  const { store, caller } = context;
  const size = journalLimit(args.limit);
  const after = args.cursor == null ? null : readCursor(args.cursor, ['journal accounts']);
  const read = await fromStore('journal', () => listJournalAccounts(store, caller.accountId, after, size.limit + 1));
  return journalPage(context, read, size, ({ id }) => writeCursor(id, ['journal accounts']));
}

/** The caller's journal account of that id; null = there is none. Trades of one answer ask together. */
export function journalAccount(context: RequestContext, id: string): Promise<JournalAccount | null> {
  const { store, caller } = context;
  return batched(context, 'journal accounts', id, async (ids) => {
    const found = await fromStore('journal', () => findJournalAccounts(store, caller.accountId, ids));
    return new Map(found.map((account) => [account.id, account]));
  });
}

/** Makes a journal account; without an id it is given one. 400 when there is one of that id. */
export async function createJournalAccount(
  context: RequestContext,
  fields: Record<string, unknown>,
): Promise<JournalAccount> {
  const { store, nowMs, random } = context;
  const read = requireJournalAccount(fields);
  const account = { ...read, id: read.id ?? ulid(nowMs, random) };
  if (!(await fromStore('journal', () => insertJournalAccount(store, ownJournal(context), account, nowMs)))) {
    throw invalidParameter('id', 'an account with this id already exists');
  }
  return account;
}

/**
 * Puts a journal account with these fields in place of the one of that id, or creates it. A request that is sent again
 * changes nothing more. 400 for an id that is none.
 */
export async function replaceJournalAccount(
  context: RequestContext,
  id: string,
  fields: Record<string, unknown>,
): Promise<JournalAccount> {
  const { store, caller, nowMs } = context;
  const account = { ...requireJournalAccount({ ...fields, id }), id };
  return createOrReplace({
    record: account,
    replace: () => fromStore('journal', () => changeJournalAccount(store, caller.accountId, id, () => account)),
    insert: () => fromStore('journal', () => insertJournalAccount(store, ownJournal(context), account, nowMs)),
  });
}

/** Changes what a merge patch (RFC 7396) names of a journal account; 404 when there is none of that id. */
export async function patchJournalAccount(
  { store, caller }: RequestContext,
  id: string,
  patch: Record<string, unknown>,
): Promise<JournalAccount> {
  if (!isId(id)) throw notThere(id);
  const changed = await fromStore('journal', () =>
    changeJournalAccount(store, caller.accountId, id, (current) => ({
      ...requireJournalAccount({ ...mergePatch({ ...current }, patch), id }),
      id,
    })),
  );
  if (changed === null) throw notThere(id);
  return changed;
}

/**
 * Deletes a journal account that holds no trades and returns its id; 400 when it holds some, 404 when there is none of
 * that id.
 */
export async function removeJournalAccount(context: RequestContext, id: string): Promise<string> {
  const { store } = context;
  if (!isId(id)) throw notThere(id);
  const trades = await fromStore('journal', () => deleteJournalAccount(store, ownJournal(context), id));
  if (trades === null) throw notThere(id);
  if (trades > 0) {
    throw invalidParameter(
      'id',
      `the account has ${trades === 1 ? 'a trade' : `${trades} trades`}; move or delete them first`,
    );
  }
  return id;
}

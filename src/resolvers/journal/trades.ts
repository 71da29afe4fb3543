import { isId } from '../../domain/account.ts';
import type { JournalTrade } from '../../domain/journal/journal.ts';
import { requireTrade, tradeFields } from '../../domain/journal/journal-trade.ts';
import { batched } from '../../runtime/batched.ts';
import { ulid } from '../../runtime/ulid.ts';
import {
  changeJournalTrade,
  deleteJournalTrade,
  findJournalTrades,
  insertJournalTrade,
  listJournalTrades,
  type TradePosition,
} from '../../store/journal/trades.ts';
import { invalidParameter, notFound } from '../../wire/failure.ts';
import { fromStore, type RequestContext } from '../context.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { createOrReplace } from './create-or-replace.ts';
import { mergePatch } from './merge-patch.ts';
import { ownJournal } from './own-journal.ts';
import { type JournalPage, type JournalPageArgs, journalLimit, journalPage } from './page.ts';

export type { JournalTrade };

const bound = ['journal trades'];
const notThere = (id: string) => notFound(`Trade ${JSON.stringify(id.slice(0, 40))}`);

function positionOf(position: string): TradePosition {
  const space = position.indexOf(' ');
  return { tsMs: Number(position.slice(0, space)), id: position.slice(space + 1) };
}

/** The trades of the caller's journal, latest first. */
export async function journalTrades(
  context: RequestContext,
  args: JournalPageArgs,
): Promise<JournalPage<JournalTrade>> {
  const { store, caller } = context;
  const size = journalLimit(args.limit);
  const after = args.cursor == null ? null : positionOf(readCursor(args.cursor, bound));
  const read = await fromStore('journal', () => listJournalTrades(store, caller.accountId, after, size.limit + 1));
  return journalPage(context, read, size, ({ tsMs, id }) => writeCursor(`${tsMs} ${id}`, bound));
}

/** The trade of that id in the caller's journal; null = there is none. Those of one answer are read together. */
export function journalTrade(context: RequestContext, id: string): Promise<JournalTrade | null> {
  const { store, caller } = context;
  return batched(context, 'journal trades', id, async (ids) => {
    const found = await fromStore('journal', () => findJournalTrades(store, caller.accountId, ids));
    return new Map(found.map((trade) => [trade.id, trade]));
  });
}

/**
 * Puts a trade into the journal; without an id it is given one, without a time now. 400 when there is one of that id. A
 * journal account that is not there yet is made, as an import does.
 */
export async function createJournalTrade(
  context: RequestContext,
  fields: Record<string, unknown>,
): Promise<JournalTrade> {
  const { store, nowMs, random } = context;
  const read = requireTrade(fields, nowMs);
  const trade = { ...read, id: read.id ?? ulid(nowMs, random) };
  if (!(await fromStore('journal', () => insertJournalTrade(store, ownJournal(context), trade, nowMs)))) {
    throw invalidParameter('id', 'a trade with this id already exists');
  }
  return trade;
}

/**
 * Puts a trade with these fields in place of the one of that id, or creates it. A request that is sent again changes
 * nothing more. 400 for an id that is none.
 */
export async function replaceJournalTrade(
  context: RequestContext,
  id: string,
  fields: Record<string, unknown>,
): Promise<JournalTrade> {
  const { store, nowMs } = context;
  const trade = { ...requireTrade({ ...fields, id }, nowMs), id };
  return createOrReplace({
    record: trade,
    replace: () => fromStore('journal', () => changeJournalTrade(store, ownJournal(context), id, () => trade, nowMs)),
    insert: () => fromStore('journal', () => insertJournalTrade(store, ownJournal(context), trade, nowMs)),
  });
}

/** Changes what a merge patch (RFC 7396) names of a trade; 404 when there is none of that id. */
export async function patchJournalTrade(
  context: RequestContext,
  id: string,
  patch: Record<string, unknown>,
): Promise<JournalTrade> {
  const { store, nowMs } = context;
  if (!isId(id)) throw notThere(id);
  const patched = (current: JournalTrade) => ({
    ...requireTrade({ ...mergePatch(tradeFields(current), patch), id: null }, nowMs),
    id,
  });
  const changed = await fromStore('journal', () => changeJournalTrade(store, ownJournal(context), id, patched, nowMs));
  if (changed === null) throw notThere(id);
  return changed;
}

/** Deletes a trade and returns its id; 404 when there is none of that id. */
export async function removeJournalTrade(context: RequestContext, id: string): Promise<string> {
  const { store } = context;
  if (!isId(id)) throw notThere(id);
  if (!(await fromStore('journal', () => deleteJournalTrade(store, ownJournal(context), id)))) throw notThere(id);
  return id;
}

import { isId } from '../../core/domain/account.ts';
import {
  type JournalAccount,
  type JournalTrade,
  journalAccountFields,
  journalTradeFields,
  type RecordFields,
  type SentFields,
} from '../../core/domain/journal.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { ulid } from '../../platform/runtime/ulid.ts';
import { invalidParameter, notFound } from '../../platform/wire/failure.ts';
import type { OwnJournal } from '../../store/journal/journal-writes.ts';
import {
  accountTable,
  changeRecord,
  deleteRecord,
  findRecords,
  insertRecord,
  type JournalRecord,
  type JournalTable,
  listRecords,
  tradeTable,
} from '../../store/journal/records.ts';
import { fromStore, type RequestContext } from '../context.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';

/** The caller's journal, for writing. */
export function ownJournal({ caller, journalMaxRows }: RequestContext): OwnJournal {
  return { accountId: caller.accountId, maxRows: journalMaxRows };
}

/** Number of rows of a journal page: default and maximum. */
export const journalPageMax = 5000;

interface JournalPageArgs {
  limit?: number | null | undefined;
  cursor?: string | null | undefined;
}

/** A page of the journal. */
export interface JournalPage<Row> {
  rows: Row[];
  meta: ResponseMeta & { count: number; cursor: string | null };
}

/** A page's size, and the caps applied to it. */
function journalLimit(limit: number | null | undefined): { limit: number; applied: string[] } {
  if (limit != null && limit < 1) throw invalidParameter('limit', 'expected 1 or more');
  return {
    limit: Math.min(limit ?? journalPageMax, journalPageMax),
    applied: (limit ?? 0) > journalPageMax ? ['limit_clamped'] : [],
  };
}

/** Builds a page from rows read with one more than its limit, which only shows whether there are more. */
function journalPage<Row>(
  context: RequestContext,
  read: readonly Row[],
  { limit, applied }: { limit: number; applied: string[] },
  cursorAfter: (row: Row) => string,
): JournalPage<Row> {
  const rows = read.slice(0, limit);
  const last = rows.at(-1);
  return {
    rows,
    meta: {
      ...responseMeta(context, 'registry', applied),
      count: rows.length,
      cursor: read.length > limit && last !== undefined ? cursorAfter(last) : null,
    },
  };
}

/** One kind of journal records. */
interface RecordKind<T extends JournalRecord> {
  /** Its name, such as `journal account`. */
  name: string;
  /** Its name in the error of a taken id. */
  one: string;
  /** Name of its list, for binding cursors. */
  list: string;
  fields: RecordFields<Omit<T, 'id'> & { id: string | null }>;
  table: JournalTable<T>;
  /** Conversion of a position in its list to text and back. */
  position: { write: (record: T) => string; read: (text: string) => Partial<T> };
}

/** The records of one kind: operations of every endpoint on those of the caller's journal. */
export class JournalRecords<T extends JournalRecord> {
  readonly #kind: RecordKind<T>;

  constructor(kind: RecordKind<T>) {
    this.#kind = kind;
  }

  #notThere(id: string) {
    const { name } = this.#kind;
    return notFound(`${name[0]!.toUpperCase()}${name.slice(1)} ${JSON.stringify(id.slice(0, 40))}`);
  }

  /** A page of records, in order. */
  async page(context: RequestContext, args: JournalPageArgs): Promise<JournalPage<T>> {
    const { store, caller } = context;
    const { list, table, position } = this.#kind;
    const size = journalLimit(args.limit);
    const bound = [list];
    const after = args.cursor == null ? null : position.read(readCursor(args.cursor, bound));
    const read = await fromStore('journal', () => listRecords(store, table, caller.accountId, after, size.limit + 1));
    return journalPage(context, read, size, (record) => writeCursor(position.write(record), bound));
  }

  /** The record with that id; null = none. Those of one answer are read together. */
  find(context: RequestContext, id: string): Promise<T | null> {
    const { store, caller } = context;
    const { list, table } = this.#kind;
    return batched(context, list, id, async (ids) => {
      const found = await fromStore('journal', () => findRecords(store, table, caller.accountId, ids));
      return new Map(found.map((record) => [record.id, record]));
    });
  }

  #insert(context: RequestContext, record: T): Promise<boolean> {
    const { store, nowMs } = context;
    return fromStore('journal', () => insertRecord(store, this.#kind.table, ownJournal(context), record, nowMs));
  }

  #change(context: RequestContext, changes: Partial<T> & JournalRecord): Promise<T | null> {
    const { store, nowMs } = context;
    return fromStore('journal', () => changeRecord(store, this.#kind.table, ownJournal(context), changes, nowMs));
  }

  /** Creates a record, with a generated id if absent. 400 if the id is taken. */
  async create(context: RequestContext, sent: SentFields): Promise<T> {
    const { nowMs, random } = context;
    const read = this.#kind.fields.require(sent, nowMs);
    const record = { ...read, id: read.id ?? ulid(nowMs, random) } as T;
    if (!(await this.#insert(context, record)))
      throw invalidParameter('id', `${this.#kind.one} with this id already exists`);
    return record;
  }

  /**
   * Replaces the record with that id, or creates it. A repeated request, also a concurrent one, creates no second one.
   * 400 for an invalid id.
   */
  async replace(context: RequestContext, id: string, sent: SentFields): Promise<T> {
    const record = { ...this.#kind.fields.require({ ...sent, id }, context.nowMs), id } as T;
    const replaced = await this.#change(context, record);
    if (replaced !== null || (await this.#insert(context, record))) return record;
    // Another request created it in the meantime; one that deleted it since is later than this one.
    await this.#change(context, record);
    return record;
  }

  /** Changes the sent fields: null clears one. 404 if the id is unknown. */
  async patch(context: RequestContext, id: string, sent: SentFields): Promise<T> {
    if (!isId(id)) throw this.#notThere(id);
    const changes = { ...this.#kind.fields.requirePatch(sent, context.nowMs), id } as Partial<T> & JournalRecord;
    const changed = await this.#change(context, changes);
    if (changed === null) throw this.#notThere(id);
    return changed;
  }

  /** Deletes a record and returns its id. 400 if others depend on it, 404 if the id is unknown. */
  async remove(context: RequestContext, id: string): Promise<string> {
    const { store } = context;
    const { table } = this.#kind;
    if (!isId(id)) throw this.#notThere(id);
    const trades = await fromStore('journal', () => deleteRecord(store, table, ownJournal(context), id));
    if (trades === null) throw this.#notThere(id);
    if (trades > 0) {
      const held = trades === 1 ? 'a trade' : `${trades} trades`;
      throw invalidParameter('id', `the account has ${held}; move or delete them first`);
    }
    return id;
  }
}

export type { JournalAccount };

/** The accounts of the caller's journal, ascending by id. */
export const journalAccounts = new JournalRecords<JournalAccount>({
  name: 'journal account',
  one: 'an account',
  list: 'journal accounts',
  fields: journalAccountFields,
  table: accountTable,
  position: { write: ({ id }) => id, read: (id) => ({ id }) },
});

export type { JournalTrade };

function positionOf(text: string): Pick<JournalTrade, 'tsMs' | 'id'> {
  const space = text.indexOf(' ');
  return { tsMs: Number(text.slice(0, space)), id: text.slice(space + 1) };
}

/** The trades of the caller's journal, latest first. */
export const journalTrades = new JournalRecords<JournalTrade>({
  name: 'trade',
  one: 'a trade',
  list: 'journal trades',
  fields: journalTradeFields,
  table: tradeTable,
  position: { write: ({ tsMs, id }) => `${tsMs} ${id}`, read: positionOf },
});

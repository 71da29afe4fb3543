import { isId } from '../../core/domain/account.ts';
import type { RecordFields, SentFields } from '../../core/domain/journal/record-fields.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { ulid } from '../../platform/runtime/ulid.ts';
import { invalidParameter, notFound } from '../../platform/wire/failure.ts';
import {
  changeRecord,
  deleteRecord,
  findRecords,
  insertRecord,
  type JournalRecord,
  type JournalTable,
  listRecords,
} from '../../store/journal/records.ts';
import { fromStore, type RequestContext } from '../context.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { ownJournal } from './own-journal.ts';
import { type JournalPage, type JournalPageArgs, journalLimit, journalPage } from './page.ts';

/** One kind of journal records. */
export interface RecordKind<T extends JournalRecord> {
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

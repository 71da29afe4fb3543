import { isId } from '../../domain/account.ts';
import type { RecordFields, SentFields } from '../../domain/journal/record-fields.ts';
import { batched } from '../../runtime/batched.ts';
import { ulid } from '../../runtime/ulid.ts';
import {
  changeRecord,
  deleteRecord,
  findRecords,
  insertRecord,
  type JournalRecord,
  type JournalTable,
  listRecords,
} from '../../store/journal/records.ts';
import { invalidParameter, notFound } from '../../wire/failure.ts';
import { fromStore, type RequestContext } from '../context.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { ownJournal } from './own-journal.ts';
import { type JournalPage, type JournalPageArgs, journalLimit, journalPage } from './page.ts';

/** One kind of records that a journal holds. */
export interface RecordKind<T extends JournalRecord> {
  /** Its name, such as `journal account`. */
  name: string;
  /** One whose id is taken, as the error calls it. */
  one: string;
  /** Its list, to which cursors are bound. */
  list: string;
  fields: RecordFields<Omit<T, 'id'> & { id: string | null }>;
  table: JournalTable<T>;
  /** A position in its list as a text, and back. */
  position: { write: (record: T) => string; read: (text: string) => Partial<T> };
}

/** The records of one kind: what every endpoint does with those of the caller's journal. */
export class JournalRecords<T extends JournalRecord> {
  readonly #kind: RecordKind<T>;

  constructor(kind: RecordKind<T>) {
    this.#kind = kind;
  }

  #notThere(id: string) {
    const { name } = this.#kind;
    return notFound(`${name[0]!.toUpperCase()}${name.slice(1)} ${JSON.stringify(id.slice(0, 40))}`);
  }

  /** A page of them, in their order. */
  async page(context: RequestContext, args: JournalPageArgs): Promise<JournalPage<T>> {
    const { store, caller } = context;
    const { list, table, position } = this.#kind;
    const size = journalLimit(args.limit);
    const bound = [list];
    const after = args.cursor == null ? null : position.read(readCursor(args.cursor, bound));
    const read = await fromStore('journal', () => listRecords(store, table, caller.accountId, after, size.limit + 1));
    return journalPage(context, read, size, (record) => writeCursor(position.write(record), bound));
  }

  /** The one of that id; null = there is none. Those of one answer are read together. */
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

  /** Makes one; without an id it is given one. 400 when there is one of that id. */
  async create(context: RequestContext, sent: SentFields): Promise<T> {
    const { nowMs, random } = context;
    const read = this.#kind.fields.require(sent, nowMs);
    const record = { ...read, id: read.id ?? ulid(nowMs, random) } as T;
    if (!(await this.#insert(context, record)))
      throw invalidParameter('id', `${this.#kind.one} with this id already exists`);
    return record;
  }

  /**
   * Puts one with these fields in place of the one of that id, or creates it. A request that is sent again, also at the
   * same time, makes no second one. 400 for an id that is none.
   */
  async replace(context: RequestContext, id: string, sent: SentFields): Promise<T> {
    const record = { ...this.#kind.fields.require({ ...sent, id }, context.nowMs), id } as T;
    const replaced = await this.#change(context, record);
    if (replaced !== null || (await this.#insert(context, record))) return record;
    // Another request created it in the meantime; one that deleted it since came after this one.
    await this.#change(context, record);
    return record;
  }

  /** Changes the fields that are sent: null clears one. 404 when there is none of that id. */
  async patch(context: RequestContext, id: string, sent: SentFields): Promise<T> {
    if (!isId(id)) throw this.#notThere(id);
    const changes = { ...this.#kind.fields.requirePatch(sent, context.nowMs), id } as Partial<T> & JournalRecord;
    const changed = await this.#change(context, changes);
    if (changed === null) throw this.#notThere(id);
    return changed;
  }

  /** Deletes one and returns its id. 400 when others depend on it, 404 when there is none of that id. */
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

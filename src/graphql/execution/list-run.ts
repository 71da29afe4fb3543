import { type JsonPart, stringified, WrittenJson } from '../../platform/wire/json-chunks.ts';
import { isPromise } from './completed.ts';
import type { Pieces } from './sliced-work.ts';

/** A list to be completed. */
export interface ListParts {
  items: Iterable<unknown>;
  complete: (item: unknown, index: number) => unknown;
  /** Number of items to complete before the clock is read again. */
  itemsALook: number;
  /** Its depth in the answer. */
  depth: number;
  /** True if a long list is written as JSON. */
  isWritten: boolean;
}

/** Maximum number of values, and of awaited items, of a list that are written together. */
const chunk = { leaves: 2000, promises: 100 };

/** Completes a list until the time slice ends, and its rest in later slices. */
export class ListRun {
  readonly #list: ListParts;
  readonly #pieces: Pieces;
  readonly #iterator: Iterator<unknown>;
  /** JSON of the earlier chunks, or promises of it. */
  readonly #chunks: (JsonPart[] | Promise<JsonPart[]>)[] = [];
  #items: unknown[] = [];
  /** Indexes of the awaited items among them. */
  #awaited: number[] = [];
  #leavesBefore: number;
  #index = 0;
  #isPaused = false;

  constructor(list: ListParts, pieces: Pieces) {
    this.#list = list;
    this.#iterator = list.items[Symbol.iterator]();
    this.#pieces = pieces;
    this.#leavesBefore = pieces.leaves;
  }

  /** The list as values or, if long, as JSON; or a promise of either. */
  run(): unknown {
    const { complete, itemsALook, isWritten, depth } = this.#list;
    for (let next = this.#iterator.next(); !next.done; next = this.#iterator.next()) {
      const item = complete(next.value, this.#index++);
      const isAwaited = item instanceof Promise;
      if (isAwaited) {
        this.#pieces.awaits(item, depth);
        this.#awaited.push(this.#items.length);
      }
      this.#items.push(item);
      if (this.#index % itemsALook !== 0) continue;
      if (isWritten && this.#isFull()) this.#write();
      if (!this.#pieces.mayGoOn() || (isAwaited && !this.#pieces.hasRoom(depth))) return this.#later();
    }
    if (this.#chunks.length === 0) return this.#found();
    this.#write();
    const promises = this.#chunks.some((each) => each instanceof Promise);
    return promises ? Promise.all(this.#chunks).then(joined) : joined(this.#chunks as JsonPart[][]);
  }

  #later(): Promise<unknown> {
    const { items, depth } = this.#list;
    // Later chunks may reject before they are awaited, all at once, when the client has disconnected.
    if (!this.#isPaused && Array.isArray(items))
      for (const item of items) if (isPromise(item)) item.then(undefined, () => {});
    this.#isPaused = true;
    return this.#pieces.laterInRoom(() => this.run(), depth);
  }

  #isFull(): boolean {
    return this.#pieces.leaves - this.#leavesBefore > chunk.leaves || this.#awaited.length >= chunk.promises;
  }

  /** The items since the last chunk, once all are complete. */
  #found(): unknown[] | Promise<unknown[]> {
    const items = this.#items;
    const awaited = this.#awaited;
    if (awaited.length === 0) return items;
    return Promise.all(awaited.map((index) => items[index])).then((found) => {
      for (const [i, item] of found.entries()) items[awaited[i]!] = item;
      return items;
    });
  }

  /** Writes the items since the last chunk. */
  #write(): void {
    this.#leavesBefore = this.#pieces.leaves;
    if (this.#items.length === 0) return;
    const found = this.#found();
    const before = this.#chunks.length === 0 ? '[' : ',';
    const write = (items: unknown[]) => itemsText(before, stringified(items, this.#pieces.wrote));
    const written = found instanceof Promise ? found.then(write) : write(found);
    if (written instanceof Promise) written.catch(() => {});
    this.#chunks.push(written);
    this.#items = [];
    this.#awaited = [];
  }
}

/** Characters after which text is encoded to bytes: long concatenated strings take ten times the memory. */
const longText = 16 * 1024;

/**
 * A list's JSON, which begins and ends with text. `before` replaces its opening bracket; the closing one is omitted.
 */
function itemsText(before: string, list: readonly JsonPart[]): JsonPart[] {
  return list.map((part, i) => {
    if (typeof part !== 'string') return part;
    const text = (i === 0 ? before : '') + part.slice(i === 0 ? 1 : 0, i === list.length - 1 ? -1 : undefined);
    return text.length < longText ? text : Buffer.from(text);
  });
}

const joined = (chunks: readonly JsonPart[][]) => new WrittenJson([...chunks.flat(), ']']);

import { type JsonWriter, WrittenJson } from '../../wire/json-chunks.ts';
import { isPlain } from './completed.ts';
import type { Pieces } from './sliced-work.ts';

/** A list that is completed. */
export interface ListParts {
  items: Iterator<unknown>;
  complete: (item: unknown, index: number) => unknown;
  /** Items that are completed before the time is looked at again. */
  itemsALook: number;
  /** Its depth in the answer. */
  depth: number;
}

/** Leaves of a list that are plain JSON at a time: shorter lists are never written by themselves. */
const plainLeaves = 2000;

/** Completes a list as long as the piece lasts, and the rest of it in later pieces. */
export class ListRun {
  readonly #list: ListParts;
  readonly #pieces: Pieces;
  /** Finished JSON, and in between the promises of items. */
  readonly #parts: unknown[] = [];
  #writer: JsonWriter;
  #plain: unknown[] = [];
  #plainSince: number;
  #index = 0;
  #wrote = false;

  constructor(list: ListParts, pieces: Pieces) {
    this.#list = list;
    this.#pieces = pieces;
    this.#writer = pieces.writer();
    this.#plainSince = pieces.leaves;
  }

  /** The list's JSON, or a promise of it. */
  run(): unknown {
    const { items, complete, itemsALook, depth } = this.#list;
    for (let next = items.next(); !next.done; next = items.next()) {
      this.#add(complete(next.value, this.#index++));
      if (this.#index % itemsALook !== 0) continue;
      if (this.#pieces.leaves - this.#plainSince > plainLeaves) this.#writePlain();
      if (!this.#pieces.mayGoOn()) return this.#pieces.later(() => this.run(), depth);
    }
    if (!this.#wrote) return this.#plain;
    this.#writePlain();
    this.#writer.text(']');
    this.#parts.push(this.#writer.done());
    return this.#parts.length === 1 ? this.#parts[0] : Promise.all(this.#parts).then((parts) => this.#joined(parts));
  }

  #add(item: unknown): void {
    if (isPlain(item)) {
      this.#plain.push(item);
      return;
    }
    this.#writePlain();
    this.#writer.text(this.#wrote ? ',' : '[');
    this.#wrote = true;
    if (item instanceof WrittenJson) {
      this.#writer.value(item);
      return;
    }
    // It may fail while the rest of the list waits for its piece: that is looked at in the end.
    (item as Promise<unknown>).then(undefined, () => {});
    this.#parts.push(this.#writer.done(), item);
    this.#writer = this.#pieces.writer();
  }

  #writePlain(): void {
    this.#plainSince = this.#pieces.leaves;
    if (this.#plain.length === 0) return;
    this.#writer.items(this.#plain, !this.#wrote);
    this.#wrote = true;
    this.#plain = [];
  }

  #joined(parts: readonly unknown[]): WrittenJson {
    const writer = this.#pieces.writer();
    for (const part of parts) writer.value(part);
    return writer.done();
  }
}

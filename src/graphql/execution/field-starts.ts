import type { Pieces } from './sliced-work.ts';

/** Maximum number of items of the fields in flight; a larger field runs alone. */
const mostItems = 2000;

interface Waiting {
  items: number;
  begin: () => void;
}

/** A field that ran, by what it was asked. */
interface Ran {
  args: Record<string, unknown>;
  /** The arguments as JSON, once another field of its kind was asked. */
  text: string | null;
  value: unknown;
}

/**
 * Starts fields in order while the items of those in flight are few, so that what a document holds at a time is
 * bounded, however much it asks for. Those that wait start in a slice of their own.
 */
export class FieldStarts {
  readonly #items: ReadonlyMap<string, number>;
  readonly #pieces: Pieces;
  readonly #waiting: Waiting[] = [];
  readonly #ran = new Map<unknown, Map<object, Ran[]>>();
  #inFlight = 0;
  #isLooking = false;

  /** @param items Predicted items of fields by their response keys from the root; others have none. */
  constructor(items: ReadonlyMap<string, number>, pieces: Pieces) {
    this.#items = items;
    this.#pieces = pieces;
  }

  /** Completes a field: now, or when there is room for it. */
  start(keys: string, complete: () => unknown): unknown {
    // Whole numbers: sums of fractions do not return to 0, and a larger field would wait for ever.
    const items = Math.ceil(this.#items.get(keys) ?? 0);
    if (this.#waiting.length === 0 && this.#hasRoom(items)) return this.#run(items, complete);
    return new Promise((resolve, reject) => {
      const begin = () => {
        try {
          resolve(this.#run(items, complete));
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.push({ items, begin });
    });
  }

  /** The value of a field; of one that was asked for before with equal arguments in the same context, that one's. */
  once(definition: object, args: Record<string, unknown>, context: unknown, resolve: () => unknown): unknown {
    const inContext = this.#ran.get(context) ?? new Map<object, Ran[]>();
    this.#ran.set(context, inContext);
    const before = inContext.get(definition) ?? [];
    inContext.set(definition, before);
    const text = before.length === 0 ? null : JSON.stringify(args);
    for (const ran of before) {
      ran.text ??= JSON.stringify(ran.args);
      if (ran.text === text) return ran.value;
    }
    const value = resolve();
    before.push({ args, text, value });
    return value;
  }

  #hasRoom(items: number): boolean {
    return this.#inFlight === 0 || this.#inFlight + items <= mostItems;
  }

  #run(items: number, complete: () => unknown): unknown {
    this.#inFlight += items;
    const over = () => {
      this.#inFlight -= items;
      this.#look();
    };
    let done: unknown;
    try {
      done = complete();
    } finally {
      if (!(done instanceof Promise)) over();
    }
    if (done instanceof Promise) done.then(over, over);
    return done;
  }

  #look(): void {
    if (this.#isLooking || !this.#waiting[0] || !this.#hasRoom(this.#waiting[0].items)) return;
    this.#isLooking = true;
    void this.#pieces.apart(() => {
      this.#isLooking = false;
      while (this.#waiting[0] && this.#hasRoom(this.#waiting[0].items)) this.#waiting.shift()!.begin();
    });
  }
}

import { WrittenJson } from '../../wire/json-chunks.ts';

/** Counts of what an execution completed at one position of its answer, over all objects there. */
export class Tally {
  /** Values that are not null; of a list its items instead. */
  count = 0;
  /** Items of its lists. */
  items = 0;
  /** Characters of its texts. */
  characters = 0;
  readonly #below = new Map<string, Tally>();

  /** The position below, by response key. */
  at(key: string): Tally {
    let tally = this.#below.get(key);
    if (!tally) {
      tally = new Tally();
      this.#below.set(key, tally);
    }
    return tally;
  }
}

/** An answer's data as it was written, and what was completed for it. */
export class WrittenData extends WrittenJson {
  readonly tally: Tally;

  constructor({ parts }: WrittenJson, tally: Tally) {
    super(parts);
    this.tally = tally;
  }
}

/** An answer's data as it was written, and the values it was written from, with `WrittenRows` among them. */
export class WrittenValues extends WrittenJson {
  readonly values: Record<string, unknown>;

  constructor({ parts }: WrittenJson, values: Record<string, unknown>) {
    super(parts);
    this.values = values;
  }
}

import { WrittenJson } from '../../wire/json-chunks.ts';

/** Counts of what an execution completed at one position of its answer, over all objects there. */
export class Tally {
  /** Values that are not null; of a list its items instead. */
  count = 0;
  /** Items of its lists. */
  items = 0;
  /** Characters of its texts. */
  characters = 0;
}

/** A position in an operation's answers: the response keys that lead to it, lists left out. */
export class Position {
  /** Where its tally stands among those of an execution. */
  readonly index: number;
  readonly #positions: { count: number };
  #below: Map<string, Position> | null = null;

  constructor(positions = { count: 0 }) {
    this.#positions = positions;
    this.index = positions.count++;
  }

  /** The position below, by response key. */
  at(key: string): Position {
    this.#below ??= new Map();
    let below = this.#below.get(key);
    if (!below) {
      below = new Position(this.#positions);
      this.#below.set(key, below);
    }
    return below;
  }
}

/** Counts of what an execution completed, by position. */
export class Tallies {
  readonly #tallies: Tally[] = [];

  at({ index }: Position): Tally {
    let tally = this.#tallies[index];
    if (!tally) {
      tally = new Tally();
      this.#tallies[index] = tally;
    }
    return tally;
  }
}

/** An answer's data as it was written, and what was completed for it. */
export class WrittenData extends WrittenJson {
  readonly root: Position;
  readonly tallies: Tallies;

  constructor({ parts }: WrittenJson, root: Position, tallies: Tallies) {
    super(parts);
    this.root = root;
    this.tallies = tallies;
  }
}

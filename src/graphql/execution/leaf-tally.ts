import { WrittenJson } from '../../platform/wire/json-chunks.ts';

/** Counts of completed values at one position of an answer, over all objects there. */
export class Tally {
  /** Number of values that are not null; for a list, of its items. */
  count = 0;
  /** Number of items of its lists. */
  items = 0;
  /** Characters of its strings. */
  characters = 0;
}

/** A position in an operation's answers: the response keys that lead to it, without list indexes. */
export class Position {
  /** Index of its tally among those of an execution. */
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

/** Counts of completed values of an execution, by position. */
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

/** Written data of an answer, and the counts of its completed values. */
export class WrittenData extends WrittenJson {
  readonly root: Position;
  readonly tallies: Tallies;

  constructor({ parts }: WrittenJson, root: Position, tallies: Tallies) {
    super(parts);
    this.root = root;
    this.tallies = tallies;
  }
}

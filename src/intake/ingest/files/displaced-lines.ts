/** Counts lines of a file in whose place others of it are stored. */
export class DisplacedLines {
  readonly #what: string;
  #repeated = 0;
  #displaced = 0;

  /** `what`: what the lines have, and one of them keeps. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Counts a line. `isEqual`: the other says the same. */
  add(isEqual: boolean): void {
    if (isEqual) this.#repeated++;
    else this.#displaced++;
  }

  /** Notes for the report of the file. */
  notes(): string[] {
    const [repeated, displaced] = [this.#repeated, this.#displaced];
    return [
      ...(repeated > 0 ? [`${repeated} lines repeat others of the file and count once`] : []),
      ...(displaced > 0 ? [`${displaced} lines are displaced by others of the file ${this.#what}`] : []),
    ];
  }
}

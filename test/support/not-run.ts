const mark = 'Not run: ';

/** Reports tests that this machine cannot run, and why. The run's last block lists them. */
export function notRun(tests: string, why: string): void {
  console.warn(`${mark}${tests}: ${why}`);
}

/** The same for what CI has: there its absence fails. */
export function notRunOutsideCi(tests: string, why: string): void {
  if (process.env.CI === 'true') throw new Error(`CI must run ${tests}: ${why}`);
  notRun(tests, why);
}

/** Vitest's reporter of what was not run: each reason once, after the summary. */
export class NotRunReporter {
  readonly #reasons = new Set<string>();

  add(tests: string, why: string): void {
    this.#reasons.add(`${tests}: ${why}`);
  }

  /** Takes the lines of `notRun` from the console; false = the line is shown at the end instead. */
  takeLine(line: string): false | undefined {
    const at = line.indexOf(mark);
    if (at < 0) return undefined;
    this.#reasons.add(line.slice(at + mark.length).trimEnd());
    return false;
  }

  onTestRunEnd(): void {
    if (this.#reasons.size === 0) return;
    console.log(['\n Not run', ...[...this.#reasons].sort().map((reason) => `   ${reason}`)].join('\n'));
  }
}

/** The first and the last instant at which a file has prints of a part, and these prints. */
interface FileSpan {
  /** Number of the file. */
  file: number;
  /** Epoch or session ms, and the nanoseconds within it. */
  firstMs: number;
  firstNanos: number;
  lastMs: number;
  lastNanos: number;
  /** Sums of the hashes of the prints at each. */
  first: number;
  last: number;
}

/** The spans of several files in one part of a tape, such as a symbol's session. */
export class FileSpans {
  readonly #spans: FileSpan[] = [];
  #current: FileSpan | null = null;

  /** Numbers of the files, in order of arrival. */
  get files(): number[] {
    return this.#spans.map(({ file }) => file);
  }

  /**
   * Adds a print; `hash` is a hash of its properties without its id. Files come one after another. Null if there is one
   * file alone, which continues none: only its number is noted.
   */
  add(file: number, ms: number, nanos: number, hash: (() => number) | null): void {
    let span = this.#current;
    if (span === null || span.file !== file) {
      span = { file, firstMs: ms, firstNanos: nanos, lastMs: ms, lastNanos: nanos, first: 0, last: 0 };
      this.#current = span;
      this.#spans.push(span);
    }
    if (hash === null) return;
    const toFirst = ms - span.firstMs || nanos - span.firstNanos;
    const toLast = ms - span.lastMs || nanos - span.lastNanos;
    if (toFirst > 0 && toLast < 0) return;
    const value = hash();
    if (toFirst < 0) [span.firstMs, span.firstNanos, span.first] = [ms, nanos, 0];
    if (toLast > 0) [span.lastMs, span.lastNanos, span.last] = [ms, nanos, 0];
    if (toFirst <= 0) span.first += value;
    if (toLast >= 0) span.last += value;
  }

  /**
   * Maps a file that continues another to it: one that begins at the instant at which the other ends, with other prints
   * of it. The two are one file that was cut there. With equal prints both have the whole instant.
   */
  continued(): ReadonlyMap<number, number> {
    const found = new Map<number, number>();
    const spans = this.#spans.toSorted((a, b) => a.firstMs - b.firstMs || a.firstNanos - b.firstNanos);
    for (const [i, { file, firstMs, firstNanos, first }] of spans.entries()) {
      const earlier = spans
        .slice(0, i)
        .find((span) => span.lastMs === firstMs && span.lastNanos === firstNanos && span.last !== first);
      if (earlier) found.set(file, found.get(earlier.file) ?? earlier.file);
    }
    return found;
  }
}

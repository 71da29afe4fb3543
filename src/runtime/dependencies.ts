/** Data whose parts have versions. */
export interface VersionedData<Kind extends string = never> {
  /** Grows with every change. */
  readonly count: number;
  /**
   * The version of a part, of all parts of the kind with null; null while it is not known whether something changed.
   */
  of(kind: Kind, part: string | null): number | null;
}

/** Parts of data that an answer is made from, each with the version from before it was read. */
export class Dependencies {
  #data: VersionedData<string> | null = null;
  readonly #versions = new Map<string, Map<string | null, number | null>>();
  #checkedAt = -1;

  /** Adds a part. Of several versions the first counts, unless one is not known. */
  add<Kind extends string>(data: VersionedData<Kind>, kind: Kind, part: string | null, version: number | null): void {
    this.#data = data as unknown as VersionedData<string>;
    const parts = this.#versions.get(kind) ?? new Map<string | null, number | null>();
    if (version === null || !parts.has(part)) parts.set(part, version);
    this.#versions.set(kind, parts);
    this.#checkedAt = -1;
  }

  /** Every part: its kind, and null for all parts of it. */
  *parts(): Generator<readonly [kind: string, part: string | null]> {
    for (const [kind, parts] of this.#versions) for (const part of parts.keys()) yield [kind, part];
  }

  /** Number of parts. */
  get size(): number {
    let size = 0;
    for (const parts of this.#versions.values()) size += parts.size;
    return size;
  }

  /**
   * True if nothing of it has changed. False as long as that is not known, and of an answer that was made from nothing.
   */
  isCurrent(): boolean {
    const data = this.#data;
    if (data === null) return false;
    if (this.#checkedAt === data.count) return true;
    for (const [kind, parts] of this.#versions)
      for (const [part, version] of parts) if (version === null || data.of(kind, part) !== version) return false;
    this.#checkedAt = data.count;
    return true;
  }
}

/** Data whose parts have versions. */
export interface VersionedData<Kind extends string = never> {
  /** Increases with every change. */
  readonly count: number;
  /**
   * The version of a part, or of all parts of the kind for null; null while it is unknown whether something changed.
   */
  of(kind: Kind, part: string | null): number | null;
}

/** Parts of data that an answer depends on, each with its version from before it was read. */
export class Dependencies {
  #data: VersionedData<string> | null = null;
  readonly #versions = new Map<string, Map<string | null, number | null>>();
  #checkedAt = -1;

  /** Adds a part. The first of several versions counts, unless one is unknown. */
  add<Kind extends string>(data: VersionedData<Kind>, kind: Kind, part: string | null, version: number | null): void {
    this.#data = data as unknown as VersionedData<string>;
    const parts = this.#versions.get(kind) ?? new Map<string | null, number | null>();
    if (version === null || !parts.has(part)) parts.set(part, version);
    this.#versions.set(kind, parts);
    this.#checkedAt = -1;
  }

  /** Every part: its kind, and null for all parts of the kind. */
  *parts(): Generator<readonly [kind: string, part: string | null]> {
    for (const [kind, parts] of this.#versions) for (const part of parts.keys()) yield [kind, part];
  }

  get size(): number {
    let size = 0;
    for (const parts of this.#versions.values()) size += parts.size;
    return size;
  }

  /** True if no part has changed. False while that is unknown, and for an answer without parts. */
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

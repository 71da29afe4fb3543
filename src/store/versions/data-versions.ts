import { afterCommit, anyChange, type Change, type Commits, commitOf, type Subject, subjects } from './subjects.ts';

/** Number of remembered change ids, so that a change received twice counts once. */
const rememberedIds = 1000;
/** Maximum number of symbols per subject with a version of their own. */
const rememberedSymbols = 50_000;

/** Changes of a subject, as counts of changes. */
interface Moved {
  /** The last change of any of it. */
  any: number;
  /** The last change of all its symbols. */
  all: number;
  symbols: Map<string, number>;
}

/**
 * The versions of stored data by subject and symbol, as far as this process knows. Data may be cached under the version
 * from before it was read, and is valid while the version is unchanged.
 */
export class DataVersions {
  #count = 1;
  #listening = 0;
  #lost = 0;
  /** Count at which listening for changes last began: earlier changes may have been missed. */
  #since = 1;
  readonly #moved = Object.fromEntries(
    subjects.map((subject) => [subject, { any: 1, all: 1, symbols: new Map() }]),
  ) as Record<Subject, Moved>;
  /** The last commits of symbols, where they are known. */
  readonly #commits = new Map<string, Commits>();
  /** The last digests of the commits of all symbols by subject, where they are known. */
  readonly #digests = new Map<Subject, string>();
  readonly #ids = new Set<string>();
  readonly #listeners = new Set<(change: Change) => void>();

  /** Increases with every change, and whenever changes may have been missed. */
  get count(): number {
    return this.#count;
  }

  /** The last change that this process was notified of; for null, of any symbol. Others may have been missed. */
  known(subject: Subject, symbol: string | null): number {
    const { any, all, symbols } = this.#moved[subject];
    return symbol === null ? any : Math.max(all, symbols.get(symbol) ?? 0);
  }

  /**
   * The version of a symbol's data, or with null of all symbols'; null while changes may be missed: then nothing may be
   * cached.
   */
  of(subject: Subject, symbol: string | null): number | null {
    return this.#listening > 0 && this.#lost === 0 ? Math.max(this.#since, this.known(subject, symbol)) : null;
  }

  /** The last commits of a symbol; undefined = not known. */
  commitsOf(symbol: string): Commits | undefined {
    return this.#commits.get(symbol);
  }

  /** True if nothing of a symbol changed, or may have, since `count` was that. */
  #isUnchanged(symbol: string, since: number): boolean {
    return subjects.every((subject) => (this.of(subject, symbol) ?? Infinity) <= since);
  }

  /**
   * Commits were read of a symbol, after `count` was `since`; those overtaken by a change are not of use. Returns true
   * if others, or none, were known before.
   */
  knowCommits(symbol: string, commits: Commits, since: number): boolean {
    if (!this.#isUnchanged(symbol, since)) return false;
    const before = this.#commits.get(symbol);
    if (this.#commits.size >= rememberedSymbols) this.#commits.clear();
    this.#commits.set(symbol, commits);
    return before === undefined || subjects.some((subject) => commitOf(before, subject) !== commitOf(commits, subject));
  }

  /** The last digest of the commits of all symbols; undefined = not known. */
  digestOf(subject: Subject): string | undefined {
    return this.#digests.get(subject);
  }

  /** As `knowCommits`, of a digest of the commits of all symbols. */
  knowDigest(subject: Subject, digest: string, since: number): boolean {
    if ((this.of(subject, null) ?? Infinity) > since) return false;
    const before = this.#digests.get(subject);
    this.#digests.set(subject, digest);
    return before !== digest;
  }

  /** Data changed. A change with an `id` counts once, even if it is received repeatedly. */
  move(change: Change, id: string | null = null): void {
    if (id !== null && !this.#isNew(id)) return;
    this.#count += 1;
    for (const [subject, symbols] of Object.entries(change) as [Subject, readonly string[] | null][]) {
      this.#moveSubject(this.#moved[subject], symbols);
      this.#digests.delete(subject);
      if (subject !== 'registry') this.#moveCommits(subject, symbols, id);
    }
    this.#send(change);
  }

  /** Adds a listener for changes, or (`-1`) removes one. */
  addListening(by: 1 | -1): void {
    this.#listening += by;
    this.#mayHaveMissed();
  }

  /** Call it when changes may be missed from now on, or (`-1`) are received again. */
  addLost(by: 1 | -1): void {
    this.#lost += by;
    this.#mayHaveMissed();
    this.#send(anyChange);
  }

  #mayHaveMissed(): void {
    this.#count += 1;
    this.#since = this.#count;
    this.#commits.clear();
    this.#digests.clear();
  }

  /** Calls `listener` for every change until the returned function is called. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #send(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  #isNew(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > rememberedIds) this.#ids.delete(this.#ids.values().next().value!);
    return true;
  }

  #moveCommits(subject: Subject, symbols: readonly string[] | null, id: string | null): void {
    if (symbols === null) this.#commits.clear();
    for (const symbol of symbols ?? []) {
      const known = this.#commits.get(symbol);
      if (known === undefined) continue;
      if (id === null) this.#commits.delete(symbol);
      else this.#commits.set(symbol, afterCommit(known, subject, id));
    }
  }

  #moveSubject(moved: Moved, symbols: readonly string[] | null): void {
    moved.any = this.#count;
    if (symbols === null || moved.symbols.size + symbols.length > rememberedSymbols) {
      moved.all = this.#count;
      moved.symbols.clear();
    } else for (const symbol of symbols) moved.symbols.set(symbol, this.#count);
  }
}

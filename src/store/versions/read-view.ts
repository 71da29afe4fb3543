import { modelsThrough } from '../rows/models/models-through.ts';
import type { Reader } from '../rows/reader.ts';
import type { DataVersions } from './data-versions.ts';
import { type Commits, commitOf, type Subject } from './subjects.ts';
import { readCommits, readDigest } from './symbol-commits.ts';

/** Parts that a view shares with the process. */
export interface ViewParts {
  versions: DataVersions;
  /** Decoded blocks of the process, and held values. */
  blocks: { set(key: string, value: object, bytes: number): void };
  /** Where it reads. */
  reader: Reader;
  /** Called for commits read from `from`, before others take them: the process may not be notified of them yet. */
  sawCommits(from: Reader): void;
}

/** Time after which a read that fails did so because the database hangs, ms. */
const hangingMs = 1000;

/** A symbol that was read, or is about to be. */
interface Used {
  /** From before it was read; null = they are to be read first. */
  commits: Commits | null;
  subjects: Subject[];
  /** True if some of it was read from the database. */
  isFresh: boolean;
}

/** A value that was read: for this request, and for all once it is known to be of one commit. */
interface Kept {
  symbol: string;
  entry: object;
  bytes: number;
}

/**
 * The data that a request reads, each symbol's as of one commit. Before the first read of a symbol the view takes the
 * symbol's last commits by subject; a value held in the process serves if it was read at these. A read from the
 * database may see later ones: `isOfOneCommit` compares the commits again when all is read.
 */
export class ReadView {
  /** Where it reads: a statement is sent once the commits of its symbols are known. */
  readonly reader: Reader;
  readonly #parts: ViewParts;
  #from: Reader;
  readonly #used = new Map<string, Used>();
  /** Symbols whose commits are to be read first. */
  readonly #wanted = new Set<string>();
  /** Subjects that were read of all symbols, with the digest of their commits; null = it is to be read first. */
  readonly #lists = new Map<Subject, string | null>();
  readonly #kept = new Map<string, Kept>();
  #reading: Promise<void> | null = null;
  /** True if something was read from the database, or may have been. */
  #hasRead = false;

  constructor(parts: ViewParts) {
    this.#parts = parts;
    this.#from = parts.reader;
    this.reader = {
      routing: parts.reader.routing,
      query: (statement, values) => this.#read((from) => from.query(statement, values)),
      prisma: modelsThrough((call) => this.#read((from) => call(from.prisma))),
    };
  }

  async #read<T>(read: (from: Reader) => Promise<T>): Promise<T> {
    await this.ready();
    const begunAt = performance.now();
    try {
      const found = await read(this.#from);
      this.#hasRead = true;
      return found;
    } catch (error) {
      // It may have met another commit too, unless the database hangs: that would be waited for again.
      this.#hasRead ||= performance.now() - begunAt <= hangingMs;
      throw error;
    }
  }

  /**
   * From here on `reader` is read, which has all that was read so far, and perhaps more: commits are compared by what
   * it has.
   */
  readOnFrom(reader: Reader): void {
    this.#from = reader;
  }

  /** A subject of a symbol is about to be read. The registry is no symbol's own. */
  use(subject: Subject, symbol: string): Used {
    let used = this.#used.get(symbol);
    if (used === undefined) {
      used = { commits: this.#parts.versions.commitsOf(symbol) ?? null, subjects: [], isFresh: false };
      if (used.commits === null) this.#wanted.add(symbol);
      this.#used.set(symbol, used);
    }
    if (!used.subjects.includes(subject) && subject !== 'registry') used.subjects.push(subject);
    return used;
  }

  /** A subject is about to be read from the database: of a symbol, or with null of all. */
  useFresh(subject: Subject, symbol: string | null): void {
    if (subject === 'registry') return;
    if (symbol !== null) this.use(subject, symbol).isFresh = true;
    else if (!this.#lists.has(subject)) this.#lists.set(subject, this.#parts.versions.digestOf(subject) ?? null);
  }

  /** Resolves when the commits of all that is used are known; null if they are. */
  ready(): Promise<void> | null {
    return this.#reading === null && this.#isReady() ? null : this.#takeCommits();
  }

  #isReady(): boolean {
    return this.#wanted.size === 0 && (this.#lists.size === 0 || ![...this.#lists.values()].includes(null));
  }

  async #takeCommits(): Promise<void> {
    while (this.#reading) await this.#reading;
    if (this.#isReady()) return;
    this.#reading = this.#readWanted();
    try {
      await this.#reading;
    } finally {
      this.#reading = null;
    }
  }

  async #readWanted(): Promise<void> {
    const lists = [...this.#lists].filter(([, digest]) => digest === null).map(([subject]) => subject);
    const wanted = new Map(Array.from(this.#wanted, (symbol) => [symbol, null]));
    const [commits, digests] = await this.#readNow(wanted, lists);
    for (const [symbol, found] of commits) {
      this.#used.get(symbol)!.commits = found;
      this.#wanted.delete(symbol);
    }
    lists.forEach((subject, i) => void this.#lists.set(subject, digests[i]!));
  }

  /**
   * The commits of symbols as they are now, where they are not those of `known`, and the digests of lists; the process
   * knows them from here on.
   */
  async #readNow(
    known: ReadonlyMap<string, Commits | null>,
    lists: readonly Subject[],
  ): Promise<[Map<string, Commits>, string[]]> {
    const { versions } = this.#parts;
    const since = versions.count;
    const [commits, digests] = await Promise.all([
      known.size === 0 ? new Map<string, Commits>() : readCommits(this.#from, known),
      Promise.all(lists.map((subject) => readDigest(this.#from, subject))),
    ]);
    const areNew = [
      ...Array.from(commits, ([symbol, found]) => versions.knowCommits(symbol, found, since)),
      ...lists.map((subject, i) => versions.knowDigest(subject, digests[i]!, since)),
    ];
    if (areNew.includes(true)) this.#parts.sawCommits(this.#from);
    return [commits, digests];
  }

  /** The commit of a subject of a symbol that is used. */
  commitOf(subject: Subject, symbol: string): string {
    return commitOf(this.#used.get(symbol)!.commits!, subject);
  }

  /** A value that was kept under the key. */
  find<T extends object>(key: string): T | undefined {
    return this.#kept.get(key)?.entry as T | undefined;
  }

  /** Keeps a value that was read. */
  keep(key: string, value: Kept): void {
    this.#kept.set(key, value);
  }

  /**
   * True if all that was read of a symbol is of one commit: then what was kept is held by the process from here on.
   * Sends no statement if nothing was read from the database.
   */
  async isOfOneCommit(): Promise<boolean> {
    if (!this.#hasRead) return true;
    await this.ready();
    const lists = [...this.#lists.keys()];
    const checked = new Map<string, Commits>();
    // Lists have any symbol.
    for (const [symbol, { commits, isFresh }] of this.#used)
      if (isFresh || lists.length > 0) checked.set(symbol, commits!);
    const [changed, digests] = await this.#readNow(checked, lists);
    if (lists.some((subject, i) => digests[i] !== this.#lists.get(subject))) return false;
    const isSame = (symbol: string, now: Commits) =>
      [...this.#used.get(symbol)!.subjects, ...lists].every(
        (subject) => commitOf(now, subject) === this.commitOf(subject, symbol),
      );
    for (const [symbol, now] of changed) if (!isSame(symbol, now)) return false;
    // The commits that a process knows of a symbol may be of no one instant while notifications are on their way. An
    // answer that read but some of the subjects is none the worse; what others combine with it must not be of those.
    for (const [key, { symbol, entry, bytes }] of this.#kept)
      if (checked.has(symbol) && !changed.has(symbol)) this.#parts.blocks.set(key, entry, bytes);
    return true;
  }
}

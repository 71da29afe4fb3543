import {
  type GenerationPart,
  type IngestedSource,
  type LiveLines,
  sessionPart,
} from '../../../core/domain/generation.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import { endGenerations, liveBegunMs, openLiveSymbols, saveLastLine } from '../../../store/market/generations.ts';
import type { FirstParts } from '../../../store/rows/models/superseded.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { beginGeneration } from '../../../store/superseded/generation.ts';
import type { Subject } from '../../../store/versions/subjects.ts';
import type { RemadePart } from '../files/file-job.ts';
import { noteGenerations } from '../files/generations.ts';

/** Datasets of what a live tape writes, and the subjects that say that it did. */
const written: readonly { dataset: 'stock-trades' | 'option-trades'; subjects: readonly Subject[] }[] = [
  { dataset: 'stock-trades', subjects: ['market'] },
  { dataset: 'option-trades', subjects: ['flow', 'chain'] },
];

/** The generation of a session that a live tape writes. */
interface LiveGeneration extends FirstParts {
  /** When the tape began it, epoch ms. */
  begunMs: number;
  committed: Set<string>;
}

/** Notes which lines of a live tape the data of sessions is from: once per symbol, and at the end of a session. */
export class LiveGenerations {
  readonly #source: string;
  readonly #now: Clock;
  readonly #noted = new Set<string>();
  readonly #sessions = new Map<SessionDate, LiveGeneration>();
  #fresh: string[] = [];

  constructor(source: string, now: Clock) {
    this.#source = source;
    this.#now = now;
  }

  /**
   * Writes as the generation of a session: all that the tape writes of it, which is known since the tape began it. A
   * follower before this one may have begun it.
   */
  async write(tx: Transaction, session: SessionDate): Promise<void> {
    let generation = this.#sessions.get(session);
    if (generation === undefined) {
      const begunMs = (await liveBegunMs(tx, { source: this.#source, session })) ?? this.#now();
      generation = { begunMs, committed: new Set(), found: new Set() };
      this.#sessions.set(session, generation);
    }
    await beginGeneration(tx, generation.begunMs, generation);
  }

  /** Begins a commit. */
  begin(): void {
    this.#fresh = [];
    for (const { found } of this.#sessions.values()) found.clear();
  }

  async #note(
    tx: Transaction,
    dataset: 'stock-trades' | 'option-trades' | 'chain',
    parts: readonly GenerationPart[],
    lines: Omit<LiveLines, 'source'>,
    files: readonly IngestedSource[] = [],
  ) {
    const live = { source: this.#source, ...lines };
    await noteGenerations(tx, dataset, parts, { made: 'live', files, live, ingestedMs: this.#now() });
  }

  /** Notes what a commit has written of a session first; `fromLine`: the session's first line. */
  async begun(tx: Transaction, session: SessionDate, fromLine: number): Promise<void> {
    const change = tx.changes.change() ?? {};
    for (const { dataset, subjects } of written) {
      const keyOf = (symbol: string) => `${dataset} ${symbol} ${session}`;
      const symbols = new Set(subjects.flatMap((subject) => change[subject] ?? []));
      const fresh = [...symbols].filter((symbol) => !this.#noted.has(keyOf(symbol)));
      if (fresh.length === 0) continue;
      // A follower before this one may have begun it.
      const open = await openLiveSymbols(tx, { dataset, source: this.#source, session }, fresh);
      if (open.size > 0) await saveLastLine(tx, { source: this.#source, session }, null);
      const parts = fresh.filter((symbol) => !open.has(symbol)).map((symbol) => sessionPart(symbol, session));
      await this.#note(tx, dataset, parts, { fromLine, throughLine: null });
      this.#fresh.push(...fresh.map(keyOf));
    }
  }

  /**
   * Notes a capture that was made again: of one line of those that a commit takes, and of what was stored of it before.
   */
  async captured(
    tx: Transaction,
    { part, files, live, hasFile }: RemadePart,
    lines: Omit<LiveLines, 'source'>,
  ): Promise<void> {
    if (hasFile === null) return endGenerations(tx, ['chain'], [part], this.#now());
    const before = live.filter(({ source }) => source === this.#source);
    const all = hasFile ? [...before, lines] : before;
    if (all.length === 0)
      return noteGenerations(tx, 'chain', [part], { made: 'file', files, live: null, ingestedMs: this.#now() });
    const fromLine = Math.min(...all.map((each) => each.fromLine));
    const throughLine = Math.max(...all.map((each) => each.throughLine ?? each.fromLine));
    await this.#note(tx, 'chain', [part], { fromLine, throughLine }, files);
  }

  /** Notes the last line of a session: it has ended, or its tape has for now. */
  async ended(tx: Transaction, session: SessionDate, throughLine: number): Promise<void> {
    await saveLastLine(tx, { source: this.#source, session }, throughLine);
  }

  /** Remembers what the commit has noted. */
  end(): void {
    for (const each of this.#fresh) this.#noted.add(each);
    for (const { committed, found } of this.#sessions.values()) for (const part of found) committed.add(part);
  }
}

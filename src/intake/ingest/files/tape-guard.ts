/*
 * Limits of what a tape file may write. It speaks for a session whose prints it has; what is stored of another session
 * stays (docs/decisions/0032-a-file-speaks-for-its-sessions.md).
 */

import type { TapeDataset } from '../../../core/domain/dataset.ts';
import { type GenerationPart, sessionPart } from '../../../core/domain/generation.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { reachesClose, type TapeHours } from '../../../core/domain/tape-hours.ts';
import { dayMs } from '../../../platform/runtime/clock.ts';
import { liveSessions } from '../../../store/market/session-origins.ts';
import { rejectSealed, sealedSymbols } from '../../../store/market/session-seals.ts';
import {
  contractCounts,
  keepRemainders,
  minuteBarCounts,
  observedSessions,
  pruneRemainders,
  type Remainder,
  remaindersOf,
  type StoredTape,
  saveTapes,
  storedTapes,
  tapeSketch,
} from '../../../store/market/tape-sessions.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { blockVersion } from '../../../store/series/codec.ts';
import { exactPrints, type PrintSketch } from './print-sketch.ts';
import { sessionTally } from './session-tally.ts';
import type { LeftPart, SessionChange } from './tape-report.ts';

/** Number of rows per write. */
const rowsAtOnce = 500;

/** A symbol's session on a tape, and what the files that have prints of it say of the session. */
export interface PartHours {
  symbol: string;
  session: SessionDate;
  hours: TapeHours;
}

/** A tape to guard. */
export interface GuardedTape {
  dataset: TapeDataset;
  parts: readonly PartHours[];
  /** Names of the files with prints of a session. */
  filesOf(session: SessionDate): string[];
  /** True to replace the stored data of the sessions in any case. */
  replace: boolean;
  /** Number of days that prints wait for the tape of their session. */
  keepDays: number;
  nowMs: number;
}

/** A symbol's session on the tape. */
export interface TapePart {
  symbol: string;
  session: SessionDate;
  prints: number;
  /** Number of this tape's items that `OtherContents` counts in the session. */
  others(): number;
  /** Sketch of the prints. */
  sketch(): PrintSketch;
}

const keyOf = (symbol: string, session: SessionDate) => `${symbol} ${session}`;

/**
 * Symbols' sessions of which the files with their prints have only prints outside of regular hours, while the tape has
 * some within: keys of `keyOf`.
 */
function besideParts(parts: readonly PartHours[]): Set<string> {
  if (parts.every(({ hours }) => hours.regular === 0)) return new Set();
  return new Set(parts.filter(({ hours }) => hours.regular === 0).map(({ symbol, session }) => keyOf(symbol, session)));
}

/** Creates a function that returns the hours of a part. */
export function hoursByPart(parts: readonly PartHours[]): (symbol: string, session: SessionDate) => TapeHours {
  const hours = new Map(parts.map((part) => [keyOf(part.symbol, part.session), part.hours]));
  return (symbol, session) => hours.get(keyOf(symbol, session))!;
}

const unique = <T>(items: Iterable<T>): T[] => [...new Set(items)];

/** Waiting prints for the symbols' sessions that a tape covers. */
export async function waitingPrints(
  tx: Transaction,
  dataset: TapeDataset,
  parts: readonly PartHours[],
  replace: boolean,
): Promise<Remainder[]> {
  if (replace) return [];
  const beside = besideParts(parts);
  const own = parts.filter(({ symbol, session }) => !beside.has(keyOf(symbol, session)));
  const keys = new Set(own.map(({ symbol, session }) => keyOf(symbol, session)));
  const rows = await remaindersOf(tx, {
    dataset,
    symbols: unique(own.map(({ symbol }) => symbol)),
    sessions: unique(own.map(({ session }) => session)),
  });
  return rows.filter(({ symbol, sessionDate }) => keys.has(keyOf(symbol, sessionDate)));
}

/** The stored data of the symbols' sessions of a tape. */
async function storedOf(tx: Transaction, { dataset, parts }: GuardedTape) {
  const symbols = unique(parts.map(({ symbol }) => symbol));
  const of = { symbols, sessions: unique(parts.map(({ session }) => session)) };
  const tapes = new Map<string, StoredTape>();
  for (const tape of await storedTapes(tx, { dataset, ...of })) tapes.set(keyOf(tape.symbol, tape.sessionDate), tape);
  const others = new Map<string, number>();
  const counts = dataset === 'stock-trades' ? minuteBarCounts : contractCounts;
  for (const { symbol, sessionDate, count } of await counts(tx, of)) others.set(keyOf(symbol, sessionDate), count);
  const live = new Set(await liveSessions(tx, { dataset, ...of }));
  for (const { symbol, sessionDate } of dataset === 'option-trades' ? await observedSessions(tx, of) : []) {
    const key = keyOf(symbol, sessionDate);
    if (!tapes.has(key)) live.add(key);
  }
  const sealed = new Set<string>();
  for (const session of of.sessions)
    for (const symbol of await sealedSymbols(tx, session, symbols)) sealed.add(keyOf(symbol, session));
  return { tapes, others, live, sealed };
}

type StoredOfTape = Awaited<ReturnType<typeof storedOf>>;

/** Opens the guard of a tape that was read, in the transaction that stores it, which holds the locks of its writer. */
export async function openTapeGuard(tx: Transaction, tape: GuardedTape): Promise<TapeGuard> {
  return new TapeGuard(tx, tape, await storedOf(tx, tape));
}

/** Decides what is written of a tape, notes what was, and counts what was not. */
export class TapeGuard {
  readonly #tx: Transaction;
  readonly #tape: GuardedTape;
  readonly #stored: StoredOfTape;
  readonly #beside: ReadonlySet<string>;
  readonly #hoursOf: (symbol: string, session: SessionDate) => TapeHours;
  readonly #tally: ReturnType<typeof sessionTally>;
  /** Noted, and not written yet. */
  #tapes: Parameters<typeof saveTapes>[1][number][] = [];
  #kept: Remainder[] = [];
  readonly #written: GenerationPart[] = [];

  constructor(tx: Transaction, tape: GuardedTape, stored: StoredOfTape) {
    this.#tx = tx;
    this.#tape = tape;
    this.#stored = stored;
    this.#beside = tape.replace ? new Set() : besideParts(tape.parts);
    this.#hoursOf = hoursByPart(tape.parts);
    this.#tally = sessionTally(tx, {
      dataset: tape.dataset,
      unit: 'prints',
      filesOf: tape.filesOf,
      command: (session, files, storedFrom) =>
        `reconcile --session ${session} ${[...new Set([...storedFrom, ...files])].join(' ')}`,
    });
  }

  /** True if the prints of a symbol's session wait for its tape: they lie beside those of the files' own sessions. */
  isBeside(symbol: string, session: SessionDate): boolean {
    return this.#beside.has(keyOf(symbol, session));
  }

  /** True if the prints of a symbol's session wait for its tape although they are stored as well. */
  isKept(symbol: string, session: SessionDate): boolean {
    return !this.#tape.replace && this.#hoursOf(symbol, session).regular === 0;
  }

  /** True if a stored tape of few prints will be compared print by print. */
  isExact(symbol: string, session: SessionDate): boolean {
    return (this.#stored.tapes.get(keyOf(symbol, session))?.prints ?? Infinity) <= exactPrints;
  }

  /** True if a part may be written; one that may not is counted. Throws `SessionSealed`. */
  async mayWrite(part: TapePart): Promise<boolean> {
    const { symbol, session, prints } = part;
    const { replace } = this.#tape;
    const isSealed = this.#stored.sealed.has(keyOf(symbol, session));
    if (replace && !isSealed) return true;
    const lack = await this.#lackOf(part);
    if (isSealed && (replace || lack === 0)) await rejectSealed(this.#tx, [{ symbol, sessionDate: session }]);
    if (lack === 0) return true;
    if (lack === null && !isSealed) return true;
    this.#tally.left(session, isSealed ? 'sealed' : 'fewer', {
      symbol,
      count: prints,
      missing: lack ?? 0,
      stored: this.#stored.tapes.get(keyOf(symbol, session))?.prints ?? null,
    });
    return false;
  }

  /** Notes a part that is written. */
  async wrote(
    { symbol, session, prints }: Pick<TapePart, 'symbol' | 'session' | 'prints'>,
    sketch: Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    const key = keyOf(symbol, session);
    const { tapes, others, live } = this.#stored;
    const before = tapes.get(key);
    const isOther = !before && (others.has(key) || live.has(key));
    this.#tally.changed(session, { symbols: 1, before: isOther ? null : (before?.prints ?? 0), after: prints });
    this.#tapes.push({ symbol, sessionDate: session, dataset: this.#tape.dataset, prints, sketch });
    this.#written.push(sessionPart(symbol, session));
    if (this.#tapes.length >= rowsAtOnce) await this.#flush();
  }

  /** Keeps prints until the tape of their session comes. */
  async keep(
    { symbol, session, prints }: Pick<TapePart, 'symbol' | 'session' | 'prints'>,
    payload: Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    const version = blockVersion(payload);
    this.#kept.push({ symbol, sessionDate: session, version, prints, keptAtMs: this.#tape.nowMs, payload });
    if (this.isBeside(symbol, session))
      this.#tally.left(session, 'waiting', { symbol, count: prints, stored: null, missing: 0 });
    if (this.#kept.length >= rowsAtOnce) await this.#flush();
  }

  /** Writes what was noted. */
  async done(): Promise<{ sessions: SessionChange[]; left: LeftPart[]; written: GenerationPart[] }> {
    await this.#flush();
    await pruneRemainders(this.#tx, this.#tape.nowMs - this.#tape.keepDays * dayMs);
    return { ...(await this.#tally.done()), written: this.#written };
  }

  /**
   * Minimum number of stored prints, or bars and contracts, that a part lacks; null = nothing is stored of its session.
   */
  async #lackOf({ symbol, session, prints, others, sketch }: TapePart): Promise<number | null> {
    const { dataset } = this.#tape;
    const { tapes, others: otherCounts, live } = this.#stored;
    const key = keyOf(symbol, session);
    const [known, other] = [tapes.get(key), otherCounts.get(key)];
    if (!known && other === undefined && !live.has(key)) return null;
    if (live.has(key) || !known)
      return reachesClose(this.#hoursOf(symbol, session)) ? 0 : Math.max(0, (other ?? 0) - others());
    if (prints < known.prints) return known.prints - prints;
    return sketch().lacking((await tapeSketch(this.#tx, dataset, symbol, session))!);
  }

  async #flush(): Promise<void> {
    await saveTapes(this.#tx, this.#tapes);
    await keepRemainders(this.#tx, this.#tape.dataset, this.#kept);
    this.#tapes = [];
    this.#kept = [];
  }
}

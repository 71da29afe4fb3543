import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { modelsThrough } from '../rows/models/models-through.ts';
import type { Models } from '../rows/models/prisma.ts';
import type { Reader } from '../rows/reader.ts';
import { PrimaryPositions, Replica, type ReplicaPools } from './replica.ts';
import type { Routing } from './routing.ts';

const shortestPauseMs = 5;
const longestPauseMs = 250;
/** Interval at which an up-to-date or unreachable replica is probed, ms. */
const idleMs = 1000;

/** A reader that asks `choose` for each read, and `primary` if there is none or it fails, which `missed` reports. */
function readerThrough(primary: Reader, choose: () => Replica | null, missed: () => void = () => {}): Reader {
  const read = async <T>(reading: (from: Reader) => Promise<T>): Promise<T> => {
    const asked = await choose()?.ask(reading);
    if (asked) return asked.answer;
    missed();
    return reading(primary);
  };
  return {
    routing: primary.routing,
    query: (statement, values) => read((from) => from.query(statement, values)),
    prisma: modelsThrough((call) => read((from) => call(from.prisma))),
  };
}

/** A reader whose statements never see less than those before. */
export interface StayingReader extends Reader {
  /** The standby that it has read so far; null = it reads the primary. */
  staysWith(): Replica | null;
}

/**
 * Standbys of the primary. A standby is read only if it has replayed every change that this process was notified of.
 * Notifications come from the primary: after each, the primary is read until a standby has the change.
 */
export class Replicas implements Reader {
  readonly routing: Routing;
  readonly query: Reader['query'];
  readonly prisma: Models;
  readonly #primary: Reader;
  readonly #positions: PrimaryPositions;
  readonly #replicas: readonly Replica[];
  readonly #following: readonly Promise<void>[];
  /** Number of the last change notified. */
  #lastChange = 1;
  #listeners = 0;
  #deafListeners = 0;
  #turn = 0;
  #isClosed = false;
  /** Resolved at the next change. */
  #wake = Promise.withResolvers<void>();

  /**
   * Reads from `pools` where that shows nothing old, else from `primary`. `log` is called when one becomes unusable and
   * when it is used again, once each.
   */
  constructor(
    { primary, pool }: { primary: Reader; pool: pg.Pool },
    pools: readonly ReplicaPools[],
    log: (line: string) => void,
  ) {
    this.#primary = primary;
    this.#positions = new PrimaryPositions(pool);
    this.#replicas = pools.map((each) => new Replica(each, log));
    const { routing, query, prisma } = readerThrough(primary, () => this.#pick());
    this.routing = routing;
    this.query = query;
    this.prisma = prisma;
    this.#following = this.#replicas.map((replica) => this.#follow(replica));
  }

  /** A reader that stays with one standby, or with the primary from the first time it needs it. */
  together(): StayingReader {
    let stays = this.#pick();
    const choose = () => {
      if (stays && !this.#isReadable(stays)) stays = null;
      return stays;
    };
    const missed = () => {
      stays = null;
    };
    const reader = readerThrough(this.#primary, choose, missed);
    return { ...reader, staysWith: () => stays };
  }

  /** Something has changed on the primary. Takes effect at once. */
  changed(): void {
    this.#lastChange++;
    this.#wakeFollowers();
  }

  /** A change was seen through `from`, perhaps before its notification: standbys that may lack it are not read. */
  sawChange(from: Reader): void {
    const has = (from as Partial<StayingReader>).staysWith?.() ?? null;
    const isCurrent = has !== null && this.#isReadable(has);
    if (isCurrent && this.#replicas.length === 1) return;
    this.changed();
    if (isCurrent) has.lastChange = this.#lastChange;
  }

  /**
   * Notifications are received, or (`-1`) no longer. While there is no listener, or one of them may miss changes, the
   * primary is read.
   */
  heard(by: 1 | -1): void {
    this.#listeners += by;
  }

  /** Changes may be missed from now on, or (`-1`) are received again. */
  deaf(by: 1 | -1): void {
    this.#deafListeners += by;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wakeFollowers();
    await Promise.all(this.#replicas.map((replica) => replica.close()));
    await Promise.all(this.#following);
  }

  #wakeFollowers(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }

  #isReadable({ isAway, lastChange }: Replica): boolean {
    const hearsAll = this.#listeners > 0 && this.#deafListeners === 0;
    return hearsAll && !isAway && lastChange === this.#lastChange;
  }

  /** The next standby that can be read, each in its turn; null = none. */
  #pick(): Replica | null {
    for (let tries = 0; tries < this.#replicas.length; tries++) {
      const replica = this.#replicas[this.#turn++ % this.#replicas.length]!;
      if (this.#isReadable(replica)) return replica;
    }
    return null;
  }

  /** Looks at a standby again and again: often while it is behind, at intervals while it has all or is away. */
  async #follow(replica: Replica): Promise<void> {
    let pauseMs = shortestPauseMs;
    while (!this.#isClosed) {
      const change = this.#lastChange;
      // If the primary does not answer, that says nothing of its standby.
      const position = await this.#positions.after(change);
      if (position) await replica.lookFor(position, change);
      const isSettled = replica.isAway || replica.lastChange === this.#lastChange;
      pauseMs = isSettled || change !== this.#lastChange ? shortestPauseMs : Math.min(2 * pauseMs, longestPauseMs);
      if (!this.#isClosed) await this.#pause(isSettled ? idleMs : pauseMs, isSettled);
    }
  }

  /** Waits; if `untilChange`, no longer than to the next change. */
  async #pause(pauseMs: number, untilChange: boolean): Promise<void> {
    const passed = delay(pauseMs, undefined, { ref: false });
    await (untilChange ? Promise.race([passed, this.#wake.promise]) : passed);
  }
}

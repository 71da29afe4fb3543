import type { SessionDate } from '../../../core/domain/market-time.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import { markLive, storeOrigin } from '../../../store/market/session-origins.ts';
import { beginOwnData, beginSampleWrite } from '../../../store/origin.ts';
import type { Reader } from '../../../store/rows/reader.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';

/** Settings of `TapeOrigin`. */
export interface TapeOriginOptions {
  now: Clock;
  /** True if the tape is the sample market's. */
  isSample?: boolean | undefined;
  onNote?: ((note: string) => void) | undefined;
}

/** Keeps the data of a live tape apart from the sample market's. */
export class TapeOrigin {
  readonly #options: TapeOriginOptions;
  #isSettled: boolean;
  /** True once a commit has recorded the origin; and if the one in progress did. */
  #isRecorded = false;
  #records = false;
  #notes: string[] = [];
  readonly #marked = new Set<string>();
  #fresh: string[] = [];

  constructor(options: TapeOriginOptions) {
    this.#options = options;
    this.#isSettled = options.isSample === true;
  }

  /**
   * True if the store holds nothing of the other origin. Until then nothing of it must be read: the first commit with
   * records deletes it.
   */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Reads the store's origin. `isResumed`: it holds records of the tape. */
  async settle(from: Pick<Reader, 'prisma'>, isResumed = false): Promise<void> {
    this.#isSettled ||= isResumed || (await storeOrigin(from)) !== 'sample';
  }

  /** Begins a commit; `hasRecords`: some of the market. */
  async begin(tx: Transaction, hasRecords: boolean): Promise<void> {
    const { isSample, now } = this.#options;
    this.#fresh = [];
    this.#notes = [];
    this.#records = hasRecords && !isSample && !this.#isRecorded;
    if (isSample) await beginSampleWrite(tx);
    else if (this.#records) this.#notes = await beginOwnData(tx, now());
  }

  /** Marks the sessions of written symbols as live, once; those of the sample market are of it. */
  async mark(tx: Transaction, symbols: readonly string[], sessionDate: SessionDate): Promise<void> {
    if (this.#options.isSample) return;
    const fresh = symbols.filter((symbol) => !this.#marked.has(`${symbol} ${sessionDate}`));
    if (fresh.length === 0) return;
    await markLive(
      tx,
      fresh.map((symbol) => ({ symbol, sessionDate })),
    );
    this.#fresh.push(...fresh.map((symbol) => `${symbol} ${sessionDate}`));
  }

  /** Remembers what the commit did. */
  end(): void {
    this.#isRecorded ||= this.#records;
    this.#isSettled ||= this.#isRecorded;
    for (const note of this.#notes.splice(0)) this.#options.onNote?.(note);
    for (const each of this.#fresh) this.#marked.add(each);
  }
}

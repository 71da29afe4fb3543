import type { SessionDate } from '../../domain/market-time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { noteOwnData } from '../../store/account/sample-key.ts';
import { everySession, markLive, simulatedSymbols } from '../../store/market/session-origins.ts';
import type { Store } from '../../store/rows/connection.ts';
import { inTransaction, type Transaction } from '../../store/rows/transaction.ts';
import { markSample } from '../../store/sample-data.ts';
import type { LiveRecord } from '../../tape/live/live-line.ts';

/** The symbol of a record; null for none. */
function symbolOf(record: LiveRecord): string | null {
  if (record.type === 'chain') return record.chain.underlying;
  if (record.type === 'time') return null;
  if (record.type === 'index_value') return record.value.symbol;
  if (record.type === 'option_quote') return record.quote.contract.underlying.symbol;
  return record.type === 'stock_print' ? record.print.symbol : record.print.contract.underlying.symbol;
}

/** Settings of `TapeOrigin`. */
export interface TapeOriginOptions {
  now: Clock;
  /** True if the tape is the sample market's. */
  isSample?: boolean | undefined;
  onNote?: ((note: string) => void) | undefined;
}

/** Separates the data of a live tape from the sample market's. */
export class TapeOrigin {
  readonly #store: Store;
  readonly #options: TapeOriginOptions;
  /** Served symbols of the sample market; null = not known yet to be mixed with other data. */
  #simulated: Set<string> | null = null;
  readonly #marked = new Set<string>();
  #fresh: string[] = [];

  constructor(store: Store, options: TapeOriginOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Hides the sample market's data of these records' symbols, before the records are stored. */
  async replaceSample(records: readonly LiveRecord[]): Promise<void> {
    const { isSample, now, onNote } = this.#options;
    if (isSample || records.length === 0 || this.#simulated?.size === 0) return;
    const known = this.#simulated;
    const isKnown = (symbol: string | null) => symbol !== null && known?.has(symbol);
    const replaced = [...new Set(records.map(symbolOf))].filter(isKnown) as string[];
    if (known !== null && replaced.length === 0) return;
    const notes = await inTransaction(this.#store, async (tx) => {
      const said = await noteOwnData(tx, now, replaced);
      this.#simulated = new Set(await simulatedSymbols(tx));
      return said;
    });
    for (const note of notes) onNote?.(note);
    // They were unknown at first.
    if (known === null) await this.replaceSample(records);
  }

  /** Begins a commit. */
  begin(): void {
    this.#fresh = [];
  }

  /** Marks the sessions of written symbols, once. */
  async mark(tx: Transaction, symbols: readonly string[], date: SessionDate): Promise<void> {
    const { isSample } = this.#options;
    const sessionDate = isSample ? everySession : date;
    const fresh = symbols.filter((symbol) => !this.#marked.has(`${symbol} ${sessionDate}`));
    if (fresh.length === 0) return;
    if (isSample) await markSample(tx, fresh);
    else
      await markLive(
        tx,
        fresh.map((symbol) => ({ symbol, sessionDate })),
      );
    this.#fresh.push(...fresh.map((symbol) => `${symbol} ${sessionDate}`));
  }

  /** Remembers the marks of the commit. */
  end(): void {
    for (const each of this.#fresh) this.#marked.add(each);
  }
}

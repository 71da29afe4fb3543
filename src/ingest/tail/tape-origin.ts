import type { SessionDate } from '../../domain/market-time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { noteOwnData } from '../../store/account/sample-key.ts';
import { everySession, markLive, simulatedSymbols } from '../../store/market/session-origins.ts';
import type { Store } from '../../store/rows/connection.ts';
import { inTransaction, type Transaction } from '../../store/rows/transaction.ts';
import { markSample } from '../../store/sample-data.ts';
import type { LiveRecord } from '../../tape/live/live-line.ts';

/** The symbol that a record is of; null for none. */
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

/** Tells what a live tape has stored from what the sample market has. */
export class TapeOrigin {
  readonly #store: Store;
  readonly #options: TapeOriginOptions;
  /** Symbols of the sample market that are served; null = it is not known yet that there is other data. */
  #simulated: Set<string> | null = null;
  readonly #marked = new Set<string>();
  #fresh: string[] = [];

  constructor(store: Store, options: TapeOriginOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Sets the sample market's data of these records' symbols aside, before the records are stored. */
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
    // At first it was not known which there are.
    if (known === null) await this.replaceSample(records);
  }

  /** Begins a commit. */
  begin(): void {
    this.#fresh = [];
  }

  /** Marks the sessions of symbols that are written, once. */
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

  /** Remembers what the commit has marked. */
  end(): void {
    for (const each of this.#fresh) this.#marked.add(each);
  }
}

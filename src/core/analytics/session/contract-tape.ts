import { minuteMs } from '../../../platform/runtime/clock.ts';
import { tradeSpan } from '../../domain/calendar.ts';
import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import type { BarColumns } from '../../domain/market/bar.ts';
import { correctionMessage, isWithdrawn, type OptionPrint } from '../../domain/market/print.ts';
import { addToBar, barsOfRows, createBarRows } from '../bars/bar-rows.ts';
import { ContractMinuteSums } from '../flow/contract-minutes.ts';
import { CrossSections } from '../flow/cross-section.ts';
import type { EventSink } from '../flow/detector.ts';
import { createFlowChanges } from '../flow/flow-changes.ts';
import { createObservedSpans } from '../flow/observed-spans.ts';
import { createRankedPrints } from '../flow/ranked-prints.ts';
import {
  createSegmentCutter,
  multiLegCloseness,
  multiLegsOf,
  type SegmentCutter,
  sweepCloseness,
  sweepsOf,
} from '../flow/runs.ts';
import { mostRecent } from '../prints/corrections.ts';
import { OptionLedger, printState } from '../prints/option-ledger.ts';
import { sideIndex } from '../prints/quote-book.ts';
import { emptyCounts, type OptionTapeOptions } from './option-tape.ts';

export interface ContractTapeOptions extends Pick<OptionTapeOptions, 'session' | 'onChange'> {
  /** Called with the minutes of each contract, if any, once all its prints were taken. */
  onBars(contract: TradedContract, minutes: BarColumns): void;
}

// Ids of exchanges are small numbers.
const largestExchange = 65_535;

/**
 * One underlying's session of an option tape, from prints to events and figures: like `OptionTape`, but one contract
 * after the other, for a whole tape without quotes, whose prints are numbered by their lines, so that there are no
 * duplicates. Everything except multi-leg events depends on the prints of one contract alone, which fit the processor's
 * cache. Memory is bounded by the largest contract and the multi-leg prints.
 */
export class ContractTape {
  readonly crossSections = new CrossSections();
  readonly minutes = new ContractMinuteSums();
  readonly ranked = createRankedPrints();
  readonly counts = emptyCounts();
  readonly observed = createObservedSpans();
  readonly #startMs: number;
  readonly #endMs: number;
  readonly #onBars: ContractTapeOptions['onBars'];
  // The multi-leg prints that stand of the contracts before, then the prints of the contract being taken.
  readonly #ledger = new OptionLedger(Infinity, () => false);
  readonly #columns = this.#ledger.columns;
  readonly #before = (a: number, b: number) => this.#ledger.before(a, b);
  readonly #bars = createBarRows();
  readonly #sink: EventSink;
  readonly #sweeps: SegmentCutter;
  readonly #multiLegs: SegmentCutter;
  #contract: TradedContract | null = null;
  #first = 0;
  // The contract's prints in event-time order.
  readonly #inOrder: number[] = [];
  #length = 0;
  // Sums of the contract's prints that stand; filled for one contract after the other.
  readonly #sums = { volume: 0, premium: 0, count: 0 };
  readonly #ofMinute = { volume: 0, premium: 0, count: 0 };
  readonly #barPrint = { entry: 0, price: 0, size: 0, sizeMicros: 0, traits: 0 };
  #minuteStartMs = -Infinity;
  // The contract's valid multi-leg prints.
  readonly #legs: number[] = [];

  constructor({ session, onChange, onBars }: ContractTapeOptions) {
    const { fromMs, toMs } = tradeSpan(session);
    this.#startMs = fromMs;
    this.#endMs = toMs;
    this.#onBars = onBars;
    const ledger = this.#ledger;
    const sink = createFlowChanges(ledger, this.ranked, onChange, 0);
    this.#sink = sink;
    this.#sweeps = createSegmentCutter(ledger, sweepCloseness, (entries) => {
      if (entries.length === 1) sink.formedAlone('single_block', entries[0]!);
      else sweepsOf(ledger, entries).forEach(sink.formed);
    });
    this.#multiLegs = createSegmentCutter(ledger, multiLegCloseness, (entries) => {
      if (entries.length === 1) sink.formedAlone('multi_leg', entries[0]!);
      else multiLegsOf(ledger, entries).forEach(sink.formed);
    });
  }

  /**
   * Takes a print: those of a contract are consecutive, in order of their milliseconds. The object may be reused
   * afterwards.
   */
  print(print: OptionPrint): void {
    if (print.tsMs < this.#startMs || print.tsMs >= this.#endMs) {
      this.counts.otherSession++;
      return;
    }
    if (print.contract !== this.#contract) {
      this.#endContract();
      this.#contract = print.contract;
    }
    const entry = this.#ledger.add(print);
    const slot = entry & this.#ledger.mask;
    const isCompression = (this.#columns.traits[slot]! & optionTraits.compression) !== 0;
    if (!isCompression && !isWithdrawn(print.correction) && print.correction !== correctionMessage) this.#put(entry);
    else {
      this.counts.leftOut++;
      this.#columns.state[slot] = printState.left;
    }
  }

  /** Call it after the last print: all prints are taken and all events sent. */
  end(): void {
    this.#endContract();
    this.#contract = null;
    for (const book of this.#multiLegsByExchange()) {
      for (const leg of book) this.#multiLegs.add(leg);
      this.#multiLegs.end();
    }
  }

  /** Inserts a print at its position: prints arrive in order, except within a millisecond. */
  #put(entry: number) {
    const inOrder = this.#inOrder;
    let at = this.#length++;
    for (; at > 0 && this.#ledger.before(entry, inOrder[at - 1]!); at--) inOrder[at] = inOrder[at - 1]!;
    inOrder[at] = entry;
  }

  /** Determines whether a print is valid; a cancel withdraws the most recent print with the same properties. */
  #settle(entry: number, previous: number) {
    const ledger = this.#ledger;
    const columns = this.#columns;
    const slot = entry & ledger.mask;
    columns.previousOfContract[slot] = previous;
    if ((columns.traits[slot]! & optionTraits.cancel) === 0) {
      this.counts.prints++;
      columns.side[slot] = sideIndex.unknown;
      columns.state[slot] = printState.counted;
      return;
    }
    this.counts.cancels++;
    columns.state[slot] = printState.cancel;
    const original = mostRecent(ledger, entry);
    if (original >= 0) columns.state[original & ledger.mask] = printState.cancelled;
    else this.counts.unmatchedCancels++;
  }

  /** Records the first and the last instant of the contract's prints, cancelled or not. */
  #observe() {
    const inOrder = this.#inOrder;
    const isCancel = (entry: number) => this.#columns.state[entry & this.#ledger.mask] === printState.cancel;
    let [earliest, last] = [0, this.#length - 1];
    while (earliest < this.#length && isCancel(inOrder[earliest]!)) earliest++;
    if (earliest === this.#length) return;
    while (isCancel(inOrder[last]!)) last--;
    for (const at of [earliest, last])
      this.observed.add(this.#contract!.underlying, this.#columns.tsMs[inOrder[at]! & this.#ledger.mask]!);
  }

  /** Adds a valid print to its contract's figures. */
  #count(entry: number) {
    const columns = this.#columns;
    const ofMinute = this.#ofMinute;
    const barPrint = this.#barPrint;
    const slot = entry & this.#ledger.mask;
    const price = columns.price[slot]!;
    const size = columns.size[slot]!;
    const traits = columns.traits[slot]!;
    const tsMs = columns.tsMs[slot]!;
    if (tsMs >= this.#minuteStartMs + minuteMs) {
      this.#endMinute();
      this.#minuteStartMs = tsMs - (tsMs % minuteMs);
    }
    ofMinute.volume += size;
    ofMinute.premium += price * size;
    ofMinute.count++;
    barPrint.entry = entry;
    barPrint.price = price;
    barPrint.size = size;
    barPrint.traits = traits;
    addToBar(this.#bars, this.#minuteStartMs, barPrint, this.#before);
    if ((traits & optionTraits.multiLeg) !== 0) this.#legs.push(entry);
    else if ((traits & optionTraits.sweepable) !== 0) this.#sweeps.add(entry);
    else this.#sink.formedAlone('single_block', entry);
  }

  /** Adds the minute that ends to the sums of its contract and underlying. Without quotes no side is known. */
  #endMinute() {
    const sums = this.#sums;
    const { volume, premium, count } = this.#ofMinute;
    if (count === 0) return;
    sums.volume += volume;
    sums.premium += premium;
    sums.count += count;
    this.minutes.add(this.#contract!, this.#minuteStartMs, sideIndex.unknown, volume, premium, count);
    this.crossSections.addMinute(this.#contract!, this.#minuteStartMs, premium);
    this.#ofMinute.volume = this.#ofMinute.premium = this.#ofMinute.count = 0;
  }

  #isCounted(entry: number): boolean {
    return this.#columns.state[entry & this.#ledger.mask] === printState.counted;
  }

  #endContract() {
    const inOrder = this.#inOrder;
    const sums = this.#sums;
    if (this.#contract === null) return;
    for (let i = 0; i < this.#length; i++) this.#settle(inOrder[i]!, i === 0 ? -1 : inOrder[i - 1]!);
    this.#observe();
    this.#minuteStartMs = -Infinity;
    for (let i = 0; i < this.#length; i++) if (this.#isCounted(inOrder[i]!)) this.#count(inOrder[i]!);
    this.#endMinute();
    this.#sweeps.end();
    if (sums.count > 0) this.crossSections.addPrints(this.#contract, sums.volume, sums.premium, sums.count);
    sums.volume = sums.premium = sums.count = 0;
    const bars = barsOfRows(this.#bars, -Infinity, true);
    if (bars.tsMs.length > 0) this.#onBars(this.#contract, bars);
    this.#ledger.retain(
      this.#first,
      this.#legs.sort((a, b) => a - b),
    );
    this.#legs.length = 0;
    this.#first = this.#ledger.next;
    this.#length = 0;
    this.#bars.count = 0;
  }

  /** The valid multi-leg prints, by exchange, in event-time order. */
  #multiLegsByExchange(): Int32Array[] {
    const ledger = this.#ledger;
    const columns = this.#columns;
    const left = new Int32Array(largestExchange + 1);
    for (let leg = 0; leg < ledger.next; leg++) left[columns.exchange[leg]!]!++;
    const books = new Map<number, Int32Array>();
    // Nanoseconds since the session began are exact in a double for a hundred days.
    const nanos = new Float64Array(ledger.next);
    for (let leg = 0; leg < ledger.next; leg++) {
      const exchange = columns.exchange[leg]!;
      let book = books.get(exchange);
      if (!book) {
        book = new Int32Array(left[exchange]!);
        books.set(exchange, book);
      }
      book[book.length - left[exchange]!--] = leg;
      nanos[leg] = (columns.tsMs[leg]! - this.#startMs) * 1e6 + columns.tsNanos[leg]!;
    }
    // A difference would not fit a small integer and allocate an object for each comparison.
    const compare = (a: number, b: number) => {
      const one = nanos[a]!;
      const other = nanos[b]!;
      if (one === other) return ledger.before(a, b) ? -1 : 1;
      return one < other ? -1 : 1;
    };
    return [...books.values()].map((book) => book.sort(compare));
  }
}

import { tradeSpan } from '../../domain/calendar.ts';
import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import {
  correctionMessage,
  isWithdrawn,
  nanosBetween,
  type OptionPrint,
  type OptionQuote,
} from '../../domain/market/print.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { OptionBars } from '../bars/option-bars-from-prints.ts';
import { ContractMinuteSums } from '../flow/contract-minutes.ts';
import { CrossSections } from '../flow/cross-section.ts';
import { Detector } from '../flow/detector.ts';
import { createFlowChanges, type FlowChange } from '../flow/flow-changes.ts';
import { createObservedSpans } from '../flow/observed-spans.ts';
import { createRankedPrints } from '../flow/ranked-prints.ts';
import { tapeSettings } from '../methodology.ts';
import { mostRecent, pairCancels } from '../prints/corrections.ts';
import { PrintRepeats } from '../prints/duplicates.ts';
import { type OptionColumns, OptionLedger, printState } from '../prints/option-ledger.ts';
import { PrintLinks } from '../prints/print-links.ts';
import { QuoteBook, sideIndex } from '../prints/quote-book.ts';
import { createReorder, type Reorder } from '../prints/reorder.ts';

/**
 * Corrects the side of prints whose quote arrived late (it is in the book already), and re-forms the affected events
 * and sums.
 * Exact as far back as the book remembers quotes.
 */
function sidesAnew(
  ledger: OptionLedger,
  links: PrintLinks,
  quotes: QuoteBook,
  detector: Detector,
  minutes: ContractMinuteSums,
): (quote: OptionQuote) => void {
  const { columns } = ledger;

  function give(entry: number, side: number) {
    const slot = entry & ledger.mask;
    if (columns.state[slot] !== printState.counted) {
      columns.side[slot] = side;
      return;
    }
    const contract = ledger.contracts[columns.contract[slot]!]!;
    minutes.changeSide(contract, columns.tsMs[slot]!, columns.size[slot]!, columns.side[slot]!, side);
    // Moves it from its group to that of its new side.
    detector.revise(entry, () => {
      columns.state[slot] = printState.left;
    });
    columns.side[slot] = side;
    detector.revise(entry, () => {
      columns.state[slot] = printState.counted;
    });
  }

  /** The prints of the quote's contract at its instant and later, in order. */
  function printsAfter({ contract, tsMs, tsNanos }: OptionQuote): number[] {
    const after: number[] = [];
    let n = links.contractHead(contract.index);
    while (n >= ledger.oldest) {
      const slot = n & ledger.mask;
      if (nanosBetween(tsMs, tsNanos, columns.tsMs[slot]!, columns.tsNanos[slot]!) < 0) break;
      after.push(n);
      n = columns.previousOfContract[slot]!;
    }
    return after.reverse();
  }

  return (quote) => {
    quotes.release(quote.tsMs, quote.tsNanos);
    for (const entry of printsAfter(quote)) {
      const slot = entry & ledger.mask;
      if ((columns.traits[slot]! & optionTraits.sideless) !== 0) continue;
      const side = quotes.sideAt(quote.contract, columns.price[slot]!, columns.tsMs[slot]!, columns.tsNanos[slot]!);
      if (side !== columns.side[slot]) give(entry, side);
    }
  };
}

export interface OptionTapeOptions {
  /** Prints of another New York date are counted and omitted. */
  session: SessionDate;
  onChange(change: FlowChange): void;
  /**
   * Time that a print waits for earlier ones, by event time, ms. At the lateness bound (the default) nothing within the
   * bound is sent twice. A live reader waits less, gets events sooner, and gets `withdrawn` if a later print changes
   * them.
   */
  holdMs?: number;
  /**
   * The number before the first change's, and before every underlying's first snapshot's, for resuming after a restart.
   */
  firstSeq?: number;
  firstSnapshotSeq?: number;
  /** True to note the prints that are in no figure, for `isLeft`. */
  notesLeft?: boolean;
  /** Contracts with bars; all if absent. */
  followed?(contract: TradedContract): boolean;
  /** Number of remembered prints; `tapeSettings.rememberedPrints` if absent. */
  remembered?: number;
  /** Number of quotes remembered beyond the lateness bound; `tapeSettings.rememberedQuotes` if absent. */
  rememberedQuotes?: number;
}

/** Counts of records by how they were handled. */
export interface OptionTapeCounts {
  prints: number;
  duplicates: number;
  cancels: number;
  /** Cancels without a known original. */
  unmatchedCancels: number;
  /** Compression trades and records withdrawn by the tape itself. */
  leftOut: number;
  /** Prints that arrived after the hold, and were inserted at their position. */
  late: number;
  otherSession: number;
}

/** Counts of no prints. */
export function emptyCounts(): OptionTapeCounts {
  return { prints: 0, duplicates: 0, cancels: 0, unmatchedCancels: 0, leftOut: 0, late: 0, otherSession: 0 };
}

/**
 * One session's option tape: from prints and quotes to events and figures. Driven by event time alone. Memory is
 * bounded by the remembered prints, the traded contracts and their minutes.
 */
export class OptionTape {
  readonly crossSections: CrossSections;
  readonly minutes = new ContractMinuteSums();
  readonly bars: OptionBars;
  readonly ranked = createRankedPrints();
  readonly quotes: QuoteBook;
  readonly counts = emptyCounts();
  readonly observed = createObservedSpans();
  readonly #holdMs: number;
  readonly #startMs: number;
  readonly #endMs: number;
  readonly #ledger: OptionLedger;
  readonly #columns: OptionColumns;
  readonly #links: PrintLinks;
  readonly #repeats: PrintRepeats;
  readonly #waiting: Reorder;
  readonly #detector: Detector;
  readonly #giveSidesAnew: (quote: OptionQuote) => void;
  // Entries in no figure, of repeats, cancels and cancelled prints; null = not asked for.
  readonly #left: Set<number> | null;
  // Contracts with a cancel: only there may a late print be the cancelled one.
  readonly #withCancels = new Set<number>();
  #reachedMs = -Infinity;
  #clockMs = -Infinity;

  constructor(options: OptionTapeOptions) {
    const { session, onChange, holdMs = tapeSettings.latenessMs, firstSeq = 0, firstSnapshotSeq = 0 } = options;
    const { fromMs, toMs } = tradeSpan(session);
    this.#holdMs = holdMs;
    this.#startMs = fromMs;
    this.#endMs = toMs;
    const mayForget = (entry: number) => this.#mayForget(entry);
    const ledger = new OptionLedger(options.remembered ?? tapeSettings.rememberedPrints, mayForget);
    const links = new PrintLinks(ledger);
    this.#ledger = ledger;
    this.#left = options.notesLeft ? new Set() : null;
    this.#columns = ledger.columns;
    this.#links = links;
    this.#repeats = new PrintRepeats(ledger, links);
    this.#waiting = createReorder((a, b) => ledger.before(a, b));
    this.quotes = new QuoteBook(options.rememberedQuotes);
    this.crossSections = new CrossSections(firstSnapshotSeq);
    this.bars = new OptionBars(ledger, links, options.followed ?? (() => true));
    this.#detector = new Detector(ledger, links, createFlowChanges(ledger, this.ranked, onChange, firstSeq));
    this.#giveSidesAnew = sidesAnew(ledger, links, this.quotes, this.#detector, this.minutes);
  }

  /** The latest instant so far, epoch ms. */
  get reachedMs(): number {
    return this.#reachedMs;
  }

  /** A forgotten print must be outside of every open segment; those last half a second. */
  #mayForget(entry: number): boolean {
    const slot = entry & this.#ledger.mask;
    const isWaiting = this.#columns.state[slot] === printState.waiting;
    return !isWaiting && this.#columns.tsMs[slot]! < this.#clockMs - tapeSettings.latenessMs;
  }

  /** Takes a print of a run of the tape; the object may be reused afterwards. */
  print(print: OptionPrint, run = 0): void {
    const { tsMs, correction } = print;
    if (tsMs < this.#startMs || tsMs >= this.#endMs) {
      this.counts.otherSession++;
      return;
    }
    const entry = this.#ledger.add(print, run);
    const slot = entry & this.#ledger.mask;
    const compression = (this.#columns.traits[slot]! & optionTraits.compression) !== 0;
    if (compression || isWithdrawn(correction) || correction === correctionMessage) {
      this.counts.leftOut++;
      this.#set(entry, printState.left);
    } else if (tsMs < this.#clockMs) {
      this.counts.late++;
      this.#take(entry, true);
    } else {
      this.#waiting.push(entry);
    }
    this.advance(tsMs);
  }

  /**
   * True if the n-th of the prints taken, from 0, is in no figure: a repeat, a cancel, or cancelled. It is certain
   * after `end`, and requires `notesLeft`.
   */
  isLeft(n: number): boolean {
    return this.#left!.has(n);
  }

  /** Takes a quote. */
  quote(quote: OptionQuote): void {
    if (quote.tsMs < this.#startMs || quote.tsMs >= this.#endMs) return;
    this.advance(quote.tsMs);
    this.quotes.add(quote);
    if (quote.tsMs < this.#clockMs && quote.tsMs >= this.#clockMs - tapeSettings.latenessMs) this.#giveSidesAnew(quote);
  }

  /** Call it after the last record: all prints are taken and all events sent. */
  end(): void {
    this.#release(Infinity);
  }

  /** Adds a print to the sums (1), or removes it (−1). */
  #sum(entry: number, sign: 1 | -1) {
    const columns = this.#columns;
    const slot = entry & this.#ledger.mask;
    const contract = this.#ledger.contracts[columns.contract[slot]!]!;
    const [tsMs, price, size] = [columns.tsMs[slot]!, columns.price[slot]!, columns.size[slot]!];
    this.crossSections.add(contract, tsMs, price, size, sign);
    this.minutes.add(contract, tsMs, columns.side[slot]!, sign * size, sign * price * size, sign);
    if (sign === 1) this.bars.count(entry);
    else this.bars.recount(entry);
  }

  #set(entry: number, state: number) {
    this.#columns.state[entry & this.#ledger.mask] = state;
    if (state === printState.counted) this.#left?.delete(entry);
    else this.#left?.add(entry);
  }

  #turn(entry: number, state: number) {
    this.#detector.revise(entry, () => this.#set(entry, state));
    this.#sum(entry, state === printState.counted ? 1 : -1);
  }

  #takeCancel(entry: number, late: boolean) {
    const ledger = this.#ledger;
    this.#set(entry, printState.cancel);
    this.counts.cancels++;
    this.#withCancels.add(this.#columns.contract[entry & ledger.mask]!);
    if (late) {
      this.counts.unmatchedCancels += pairCancels(ledger, this.#links, entry, (each, state) => this.#turn(each, state));
      return;
    }
    const original = mostRecent(ledger, entry);
    if (original >= 0) this.#turn(original, printState.cancelled);
    else this.counts.unmatchedCancels++;
  }

  /** Takes a print: in event-time order, or (`late`) after others. */
  #take(entry: number, late: boolean) {
    if (this.#repeats.isRepeat(entry)) {
      this.counts.duplicates++;
      this.#set(entry, printState.left);
    } else this.#takeOne(entry, late);
    // They are no repeats: the sequences of their exchange do not identify prints.
    for (const revealed of this.#repeats.takeRevealed()) {
      this.counts.duplicates--;
      this.#take(revealed, true);
    }
  }

  #takeOne(entry: number, late: boolean) {
    const ledger = this.#ledger;
    const columns = this.#columns;
    const slot = entry & ledger.mask;
    this.#links.link(entry);
    if (!late) this.#detector.pass(entry);
    const traits = columns.traits[slot]!;
    if ((traits & optionTraits.cancel) !== 0) {
      this.#takeCancel(entry, late);
      return;
    }
    this.counts.prints++;
    const contract = ledger.contracts[columns.contract[slot]!]!;
    this.observed.add(contract.underlying, columns.tsMs[slot]!);
    this.quotes.release(columns.tsMs[slot]!, columns.tsNanos[slot]!);
    columns.side[slot] =
      (traits & optionTraits.sideless) !== 0
        ? sideIndex.unknown
        : this.quotes.sideAt(contract, columns.price[slot]!, columns.tsMs[slot]!, columns.tsNanos[slot]!);
    if (late) this.#turn(entry, printState.counted);
    else {
      columns.state[slot] = printState.counted;
      this.#sum(entry, 1);
      this.#detector.accept(entry);
    }
    if (late && this.#withCancels.has(contract.index))
      this.counts.unmatchedCancels += pairCancels(ledger, this.#links, entry, (each, state) => this.#turn(each, state));
  }

  #release(untilMs: number) {
    this.#clockMs = untilMs;
    for (let entry = this.#waiting.peek(); entry >= 0; entry = this.#waiting.peek()) {
      if (this.#columns.tsMs[entry & this.#ledger.mask]! >= untilMs) break;
      this.#take(this.#waiting.shift(), false);
    }
    this.quotes.release(untilMs - 1, 999_999);
    this.#detector.advance(untilMs);
  }

  /** Advances event time to this instant (epoch ms) without a trade. */
  advance(tsMs: number): void {
    if (tsMs <= this.#reachedMs) return;
    this.#reachedMs = tsMs;
    if (tsMs - this.#holdMs > this.#clockMs) this.#release(tsMs - this.#holdMs);
  }
}

import { tradeSpan } from '../../domain/calendar.ts';
import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { correctionMessage, isWithdrawn, type OptionPrint, type OptionQuote } from '../../domain/print.ts';
import { createOptionBars, type OptionBars } from '../bars/option-bars-from-prints.ts';
import { createFlowChanges, type FlowChange } from '../flow/changes.ts';
import { type CrossSections, createCrossSections } from '../flow/cross-section.ts';
import { createDetector } from '../flow/detector.ts';
import { sidesAnew } from '../flow/late-quotes.ts';
import { createObservedSpans, type ObservedSpans } from '../flow/observed-spans.ts';
import { createRankedPrints, type RankedPrints } from '../flow/ranked-prints.ts';
import { tapeSettings } from '../methodology.ts';
import { mostRecent, pairCancels } from '../prints/cancels.ts';
import { createDuplicateCheck } from '../prints/duplicates.ts';
import { createOptionLedger, printState } from '../prints/option-ledger.ts';
import { createPrintLinks } from '../prints/print-links.ts';
import { createQuoteBook, type QuoteBook } from '../prints/quote-book.ts';
import { createReorder } from '../prints/reorder.ts';
import { sideIndex } from '../prints/side.ts';

export interface OptionTapeOptions {
  /** Prints of another New York date are counted as such and omitted. */
  session: SessionDate;
  onChange(change: FlowChange): void;
  /**
   * Time a print waits for earlier ones, by event time, ms. At the lateness bound (the default) nothing within the
   * bound is ever sent twice. A live reader waits less, sees events sooner, and gets `withdrawn` when a later print
   * changes them.
   */
  holdMs?: number;
  /**
   * The number before the first change's, and before every underlying's first snapshot's: a restart goes on counting.
   */
  firstSeq?: number;
  firstSnapshotSeq?: number;
  /** Contracts whose bars are made; all when absent. */
  followed?(contract: TradedContract): boolean;
  /** Prints remembered; `tapeSettings.rememberedPrints` when absent. */
  remembered?: number;
  /** Quotes remembered beyond the lateness bound; `tapeSettings.rememberedQuotes` when absent. */
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

/** One session's option tape: prints and quotes in, events and figures out. Fed by event time alone. */
export interface OptionTape {
  /** Takes a print; the object may be used again afterwards. */
  print(print: OptionPrint): void;
  quote(quote: OptionQuote): void;
  /** Event time has come to this instant (epoch ms) although nothing traded. */
  advance(tsMs: number): void;
  /** Nothing comes any more: every print is taken and every event sent. */
  end(): void;
  readonly crossSections: CrossSections;
  readonly bars: OptionBars;
  readonly ranked: RankedPrints;
  readonly quotes: QuoteBook;
  readonly counts: Readonly<OptionTapeCounts>;
  readonly observed: ObservedSpans;
  /** The latest instant met, epoch ms. */
  readonly reachedMs: number;
}

/**
 * An option tape of one session. Memory is bounded by the prints remembered, the contracts that trade and their
 * minutes.
 */
export function createOptionTape(options: OptionTapeOptions): OptionTape {
  const { session, holdMs = tapeSettings.latenessMs } = options;
  const { fromMs: startMs, toMs: endMs } = tradeSpan(session);
  let reachedMs = -Infinity;
  let clockMs = -Infinity;
  const counts = emptyCounts();

  // A forgotten print must be out of every open segment; those last half a second.
  const mayForget = (entry: number) => {
    const slot = entry & ledger.mask;
    return columns.state[slot] !== printState.waiting && columns.tsMs[slot]! < clockMs - tapeSettings.latenessMs;
  };
  const ledger = createOptionLedger(options.remembered ?? tapeSettings.rememberedPrints, mayForget);
  const { columns } = ledger;
  const links = createPrintLinks(ledger);
  const isDuplicate = createDuplicateCheck(ledger, links);
  const waiting = createReorder(ledger.before);
  const quotes = createQuoteBook(options.rememberedQuotes);
  const crossSections = createCrossSections(options.firstSnapshotSeq ?? 0);
  const ranked = createRankedPrints();
  const bars = createOptionBars(ledger, links, options.followed ?? (() => true));
  const detector = createDetector(
    ledger,
    links,
    createFlowChanges(ledger, ranked, options.onChange, options.firstSeq ?? 0),
  );
  const giveSidesAnew = sidesAnew(ledger, links, quotes, detector);
  const observed = createObservedSpans();
  // Contracts that had a cancel: only there a late print may be one that was meant.
  const withCancels = new Set<number>();

  /** Adds a print to the sums (1), or takes it out of them (−1). */
  function sum(entry: number, sign: 1 | -1) {
    const slot = entry & ledger.mask;
    crossSections.add(ledger.contracts[columns.contract[slot]!]!, columns.price[slot]!, columns.size[slot]!, sign);
    if (sign === 1) bars.count(entry);
    else bars.recount(entry);
  }

  function turn(entry: number, state: number) {
    detector.revise(entry, () => {
      columns.state[entry & ledger.mask] = state;
    });
    sum(entry, state === printState.counted ? 1 : -1);
  }

  function takeCancel(entry: number, late: boolean) {
    columns.state[entry & ledger.mask] = printState.cancel;
    counts.cancels++;
    withCancels.add(columns.contract[entry & ledger.mask]!);
    if (late) {
      counts.unmatchedCancels += pairCancels(ledger, links, entry, turn);
      return;
    }
    const original = mostRecent(ledger, entry);
    if (original >= 0) turn(original, printState.cancelled);
    else counts.unmatchedCancels++;
  }

  /** Takes a print in: in event-time order, or (`late`) behind others. */
  function take(entry: number, late: boolean) {
    const slot = entry & ledger.mask;
    if (isDuplicate(entry)) {
      counts.duplicates++;
      columns.state[slot] = printState.left;
      return;
    }
    links.link(entry);
    if (!late) detector.pass(entry);
    const traits = columns.traits[slot]!;
    if ((traits & optionTraits.cancel) !== 0) {
      takeCancel(entry, late);
      return;
    }
    counts.prints++;
    const contract = ledger.contracts[columns.contract[slot]!]!;
    observed.add(contract.underlying, columns.tsMs[slot]!);
    quotes.release(columns.tsMs[slot]!, columns.tsNanos[slot]!);
    columns.side[slot] =
      (traits & optionTraits.sideless) !== 0
        ? sideIndex.unknown
        : quotes.sideAt(contract, columns.price[slot]!, columns.tsMs[slot]!, columns.tsNanos[slot]!);
    if (late) turn(entry, printState.counted);
    else {
      columns.state[slot] = printState.counted;
      sum(entry, 1);
      detector.accept(entry);
    }
    if (late && withCancels.has(contract.index)) counts.unmatchedCancels += pairCancels(ledger, links, entry, turn);
  }

  function release(untilMs: number) {
    clockMs = untilMs;
    for (let entry = waiting.peek(); entry >= 0; entry = waiting.peek()) {
      if (columns.tsMs[entry & ledger.mask]! >= untilMs) break;
      take(waiting.shift(), false);
    }
    quotes.release(untilMs - 1, 999_999);
    detector.advance(untilMs);
  }

  function advance(tsMs: number) {
    if (tsMs <= reachedMs) return;
    reachedMs = tsMs;
    if (tsMs - holdMs > clockMs) release(tsMs - holdMs);
  }

  return {
    print(print) {
      const { tsMs, correction } = print;
      if (tsMs < startMs || tsMs >= endMs) {
        counts.otherSession++;
        return;
      }
      const entry = ledger.add(print);
      const compression = (columns.traits[entry & ledger.mask]! & optionTraits.compression) !== 0;
      if (compression || isWithdrawn(correction) || correction === correctionMessage) {
        counts.leftOut++;
        columns.state[entry & ledger.mask] = printState.left;
      } else if (tsMs < clockMs) {
        counts.late++;
        take(entry, true);
      } else {
        waiting.push(entry);
      }
      advance(tsMs);
    },
    quote(quote) {
      if (quote.tsMs < startMs || quote.tsMs >= endMs) return;
      advance(quote.tsMs);
      quotes.add(quote);
      if (quote.tsMs < clockMs && quote.tsMs >= clockMs - tapeSettings.latenessMs) giveSidesAnew(quote);
    },
    advance,
    end() {
      release(Infinity);
    },
    crossSections,
    bars,
    ranked,
    quotes,
    counts,
    observed,
    get reachedMs() {
      return reachedMs;
    },
  };
}

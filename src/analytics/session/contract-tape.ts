import type { BarColumns } from '../../domain/bar.ts';
import { tradeSpan } from '../../domain/calendar.ts';
import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import { correctionMessage, isWithdrawn, type OptionPrint } from '../../domain/print.ts';
import { minuteMs } from '../../domain/units.ts';
import { addToBar, barsOfRows, createBarRows } from '../bars/bar-rows.ts';
import { createFlowChanges } from '../flow/changes.ts';
import { createCrossSections } from '../flow/cross-section.ts';
import type { FormedEvent } from '../flow/events.ts';
import { createObservedSpans } from '../flow/observed-spans.ts';
import { createRankedPrints } from '../flow/ranked-prints.ts';
import { createSegmentCutter, multiLegCloseness, multiLegsOf, sweepCloseness, sweepsOf } from '../flow/runs.ts';
import { mostRecent } from '../prints/cancels.ts';
import { createOptionLedger, printState } from '../prints/option-ledger.ts';
import { sideIndex } from '../prints/side.ts';
import { emptyCounts, type OptionTape, type OptionTapeOptions } from './option-tape.ts';

export interface ContractTapeOptions extends Pick<OptionTapeOptions, 'session' | 'onChange'> {
  /** Called with the minutes of each contract, if it has any, once all its prints were taken in. */
  onBars(contract: TradedContract, minutes: BarColumns): void;
}

// Ids of exchanges are small numbers.
const largestExchange = 65_535;

/** One underlying's session of an option tape: its prints in, events and figures out. */
export interface ContractTape extends Pick<OptionTape, 'end' | 'crossSections' | 'ranked' | 'counts' | 'observed'> {
  /**
   * Takes a print: a contract's follow one another, in order of their milliseconds. The object may be used again
   * afterwards.
   */
  print(print: OptionPrint): void;
}

/**
 * As `createOptionTape`, but made a contract after the other: for a whole tape without quotes, whose prints are
 * numbered by their lines, so that none repeats another. All but multi-leg events depends on the prints of one contract
 * alone, which lie in the processor's cache. Memory is bounded by the largest contract and the multi-leg prints.
 */
export function createContractTape({ session, onChange, onBars }: ContractTapeOptions): ContractTape {
  const { fromMs: startMs, toMs: endMs } = tradeSpan(session);
  const counts = emptyCounts();
  // The multi-leg prints that stand of the contracts before, then the prints of the contract being taken.
  const ledger = createOptionLedger(Infinity, () => false);
  const { columns } = ledger;
  let contract: TradedContract | null = null;
  let first = 0;
  // The contract's prints in event-time order.
  const inOrder: number[] = [];
  let length = 0;
  const crossSections = createCrossSections();
  const ranked = createRankedPrints();
  const observed = createObservedSpans();
  const minutes = createBarRows();
  const sink = createFlowChanges(ledger, ranked, onChange, 0);

  const form = (events: FormedEvent[]) => events.forEach(sink.formed);
  const sweeps = createSegmentCutter(ledger, sweepCloseness, (entries) => {
    if (entries.length === 1) sink.formedAlone('single_block', entries[0]!);
    else form(sweepsOf(ledger, entries));
  });
  const multiLegs = createSegmentCutter(ledger, multiLegCloseness, (entries) => {
    if (entries.length === 1) sink.formedAlone('multi_leg', entries[0]!);
    else form(multiLegsOf(ledger, entries));
  });

  /** Inserts a print at its position: prints arrive in order, except within a millisecond. */
  function put(entry: number) {
    let at = length++;
    for (; at > 0 && ledger.before(entry, inOrder[at - 1]!); at--) inOrder[at] = inOrder[at - 1]!;
    inOrder[at] = entry;
  }

  /** Says whether a print stands; a cancel takes the most recent print back that it looks like. */
  function settle(entry: number, previous: number) {
    const slot = entry & ledger.mask;
    columns.previousOfContract[slot] = previous;
    if ((columns.traits[slot]! & optionTraits.cancel) === 0) {
      counts.prints++;
      columns.side[slot] = sideIndex.unknown;
      columns.state[slot] = printState.counted;
      return;
    }
    counts.cancels++;
    columns.state[slot] = printState.cancel;
    const original = mostRecent(ledger, entry);
    if (original >= 0) columns.state[original & ledger.mask] = printState.cancelled;
    else counts.unmatchedCancels++;
  }

  /** Notes when the first and the last print of the contract were made, taken back or not. */
  function observe() {
    const isCancel = (entry: number) => columns.state[entry & ledger.mask] === printState.cancel;
    let [first, last] = [0, length - 1];
    while (first < length && isCancel(inOrder[first]!)) first++;
    if (first === length) return;
    while (isCancel(inOrder[last]!)) last--;
    for (const at of [first, last]) observed.add(contract!.underlying, columns.tsMs[inOrder[at]! & ledger.mask]!);
  }

  // Sums of the contract's prints that stand; filled for one contract after the other.
  const sums = { volume: 0, premium: 0, count: 0 };
  const print = { entry: 0, price: 0, size: 0, sizeMicros: 0, traits: 0 };
  let minuteStartMs = -Infinity;
  // The contract's multi-leg prints that stand.
  const legs: number[] = [];

  /** Adds a print that stands to what is made of its contract. */
  function count(entry: number) {
    const slot = entry & ledger.mask;
    const price = columns.price[slot]!;
    const size = columns.size[slot]!;
    const traits = columns.traits[slot]!;
    const tsMs = columns.tsMs[slot]!;
    sums.volume += size;
    sums.premium += price * size;
    sums.count++;
    if (tsMs >= minuteStartMs + minuteMs) minuteStartMs = tsMs - (tsMs % minuteMs);
    print.entry = entry;
    print.price = price;
    print.size = size;
    print.traits = traits;
    addToBar(minutes, minuteStartMs, print, ledger.before);
    if ((traits & optionTraits.multiLeg) !== 0) legs.push(entry);
    else if ((traits & optionTraits.sweepable) !== 0) sweeps.add(entry);
    else sink.formedAlone('single_block', entry);
  }

  const isCounted = (entry: number) => columns.state[entry & ledger.mask] === printState.counted;
  function endContract() {
    if (contract === null) return;
    for (let i = 0; i < length; i++) settle(inOrder[i]!, i === 0 ? -1 : inOrder[i - 1]!);
    observe();
    minuteStartMs = -Infinity;
    for (let i = 0; i < length; i++) if (isCounted(inOrder[i]!)) count(inOrder[i]!);
    sweeps.end();
    if (sums.count > 0) crossSections.addPrints(contract, sums.volume, sums.premium, sums.count);
    sums.volume = sums.premium = sums.count = 0;
    const bars = barsOfRows(minutes, -Infinity, true);
    if (bars.tsMs.length > 0) onBars(contract, bars);
    ledger.retain(
      first,
      legs.sort((a, b) => a - b),
    );
    legs.length = 0;
    first = ledger.next;
    length = 0;
    minutes.count = 0;
  }

  /** The multi-leg prints that stand, by exchange, in order of event time. */
  function multiLegsByExchange(): Int32Array[] {
    const counts = new Int32Array(largestExchange + 1);
    for (let leg = 0; leg < ledger.next; leg++) counts[columns.exchange[leg]!]!++;
    const books = new Map<number, Int32Array>();
    // Nanoseconds since the session began are exact in a double: those of a hundred days are.
    const nanos = new Float64Array(ledger.next);
    for (let leg = 0; leg < ledger.next; leg++) {
      const exchange = columns.exchange[leg]!;
      let book = books.get(exchange);
      if (!book) {
        book = new Int32Array(counts[exchange]!);
        books.set(exchange, book);
      }
      book[book.length - counts[exchange]!--] = leg;
      nanos[leg] = (columns.tsMs[leg]! - startMs) * 1e6 + columns.tsNanos[leg]!;
    }
    // A difference would be a new object for each comparison: it fits no small integer.
    const compare = (a: number, b: number) => {
      const first = nanos[a]!;
      const second = nanos[b]!;
      if (first === second) return ledger.before(a, b) ? -1 : 1;
      return first < second ? -1 : 1;
    };
    return [...books.values()].map((book) => book.sort(compare));
  }

  return {
    print(print) {
      if (print.tsMs < startMs || print.tsMs >= endMs) {
        counts.otherSession++;
        return;
      }
      if (print.contract !== contract) {
        endContract();
        contract = print.contract;
      }
      const entry = ledger.add(print);
      const isCompression = (columns.traits[entry & ledger.mask]! & optionTraits.compression) !== 0;
      if (!isCompression && !isWithdrawn(print.correction) && print.correction !== correctionMessage) put(entry);
      else {
        counts.leftOut++;
        columns.state[entry & ledger.mask] = printState.left;
      }
    },
    end() {
      endContract();
      contract = null;
      for (const book of multiLegsByExchange()) {
        for (const leg of book) multiLegs.add(leg);
        multiLegs.end();
      }
    },
    crossSections,
    ranked,
    counts,
    observed,
  };
}

import type { FlowEventKind } from '../../domain/flow/flow.ts';
import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import { type OptionColumns, type OptionLedger, printState } from '../prints/option-ledger.ts';
import type { PrintLinks } from '../prints/print-links.ts';
import { createEntryQueue, type EntryQueue } from '../prints/reorder.ts';
import type { FormedEvent } from './events.ts';
import {
  type Closeness,
  multiLegCloseness,
  multiLegsOf,
  nanosFrom,
  segmentsOf,
  sweepCloseness,
  sweepsOf,
} from './runs.ts';

/** The prints of one kind of event, in groups: a segment never spans two groups. */
interface EventFamily {
  closeness: Closeness;
  /** First and last print of the open segment by group; −1 = none is open. */
  openFirst: Int32Array;
  openLast: Int32Array;
  /** Prints in order, for closing their segments. */
  closing: EntryQueue;
  groupOf(entry: number): number;
  /** The newest print on the list with the group's prints, and the column that links it. */
  head(entry: number): number;
  column: 'previousOfContract' | 'previousOfBook';
  /** True if `other`, on `entry`'s list, is in its group. */
  akin(entry: number, other: number): boolean;
  /** The events of a segment. */
  events(ledger: OptionLedger, entries: readonly number[]): FormedEvent[];
  /** The kind of a print that is alone in its segment. */
  kindAlone: FlowEventKind;
}

const open = () => ({
  openFirst: new Int32Array(512).fill(-1),
  openLast: new Int32Array(512).fill(-1),
  closing: createEntryQueue(),
});

/** Allocates a group's number. */
function ensureGroup(family: EventFamily, group: number): void {
  if (group < family.openFirst.length) return;
  for (const name of ['openFirst', 'openLast'] as const) {
    const longer = new Int32Array(Math.max(2 * family[name].length, group + 1)).fill(-1);
    longer.set(family[name]);
    family[name] = longer;
  }
}

/** Ordinary and sweep-order prints by contract and side. */
function sweepFamily(ledger: OptionLedger, links: PrintLinks): EventFamily {
  const { columns } = ledger;
  const both = optionTraits.multiLeg | optionTraits.sweepable;
  return {
    ...open(),
    closeness: sweepCloseness,
    groupOf: (entry) => columns.contract[entry & ledger.mask]! * 4 + columns.side[entry & ledger.mask]!,
    head: (entry) => links.contractHead(columns.contract[entry & ledger.mask]!),
    column: 'previousOfContract',
    akin: (entry, other) =>
      (columns.traits[other & ledger.mask]! & both) === optionTraits.sweepable &&
      columns.side[other & ledger.mask] === columns.side[entry & ledger.mask],
    events: sweepsOf,
    kindAlone: 'single_block',
  };
}

/** Multi-leg and stock-tied prints by underlying and exchange. */
function multiLegFamily(links: PrintLinks): EventFamily {
  return {
    ...open(),
    closeness: multiLegCloseness,
    groupOf: (entry) => links.bookOf(entry),
    head: (entry) => links.bookHead(links.bookOf(entry)),
    column: 'previousOfBook',
    akin: () => true,
    events: multiLegsOf,
    kindAlone: 'multi_leg',
  };
}

/** Receiver of events: every counted print is in exactly one formed event that is not dissolved. */
export interface EventSink {
  /** A single print as an event: like `formed`, without an object for the many events that are not published. */
  formedAlone(kind: FlowEventKind, entry: number): void;
  formed(event: FormedEvent): void;
  /** An earlier event no longer exists; its prints form others, or were cancelled. */
  dissolved(event: FormedEvent): void;
}

/** Groups counted prints of a ledger into events (methodology 3). */
export class Detector {
  readonly #ledger: OptionLedger;
  readonly #columns: OptionColumns;
  readonly #sink: EventSink;
  readonly #sweeps: EventFamily;
  readonly #books: EventFamily;
  #clockMs = -Infinity;
  #passed = -1;

  constructor(ledger: OptionLedger, links: PrintLinks, sink: EventSink) {
    this.#ledger = ledger;
    this.#columns = ledger.columns;
    this.#sink = sink;
    this.#sweeps = sweepFamily(ledger, links);
    this.#books = multiLegFamily(links);
  }

  /** Reports that everything before this entry has been seen: segments that nothing later can join are closed. */
  pass(entry: number): void {
    this.#passed = entry;
    this.#closeDue();
  }

  /** Reports that no print before this instant will be accepted. */
  advance(clockMs: number): void {
    this.#clockMs = clockMs;
    this.#closeDue();
  }

  /** Null for a print that is always an event of its own. */
  #familyOf(entry: number): EventFamily | null {
    const traits = this.#columns.traits[entry & this.#ledger.mask]!;
    if ((traits & optionTraits.multiLeg) !== 0) return this.#books;
    return (traits & optionTraits.sweepable) !== 0 ? this.#sweeps : null;
  }

  #counted(entry: number): boolean {
    return this.#columns.state[entry & this.#ledger.mask] === printState.counted;
  }

  #close(family: EventFamily, group: number) {
    const first = family.openFirst[group]!;
    const last = family.openLast[group]!;
    family.openFirst[group] = -1;
    family.openLast[group] = -1;
    if (first === last) {
      this.#sink.formedAlone(family.kindAlone, first);
      return;
    }
    const entries: number[] = [];
    const previous = this.#columns[family.column];
    for (let entry = last; ; entry = previous[entry & this.#ledger.mask]!) {
      if (this.#counted(entry) && family.akin(last, entry)) entries.push(entry);
      if (entry === first) break;
    }
    for (const event of family.events(this.#ledger, entries.reverse())) this.#sink.formed(event);
  }

  /** Remaining time that an entry's segment waits for another print at `at`, ns; negative: it is over. */
  #dueIn(family: EventFamily, entry: number, at: number): number {
    return family.closeness.gapNanos - nanosFrom(this.#ledger, entry, at);
  }

  /**
   * The family whose oldest waiting segment ends first, so that the order of events does not depend on how the clock is
   * advanced.
   */
  #firstDue(): EventFamily | null {
    const [a, b] = [this.#sweeps.closing.first(), this.#books.closing.first()];
    if (a < 0) return b < 0 ? null : this.#books;
    if (b < 0) return this.#sweeps;
    return this.#sweeps.closeness.gapNanos <= this.#dueIn(this.#books, b, a) ? this.#sweeps : this.#books;
  }

  /** True if no print can join any more: by the clock, and by the last entry passed. */
  #isOver(family: EventFamily, entry: number): boolean {
    if ((this.#clockMs - this.#columns.tsMs[entry & this.#ledger.mask]!) * 1e6 > family.closeness.gapNanos) return true;
    return this.#passed >= this.#ledger.oldest && this.#dueIn(family, entry, this.#passed) < 0;
  }

  #closeDue() {
    for (let family = this.#firstDue(); family !== null; family = this.#firstDue()) {
      const entry = family.closing.first();
      if (!this.#isOver(family, entry)) return;
      family.closing.shift();
      const group = family.groupOf(entry);
      if (family.openLast[group] === entry) this.#close(family, group);
    }
  }

  /** Accepts a counted, linked print in event-time order, after `pass`. */
  accept(entry: number) {
    const family = this.#familyOf(entry);
    if (!family) {
      this.#sink.formedAlone('single_block', entry);
      return;
    }
    const group = family.groupOf(entry);
    ensureGroup(family, group);
    const first = family.openFirst[group]!;
    if (first >= 0) {
      const fits =
        nanosFrom(this.#ledger, family.openLast[group]!, entry) <= family.closeness.gapNanos &&
        nanosFrom(this.#ledger, first, entry) <= family.closeness.spanNanos;
      if (!fits) this.#close(family, group);
    }
    if (family.openFirst[group]! < 0) family.openFirst[group] = entry;
    family.openLast[group] = entry;
    family.closing.push(entry);
  }

  /** The prints of an entry's group that are chained to it by gaps, including itself, in order. */
  #runAround(family: EventFamily, entry: number): number[] {
    const ledger = this.#ledger;
    const previous = this.#columns[family.column];
    const near = (a: number, b: number) => nanosFrom(ledger, a, b) <= family.closeness.gapNanos;
    const isMember = (other: number) => this.#counted(other) && family.akin(entry, other);
    const run = [entry];
    for (let n = previous[entry & ledger.mask]!; n >= ledger.oldest && near(n, run.at(-1)!); ) {
      if (isMember(n)) run.push(n);
      n = previous[n & ledger.mask]!;
    }
    run.reverse();
    // From the newest on. Only prints chained down to the entry count: the others are dropped at a gap.
    let later: number[] = [];
    for (let n = family.head(entry); n !== entry && n >= ledger.oldest; n = previous[n & ledger.mask]!) {
      if (!isMember(n)) continue;
      if (later.length > 0 && !near(n, later.at(-1)!)) later = [];
      later.push(n);
    }
    for (let n = later.pop(); n !== undefined && near(run.at(-1)!, n); n = later.pop()) run.push(n);
    return run;
  }

  /** Changes whether a linked print is counted, by `apply`, which sets its state, and re-forms the affected events. */
  revise(entry: number, apply: () => void) {
    const family = this.#familyOf(entry);
    if (!family) {
      const event: FormedEvent = { kind: 'single_block', entries: [entry] };
      if (this.#counted(entry)) this.#sink.dissolved(event);
      apply();
      if (this.#counted(entry)) this.#sink.formed(event);
      return;
    }
    const group = family.groupOf(entry);
    ensureGroup(family, group);
    const run = this.#runAround(family, entry);
    const openFirst = family.openFirst[group]!;
    const old = segmentsOf(
      this.#ledger,
      run.filter((entry) => this.#counted(entry)),
      family.closeness,
    );
    const wasOpen = openFirst >= 0 && old.at(-1)?.[0] === openFirst;
    if (wasOpen) old.pop();
    apply();
    const fresh = segmentsOf(
      this.#ledger,
      run.filter((entry) => this.#counted(entry)),
      family.closeness,
    );
    if (wasOpen) family.openFirst[group] = family.openLast[group] = -1;
    const tail = fresh.at(-1);
    if (tail && family.openFirst[group]! < 0 && !this.#isOver(family, tail.at(-1)!)) {
      fresh.pop();
      family.openFirst[group] = tail[0]!;
      family.openLast[group] = tail.at(-1)!;
      family.closing.push(tail.at(-1)!);
    }
    this.#replace(family, old, fresh);
  }

  #replace(family: EventFamily, old: readonly number[][], fresh: readonly number[][]) {
    const stays = new Set(old.map(String));
    const comes = new Set(fresh.map(String));
    for (const segment of old) {
      if (comes.has(String(segment))) continue;
      for (const event of family.events(this.#ledger, segment)) this.#sink.dissolved(event);
    }
    for (const segment of fresh) {
      if (stays.has(String(segment))) continue;
      for (const event of family.events(this.#ledger, segment)) this.#sink.formed(event);
    }
  }
}

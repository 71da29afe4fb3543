import type { FlowEventKind } from '../../domain/flow/flow.ts';
import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import type { OptionLedger } from '../prints/option-ledger.ts';
import type { PrintLinks } from '../prints/print-links.ts';
import { createEntryQueue, type EntryQueue } from '../prints/reorder.ts';
import type { FormedEvent } from './events.ts';
import { type Closeness, multiLegCloseness, multiLegsOf, sweepCloseness, sweepsOf } from './runs.ts';

/** The prints of one kind of event, in groups: a segment never spans two groups. */
export interface EventFamily {
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
export function ensureGroup(family: EventFamily, group: number): void {
  if (group < family.openFirst.length) return;
  for (const name of ['openFirst', 'openLast'] as const) {
    const longer = new Int32Array(Math.max(2 * family[name].length, group + 1)).fill(-1);
    longer.set(family[name]);
    family[name] = longer;
  }
}

/** Ordinary and sweep-order prints by contract and side. */
export function sweepFamily(ledger: OptionLedger, links: PrintLinks): EventFamily {
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
export function multiLegFamily(links: PrintLinks): EventFamily {
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

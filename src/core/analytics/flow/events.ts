import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { eventFigures } from '../../domain/flow/event-figures.ts';
import { type FlowEvent, type FlowEventKind, type FlowLeg, flowSides } from '../../domain/flow/flow.ts';
import { optionTraits } from '../../domain/flow/option-trade-conditions.ts';
import { priceUnits } from '../../domain/market/print.ts';
import { tapeSettings } from '../methodology.ts';
import type { OptionLedger } from '../prints/option-ledger.ts';

/** Prints that form one event, in event-time order. */
export interface FormedEvent {
  kind: FlowEventKind;
  entries: readonly number[];
}

/** Minimum premium of a stored event, in 1e-4 dollars. */
export const minimumPremium: Record<FlowEventKind, number> = {
  single_block: tapeSettings.minimumBlockPremiumUsd * priceUnits,
  multi_leg: tapeSettings.minimumMultiLegPremiumUsd * priceUnits,
  sweep: tapeSettings.minimumSweepPremiumUsd * priceUnits,
};

/** The premium of a print in 1e-4 dollars: price × contracts × shares per contract. */
export function premiumOf(ledger: OptionLedger, entry: number): number {
  const slot = entry & ledger.mask;
  const { columns } = ledger;
  return columns.price[slot]! * columns.size[slot]! * ledger.contracts[columns.contract[slot]!]!.multiplier;
}

/** The contract of a print. */
export function contractOf(ledger: OptionLedger, entry: number): TradedContract {
  return ledger.contracts[ledger.columns.contract[entry & ledger.mask]!]!;
}

/** `<kind>:<contract path form>:<event_ts_ms>:<sequence of the first leg>` (contract-notes 2). */
export function eventIdOf(ledger: OptionLedger, { kind, entries }: FormedEvent): string {
  const first = entries[0]!;
  const slot = first & ledger.mask;
  return `${kind}:${contractOf(ledger, first).id}:${ledger.columns.tsMs[slot]}:${ledger.columns.sequence[slot]}`;
}

function legOf(ledger: OptionLedger, entry: number): FlowLeg {
  const { columns } = ledger;
  const slot = entry & ledger.mask;
  return {
    contract: contractOf(ledger, entry).contract,
    price: columns.price[slot]! / priceUnits,
    size: columns.size[slot]!,
    premiumUsd: premiumOf(ledger, entry) / priceUnits,
    exchange: columns.exchange[slot]!,
    conditions: [...ledger.conditions(entry)],
    eventTsMs: columns.tsMs[slot]!,
    sequence: columns.sequence[slot]!,
    side: flowSides[columns.side[slot]!]!,
    multiLeg: (columns.traits[slot]! & optionTraits.multiLeg) !== 0,
  };
}

/** The event as it is served (spec 2.13). */
export function flowEventOf(ledger: OptionLedger, formed: FormedEvent): FlowEvent {
  const legs = formed.entries.map((entry) => legOf(ledger, entry));
  return {
    eventId: eventIdOf(ledger, formed),
    eventKind: formed.kind,
    underlying: contractOf(ledger, formed.entries[0]!).underlying.symbol,
    eventTsMs: legs[0]!.eventTsMs,
    legs,
    totalSize: legs.reduce((sum, { size }) => sum + size, 0),
    premiumUsd: totalPremium(ledger, formed.entries) / priceUnits,
    ...eventFigures(formed.kind, legs),
  };
}

/** The total premium of prints, in 1e-4 dollars. */
export function totalPremium(ledger: OptionLedger, entries: readonly number[]): number {
  let sum = 0;
  for (const entry of entries) sum += premiumOf(ledger, entry);
  return sum;
}

import type { FlowEvent } from '../../domain/flow/flow.ts';
import { priceUnits } from '../../domain/market/print.ts';
import type { OptionLedger } from '../prints/option-ledger.ts';
import type { EventSink } from './detector.ts';
import {
  contractOf,
  eventIdOf,
  type FormedEvent,
  flowEventOf,
  minimumPremium,
  premiumOf,
  totalPremium,
} from './events.ts';
import type { RankedCandidate, RankedPrints } from './ranked-prints.ts';

/** Changes of the list of large trades. Applied in order, they yield exactly the events of the valid prints. */
export type FlowChange =
  | { kind: 'added'; seq: number; event: FlowEvent }
  /**
   * An event sent before no longer exists: a cancel, or a late print, regrouped its prints into other events, which are
   * added again.
   */
  | { kind: 'withdrawn'; seq: number; underlying: string; eventId: string };

function candidate(ledger: OptionLedger, event: FormedEvent, leg: number): RankedCandidate {
  const { columns } = ledger;
  const entry = event.entries[leg]!;
  const slot = entry & ledger.mask;
  const { contract, underlying } = contractOf(ledger, entry);
  const eventId = eventIdOf(ledger, event);
  return {
    printId: `${eventId}#${leg}`,
    eventId,
    underlying: underlying.symbol,
    contract,
    price: columns.price[slot]! / priceUnits,
    size: columns.size[slot]!,
    premiumUsd: premiumOf(ledger, entry) / priceUnits,
    exchange: columns.exchange[slot]!,
    conditions: [...ledger.conditions(entry)],
    eventTsMs: columns.tsMs[slot]!,
    sequence: columns.sequence[slot]!,
  };
}

/** Reports events of sufficient premium, numbered, and ranks the prints of all. */
export function createFlowChanges(
  ledger: OptionLedger,
  ranked: RankedPrints,
  onChange: (change: FlowChange) => void,
  firstSeq: number,
): EventSink {
  let seq = firstSeq;
  // Minimum premium to be ranked, in 1e-4 dollars, by underlying index.
  const floors: number[] = [];

  function rank(event: FormedEvent) {
    const { index, symbol } = contractOf(ledger, event.entries[0]!).underlying;
    for (let leg = 0; leg < event.entries.length; leg++) {
      if (premiumOf(ledger, event.entries[leg]!) < (floors[index] ?? -Infinity)) continue;
      ranked.add(candidate(ledger, event, leg));
      floors[index] = ranked.floor(symbol) * priceUnits;
    }
  }

  const sink: EventSink = {
    formedAlone(kind, entry) {
      const premium = premiumOf(ledger, entry);
      const floor = floors[contractOf(ledger, entry).underlying.index] ?? -Infinity;
      if (premium >= floor || premium >= minimumPremium[kind]) sink.formed({ kind, entries: [entry] });
    },
    formed(event) {
      rank(event);
      if (totalPremium(ledger, event.entries) < minimumPremium[event.kind]) return;
      onChange({ kind: 'added', seq: ++seq, event: flowEventOf(ledger, event) });
    },
    dissolved(event) {
      const eventId = eventIdOf(ledger, event);
      const { index, symbol: underlying } = contractOf(ledger, event.entries[0]!).underlying;
      for (let leg = 0; leg < event.entries.length; leg++) ranked.withdraw(underlying, `${eventId}#${leg}`);
      floors[index] = ranked.floor(underlying) * priceUnits;
      if (totalPremium(ledger, event.entries) < minimumPremium[event.kind]) return;
      onChange({ kind: 'withdrawn', seq: ++seq, underlying, eventId });
    },
  };
  return sink;
}

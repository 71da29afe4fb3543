// Large trades that the engine finds on a sample tape, and those that were planted in it.
import type { FlowChange } from '../../../src/core/analytics/flow/flow-changes.ts';
import { OptionTape } from '../../../src/core/analytics/session/option-tape.ts';
import { contractId } from '../../../src/core/domain/chain/option-contract.ts';
import type { FlowEvent } from '../../../src/core/domain/flow/flow.ts';
import { standing } from './option-tape.ts';
import type { PlantedEvent } from './planted-options.ts';
import { optionRecords, type SampleTapes } from './sample-tapes.ts';

/** Events of the engine for an option tape. */
export function runOptions({ optionTrades, optionQuotes, session }: SampleTapes) {
  const changes: FlowChange[] = [];
  const tape = new OptionTape({ session, onChange: (change) => changes.push(change) });
  for (const record of optionRecords(optionTrades, optionQuotes)) {
    if ('bid' in record) tape.quote(record);
    else tape.print(record);
  }
  tape.end();
  return { tape, events: standing(changes) };
}

/** An event in the ledger's words. */
export function asPlanted(event: FlowEvent): Omit<PlantedEvent, 'recipe'> {
  const { eventId, eventKind, underlying, eventTsMs, side, premiumUsd, totalSize } = event;
  const legs = event.legs.map(({ contract, exchange, price, size, side, eventTsMs, sequence }) => {
    return { contract: contractId(contract), exchange, price, size, side, eventTsMs, sequence };
  });
  return { eventId, eventKind, underlying, eventTsMs, side, premiumUsd, totalSize, legs };
}

export const byId = <T extends { eventId: string }>(events: readonly T[]) =>
  [...events].sort((a, b) => (a.eventId < b.eventId ? -1 : 1));
export const planted = ({ ledger }: SampleTapes) => byId(ledger.options.events.map(({ recipe, ...event }) => event));
export const found = (tapes: SampleTapes) => byId(runOptions(tapes).events.map(asPlanted));

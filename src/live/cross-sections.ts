import { type CrossSection, coverageAt } from '../core/domain/flow/flow.ts';
import { readCrossSections } from '../store/flow/cross-sections.ts';
import type { Store } from '../store/rows/connection.ts';
import { concerns } from '../store/versions/subjects.ts';
import { flowInstants } from './replay-instants.ts';
import type { LiveEvent } from './source.ts';
import type { Reading, TopicKind } from './topics.ts';

/** State of an underlying's snapshot; null if nothing was observed. */
export interface CrossSectionState {
  event: LiveEvent<CrossSection> | null;
}

/** Number of prints in a snapshot: as of minutes of the past its sequence number is always that of the stored one. */
const printsOf = ({ byExpiration }: CrossSection) =>
  byExpiration.reduce((sum, { measures }) => sum + measures.callTradeCount + measures.putTradeCount, 0);

function eventOf(section: CrossSection, nowMs: number): LiveEvent<CrossSection> {
  const coverage = coverageAt(section.coverage, nowMs);
  const { sessionDate, status } = coverage;
  const position = [sessionDate.replaceAll('-', ''), section.seq, status === 'eod_reconciled' ? 1 : 0];
  return {
    value: { ...section, coverage },
    cursor: [...position, printsOf(section)].join('.'),
    slot: section.symbol,
  };
}

/** Live cross-sections, one topic per underlying: the latest snapshot. */
export function crossSectionTopics(store: Store): TopicKind<CrossSectionState, CrossSection> {
  return {
    dataset: 'option_tape',
    queued: 'latest',
    concerns: (symbol, change) => concerns(change, 'flow', symbol),
    async read(topics, nowMs) {
      const sections = await readCrossSections(store, [...topics.keys()], null, nowMs);
      return new Map(
        [...topics].map(([symbol, before]): [string, Reading<CrossSectionState, CrossSection>] => {
          const section = sections.get(symbol);
          const event = section ? eventOf(section, nowMs) : null;
          if (event === null || event.cursor === before?.event?.cursor)
            return [symbol, { state: { event: before?.event ?? null }, events: [] }];
          return [symbol, { state: { event }, events: [event] }];
        }),
      );
    },
    instants: (symbols, fromMs, toMs) => flowInstants(store, symbols, fromMs, toMs),
    first: ({ event }) => (event ? [event] : []),
    cursor: ({ event }) => event?.cursor ?? '0',
  };
}

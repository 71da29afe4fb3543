import type { FlowEventKind, FlowLeg, FlowSide } from './flow.ts';

/** The side that all of `sides` have; `unknown` if they differ. */
export function commonSide(sides: readonly FlowSide[]): FlowSide {
  const [first] = sides;
  return first !== undefined && sides.every((side) => side === first) ? first : 'unknown';
}

/**
 * Figures of an event from its legs (spec 2.13). Each figure is a column of the store and a field of the graph of the
 * same name.
 */
export function eventFigures(kind: FlowEventKind, legs: readonly FlowLeg[]) {
  const prices = legs.map(({ price }) => price);
  return {
    /** Lowest and highest leg price, dollars a share. */
    priceLow: Math.min(...prices),
    priceHigh: Math.max(...prices),
    side: commonSide(legs.map(({ side }) => side)),
    multiLeg: kind === 'multi_leg',
  };
}
export type EventFigures = ReturnType<typeof eventFigures>;

import type { EventFigures, FlowEventKind, FlowLeg, FlowSide } from './flow.ts';

/** The side of all `sides`; `unknown` if they differ. */
export function commonSide(sides: readonly FlowSide[]): FlowSide {
  const [first] = sides;
  return first !== undefined && sides.every((side) => side === first) ? first : 'unknown';
}

/** Figures of an event from its legs (spec 2.13). */
export function eventFigures(kind: FlowEventKind, legs: readonly FlowLeg[]): EventFigures {
  const prices = legs.map(({ price }) => price);
  return {
    priceLow: Math.min(...prices),
    priceHigh: Math.max(...prices),
    side: commonSide(legs.map(({ side }) => side)),
    multiLeg: kind === 'multi_leg',
  };
}

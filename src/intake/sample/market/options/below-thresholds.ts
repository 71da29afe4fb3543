import {
  eventFromUsd,
  fills,
  type Leg,
  millisecond,
  type PlannedPrint,
  premiumFrom,
  type Stage,
  sizeFor,
  sizeUnder,
  type TapePlan,
} from '../tape-plan.ts';

/** A single print just below the bound. */
export function smallBlock({ legs, exchanges }: Stage): TapePlan {
  const { ask } = legs[0]!;
  const size = sizeUnder(eventFromUsd.single_block, ask);
  return { kind: null, prints: fills([size], [0], exchanges, ask, 209, 'buy_inferred'), cancelled: [] };
}

/** Two prints that would be a sweep of 60 to 90 thousand dollars, but differ in `apart`. */
export function noSweep(
  { legs, exchanges, random }: Stage,
  apart: 'time' | 'exchange' | 'side' | 'premium',
): TapePlan | null {
  if (exchanges.length < 2) return null;
  const [{ bid, ask }] = legs as [Leg];
  // One contract more or less must not cross the bound.
  if (ask > 1500) return null;
  const premium = apart === 'premium' ? 24_000 : 30_000 + random.next() * 15_000;
  const secondPrice = apart === 'side' ? bid : ask;
  const prints = fills(
    [sizeUnder(premium, ask), sizeUnder(premium, secondPrice) + 1],
    [0, apart === 'time' ? 101 + Math.floor(Math.max(0, random.next() - 0.5) * 160) : 60],
    apart === 'exchange' ? [exchanges[0]!, exchanges[0]!] : exchanges,
    ask,
    219,
    'buy_inferred',
  );
  prints[1] = { ...prints[1]!, cents: secondPrice };
  return { kind: null, prints, cancelled: [] };
}

/** Two legs that would be a spread above the bound, but are too far apart in time, or on two exchanges. */
export function noSpread({ legs, exchanges }: Stage, apart: 'time' | 'exchange'): TapePlan | null {
  if (apart === 'exchange' && exchanges.length < 2) return null;
  const prints = legs.map(
    ({ ask }, leg): PlannedPrint => ({
      leg,
      atNanos: leg * (apart === 'time' ? 51 : 5) * millisecond,
      exchange: exchanges[apart === 'exchange' ? leg : 0]!,
      cents: ask,
      size: sizeUnder(90_000, ask),
      condition: 232,
      side: 'buy_inferred',
    }),
  );
  return { kind: null, prints, cancelled: [] };
}

/** A compression trade: as large as possible, and in no figure. */
export function compression({ legs, exchanges, random }: Stage): TapePlan | null {
  if (legs[0]!.contract.market.exchanges.length > 1) return null;
  const { ask } = legs[0]!;
  const size = sizeFor(premiumFrom(random, 200_000), ask);
  return { kind: null, prints: fills([size], [0], exchanges, ask, 247, 'unknown'), cancelled: [] };
}

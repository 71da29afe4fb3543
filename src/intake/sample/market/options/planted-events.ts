import type { FlowSide } from '../../../../core/domain/flow/flow.ts';
import {
  eventFromUsd,
  fills,
  microsecond,
  millisecond,
  type PlannedPrint,
  premiumFrom,
  priceOf,
  type Stage,
  sizeFor,
  type TapePlan,
} from '../tape-plan.ts';
import { quoteTick } from './option-value.ts';

/** A single print above the bound. */
export function block({ random, legs, exchanges }: Stage, condition: number, side: FlowSide): TapePlan | null {
  const cents = priceOf(side, legs[0]!, random);
  if (cents === null) return null;
  const size = sizeFor(premiumFrom(random, eventFromUsd.single_block), cents);
  return { kind: 'single_block', prints: fills([size], [0], exchanges, cents, condition, side), cancelled: [] };
}

/** A block that becomes none: a cancel removes the execution. */
export function busted(stage: Stage): TapePlan | null {
  const plan = block(stage, 209, 'buy_inferred');
  return plan && { ...plan, cancelled: [0] };
}

/** Prints of one side in sequence over several exchanges, away from the quote. */
export function sweep(
  { random, legs, exchanges }: Stage,
  condition: number,
  side: FlowSide,
  longestGapMs: number,
): TapePlan | null {
  if (exchanges.length < 2) return null;
  const count = 2 + Math.floor(random.next() * 5);
  const premium = premiumFrom(random, eventFromUsd.sweep) / count;
  const start = priceOf(side, legs[0]!, random)!;
  const tick = 100 * quoteTick(legs[0]!.contract.market.entry);
  const step = side === 'buy_inferred' ? tick : side === 'sell_inferred' ? -tick : 0;
  let atNanos = 0;
  const prints = Array.from({ length: count }, (_, i): PlannedPrint => {
    const gap = Math.max(1, Math.floor(random.next() * longestGapMs * 1000)) * microsecond;
    // The longest allowed gaps: six prints are then 500 ms apart.
    if (i > 0) atNanos += longestGapMs === 100 ? 100 * millisecond : gap;
    const cents = Math.max(1, start + step * Math.floor(i / 2));
    const exchange = exchanges[i < 2 ? i : Math.floor(random.next() * exchanges.length)]!;
    return { leg: 0, atNanos, exchange, cents, size: sizeFor(premium, cents), condition, side };
  });
  return { kind: 'sweep', prints, cancelled: [] };
}

/** A sweep of four prints on four exchanges. The second print is cancelled; the rest is still a sweep. */
export function sweepWithCancel({ random, legs, exchanges }: Stage): TapePlan | null {
  if (exchanges.length < 4) return null;
  const { ask } = legs[0]!;
  const size = sizeFor(premiumFrom(random, eventFromUsd.sweep) / 3, ask);
  const sizes = [size, size + 1, size, size];
  const gapMs = 1 + Math.floor(random.next() * 49);
  const atMs = sizes.map((_, i) => i * gapMs);
  return { kind: 'sweep', prints: fills(sizes, atMs, exchanges, ask, 219, 'buy_inferred'), cancelled: [1] };
}

/** Legs traded together, each on the given side, within 50 ms on one exchange. */
export function spread(
  { random, legs, exchanges }: Stage,
  sides: readonly FlowSide[],
  condition: number,
  withinMs: number,
): TapePlan | null {
  const prices = legs.map((leg, i) => priceOf(sides[i]!, leg, random));
  if (prices.some((price) => price === null)) return null;
  const total = prices.reduce<number>((sum, price) => sum + price!, 0);
  const size = sizeFor(premiumFrom(random, eventFromUsd.multi_leg), total);
  const prints = legs.map(
    (_, leg): PlannedPrint => ({
      leg,
      atNanos: leg === legs.length - 1 ? withinMs * millisecond : leg * microsecond,
      exchange: exchanges[0]!,
      cents: prices[leg]!,
      size,
      condition,
      side: sides[leg]!,
    }),
  );
  return { kind: 'multi_leg', prints, cancelled: [] };
}

/** A spread that is large enough only with both legs, one of which is cancelled. */
export function brokenSpread(stage: Stage): TapePlan | null {
  const [a, b] = stage.legs.map(({ ask }) => ask) as [number, number];
  const size = sizeFor(eventFromUsd.multi_leg, a + b);
  if (size * Math.max(a, b) >= eventFromUsd.multi_leg) return null;
  const plan = spread(stage, ['buy_inferred', 'buy_inferred'], 232, 3)!;
  return { ...plan, prints: plan.prints.map((print) => ({ ...print, size })), cancelled: [0] };
}

/** One print flagged as part of a trade of stock and options. */
export function tiedToStock(stage: Stage): TapePlan | null {
  const plan = block(stage, 240, 'sell_inferred');
  return plan && { ...plan, kind: 'multi_leg' };
}

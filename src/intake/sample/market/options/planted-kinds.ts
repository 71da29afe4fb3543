import type { Stage, TapePlan } from '../tape-plan.ts';
import { compression, noSpread, noSweep, smallBlock } from './below-thresholds.ts';
import { block, brokenSpread, busted, spread, sweep, sweepWithCancel, tiedToStock } from './planted-events.ts';

/**
 * Shapes of a plan's contracts: one; two rights of a strike; two strikes of a right; two strikes of both rights.
 */
export type LegShape = 'single' | 'straddle' | 'vertical' | 'condor';

/** A kind of planted trade. */
export interface Recipe {
  name: string;
  shape: LegShape;
  /** True if its prints have multi-leg conditions: it then has a time slot of its ticker to itself. */
  flagged: boolean;
  /** Creates a plan; null if the contracts do not fit. */
  plan(stage: Stage): TapePlan | null;
}

const buy = 'buy_inferred' as const;
const sell = 'sell_inferred' as const;
const single = (name: string, plan: Recipe['plan']): Recipe => ({ name, shape: 'single', flagged: false, plan });
const flagged = (name: string, shape: LegShape, plan: Recipe['plan']): Recipe => ({ name, shape, flagged: true, plan });

/** Recipes of planted trades, in the order of use. Conditions are the vendor's numbers for OPRA's message types. */
export const recipes: readonly Recipe[] = [
  single('block bought', (stage) => block(stage, 209, buy)),
  single('sweep bought', (stage) => sweep(stage, 219, buy, 40)),
  flagged('vertical', 'vertical', (stage) => spread(stage, [buy, sell], 232, 1)),
  single('block sold', (stage) => block(stage, 209, sell)),
  single('sweep sold', (stage) => sweep(stage, 219, sell, 40)),
  flagged('straddle bought', 'straddle', (stage) => spread(stage, [buy, buy], 232, 2)),
  single('block in the middle', (stage) => block(stage, 209, 'neutral')),
  single('sweep with the longest gaps', (stage) => sweep(stage, 209, buy, 100)),
  flagged('condor', 'condor', (stage) => spread(stage, [buy, sell, sell, buy], 236, 7)),
  single('late block', (stage) => block(stage, 204, 'unknown')),
  single('sweep of auctions', (stage) => sweep(stage, 228, buy, 30)),
  flagged('straddle sold, as far apart as legs may be', 'straddle', (stage) => spread(stage, [sell, sell], 235, 50)),
  single('late block out of sequence', (stage) => block(stage, 202, 'unknown')),
  single('block on the floor', (stage) => block(stage, 231, buy)),
  flagged('vertical in an auction', 'vertical', (stage) => spread(stage, [buy, sell], 233, 1)),
  single('block in a cross', (stage) => block(stage, 229, 'unknown')),
  single('sweep with a print cancelled', sweepWithCancel),
  flagged('tied to stock', 'single', tiedToStock),
  single('block cancelled', busted),
  flagged('spread with a leg cancelled', 'straddle', brokenSpread),
  single('block under the bound', smallBlock),
  single('sweep under the bound', (stage) => noSweep(stage, 'premium')),
  single('no sweep: too far apart', (stage) => noSweep(stage, 'time')),
  single('no sweep: one exchange', (stage) => noSweep(stage, 'exchange')),
  single('no sweep: two sides', (stage) => noSweep(stage, 'side')),
  flagged('no spread: too far apart', 'straddle', (stage) => noSpread(stage, 'time')),
  flagged('no spread: two exchanges', 'straddle', (stage) => noSpread(stage, 'exchange')),
  single('compression', compression),
];

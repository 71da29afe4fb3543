import type { FlowSide } from '../../../../core/domain/flow/flow.ts';
import type { Random } from '../random.ts';
import {
  eventFromUsd,
  fills,
  type Leg,
  microsecond,
  millisecond,
  type PlannedPrint,
  premiumFrom,
  priceOf,
  type Stage,
  sizeFor,
  sizeUnder,
  type TapePlan,
} from '../tape-plan.ts';
import { slotMs, type TapeSlots } from '../tape-slots.ts';
import type { OptionMarket, SampleContract, SampleOptionPrint } from './option-market.ts';
import { quoteTick } from './option-value.ts';

/** A planned print, and the resulting one. */
export interface PlantedPrint {
  planned: PlannedPrint;
  print: SampleOptionPrint;
}

/** A plan that was carried out. */
export interface Plant {
  recipe: string;
  plan: TapePlan;
  prints: PlantedPrint[];
}

/** The market and slots for planting. */
export interface OptionStage {
  markets: readonly OptionMarket[];
  slots: TapeSlots;
  random: Random;
}

/** One of `from`. */
export function oneOf<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random.next() * from.length)]!;
}

function shuffled<T>(random: Random, from: readonly T[]): T[] {
  const items = [...from];
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random.next() * (i + 1));
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}

/** Contracts of a shape around a traded one; null if the listing has none. */
export function contractsOf(market: OptionMarket, shape: LegShape, random: Random): SampleContract[] | null {
  const first = market.pick(random);
  if (!first || shape === 'single') return first && [first];
  const { calls, puts } = market.expiries.find(({ calls, puts }) => (first.isCall ? calls : puts).includes(first))!;
  const [same, other] = first.isCall ? [calls, puts] : [puts, calls];
  const at = same.indexOf(first);
  const beside = at + 1 + Math.floor(random.next() * 3);
  if (shape === 'straddle') return [first, other[at]!];
  if (beside >= same.length) return null;
  return shape === 'vertical' ? [first, same[beside]!] : [first, same[beside]!, other[at]!, other[beside]!];
}

/** Quotes contracts a little after an instant; the first print is at `firstMs`. */
export function quoteLegs(contracts: readonly SampleContract[], atMs: number, random: Random) {
  const quotedMs = atMs + Math.floor(random.next() * 150);
  const legs = contracts.map((contract): Leg => ({ contract, ...contract.market.quoteAt(contract, quotedMs) }));
  return { legs, quotedMs, firstMs: quotedMs + 1 + Math.floor(random.next() * 350) };
}

/** Adds quotes to the tape, in the slot that ends at `overMs`. */
export function putQuotes(legs: readonly Leg[], tsMs: number, overMs: number, random: Random): void {
  const tsNanos = Math.floor(random.next() * 1e6);
  for (const { contract, bid, ask } of legs) contract.quotes.push({ tsMs, tsNanos, bid, ask, overMs });
}

const keyOf = (exchange: number, cents: number, size: number) => `${exchange} ${cents} ${size}`;

/** True if another print is indistinguishable from a planted one. */
export function isTaken(contract: SampleContract, exchange: number, cents: number, size: number): boolean {
  return contract.planted.size > 0 && contract.planted.has(keyOf(exchange, cents, size));
}

/** True if the chain's volume has room for a plan, and no two of its prints are alike. */
function fits({ prints }: TapePlan, legs: readonly Leg[]): boolean {
  const needed = legs.map(() => 0);
  const keys = new Set<string>();
  for (const { leg, exchange, cents, size } of prints) {
    if (size < 1 || cents < 1 || isTaken(legs[leg]!.contract, exchange, cents, size)) return false;
    needed[leg]! += size;
    keys.add(`${leg} ${keyOf(exchange, cents, size)}`);
  }
  return keys.size === prints.length && needed.every((size, leg) => size <= legs[leg]!.contract.left);
}

function execute(
  plan: TapePlan,
  legs: readonly Leg[],
  firstMs: number,
  overMs: number,
  random: Random,
): PlantedPrint[] {
  const firstNanos = Math.floor(random.next() * 1e6);
  return plan.prints.map((planned) => {
    const { leg, atNanos, exchange, cents, size, condition } = planned;
    const { contract } = legs[leg]!;
    const nanos = firstNanos + atNanos;
    const stamp = { tsMs: firstMs + Math.floor(nanos / 1e6), tsNanos: nanos % 1e6 };
    contract.left -= size;
    contract.planted.add(keyOf(exchange, cents, size));
    const print = { contract, ...stamp, exchange, cents, size, condition, overMs, cancelledMs: Infinity };
    contract.prints.push(print);
    return { planned, print };
  });
}

/** Cancels a print some time later, unless the session ends before. */
export function cancelLater(print: SampleOptionPrint, { slots, random }: OptionStage): void {
  const { contract } = print;
  const atMs = slots.takeAfter(random, print.tsMs, [contract.holder]);
  if (atMs === null) return;
  const condition = random.next() < 0.7 ? 201 : 203;
  const stamp = { tsMs: atMs + Math.floor(random.next() * 900), tsNanos: Math.floor(random.next() * 1e6) };
  print.cancelledMs = atMs + slotMs;
  contract.prints.push({ ...print, ...stamp, condition, overMs: print.cancelledMs, cancelledMs: Infinity });
}

function plant(recipe: Recipe, stage: OptionStage): Plant | null {
  const { markets, slots, random } = stage;
  // Half of it where most is traded.
  const busy = markets.filter(({ entry }) => entry.chains === 'every5m');
  const market = oneOf(random, busy.length > 0 && random.next() < 0.5 ? busy : markets);
  const contracts = contractsOf(market, recipe.shape, random);
  if (!contracts || new Set(contracts).size < contracts.length) return null;
  const holders = contracts.map(({ holder }) => holder);
  const atMs = slots.take(random, recipe.flagged ? [...holders, market.holder] : holders);
  if (atMs === null) return null;
  const { legs, quotedMs, firstMs } = quoteLegs(contracts, atMs, random);
  // A print of cheap contracts would exceed the traded volume; without a bid there is no side to sell on.
  if (legs.some(({ bid }) => bid < 30)) return null;
  const plan = recipe.plan({ random, legs, exchanges: shuffled(random, market.exchanges) });
  if (!plan || !fits(plan, legs)) return null;
  const overMs = atMs + slotMs;
  const prints = execute(plan, legs, firstMs, overMs, random);
  putQuotes(legs, quotedMs, overMs, random);
  const afterMs = atMs + 1200;
  const after = contracts.map((contract) => ({ contract, ...market.quoteAt(contract, afterMs) }));
  putQuotes(after, afterMs, overMs, random);
  for (const index of plan.cancelled) cancelLater(prints[index]!.print, stage);
  return { recipe: recipe.name, plan, prints };
}

/** Plants `count` trades, cycling through the recipes. */
export function plantAll(stage: OptionStage, count: number): Plant[] {
  const planted: Plant[] = [];
  for (let i = 0; i < count; i++) {
    const recipe = recipes[i % recipes.length]!;
    // Not every contract fits every recipe.
    for (let attempt = 0; attempt < 200; attempt++) {
      const done = plant(recipe, stage);
      if (!done) continue;
      planted.push(done);
      break;
    }
  }
  return planted;
}

/** A single print just below the bound. */
function smallBlock({ legs, exchanges }: Stage): TapePlan {
  const { ask } = legs[0]!;
  const size = sizeUnder(eventFromUsd.single_block, ask);
  return { kind: null, prints: fills([size], [0], exchanges, ask, 209, 'buy_inferred'), cancelled: [] };
}

/** Two prints that would be a sweep of 60 to 90 thousand dollars, but differ in `apart`. */
function noSweep({ legs, exchanges, random }: Stage, apart: 'time' | 'exchange' | 'side' | 'premium'): TapePlan | null {
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
function noSpread({ legs, exchanges }: Stage, apart: 'time' | 'exchange'): TapePlan | null {
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
function compression({ legs, exchanges, random }: Stage): TapePlan | null {
  if (legs[0]!.contract.market.exchanges.length > 1) return null;
  const { ask } = legs[0]!;
  const size = sizeFor(premiumFrom(random, 200_000), ask);
  return { kind: null, prints: fills([size], [0], exchanges, ask, 247, 'unknown'), cancelled: [] };
}

/** A single print above the bound. */
function block({ random, legs, exchanges }: Stage, condition: number, side: FlowSide): TapePlan | null {
  const cents = priceOf(side, legs[0]!, random);
  if (cents === null) return null;
  const size = sizeFor(premiumFrom(random, eventFromUsd.single_block), cents);
  return { kind: 'single_block', prints: fills([size], [0], exchanges, cents, condition, side), cancelled: [] };
}

/** A block that becomes none: a cancel removes the execution. */
function busted(stage: Stage): TapePlan | null {
  const plan = block(stage, 209, 'buy_inferred');
  return plan && { ...plan, cancelled: [0] };
}

/** Prints of one side in sequence over several exchanges, away from the quote. */
function sweep(
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
function sweepWithCancel({ random, legs, exchanges }: Stage): TapePlan | null {
  if (exchanges.length < 4) return null;
  const { ask } = legs[0]!;
  const size = sizeFor(premiumFrom(random, eventFromUsd.sweep) / 3, ask);
  const sizes = [size, size + 1, size, size];
  const gapMs = 1 + Math.floor(random.next() * 49);
  const atMs = sizes.map((_, i) => i * gapMs);
  return { kind: 'sweep', prints: fills(sizes, atMs, exchanges, ask, 219, 'buy_inferred'), cancelled: [1] };
}

/** Legs traded together, each on the given side, within 50 ms on one exchange. */
function spread(
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
function brokenSpread(stage: Stage): TapePlan | null {
  const [a, b] = stage.legs.map(({ ask }) => ask) as [number, number];
  const size = sizeFor(eventFromUsd.multi_leg, a + b);
  if (size * Math.max(a, b) >= eventFromUsd.multi_leg) return null;
  const plan = spread(stage, ['buy_inferred', 'buy_inferred'], 232, 3)!;
  return { ...plan, prints: plan.prints.map((print) => ({ ...print, size })), cancelled: [0] };
}

/** One print flagged as part of a trade of stock and options. */
function tiedToStock(stage: Stage): TapePlan | null {
  const plan = block(stage, 240, 'sell_inferred');
  return plan && { ...plan, kind: 'multi_leg' };
}

/**
 * Shapes of a plan's contracts: one; two rights of a strike; two strikes of a right; two strikes of both rights.
 */
type LegShape = 'single' | 'straddle' | 'vertical' | 'condor';

/** A kind of planted trade. */
interface Recipe {
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

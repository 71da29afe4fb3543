import type { Random } from '../random.ts';
import type { Leg, PlannedPrint, TapePlan } from '../tape-plan.ts';
import { slotMs, type TapeSlots } from '../tape-slots.ts';
import type { OptionMarket, SampleContract, SampleOptionPrint } from './option-market.ts';
import { type LegShape, type Recipe, recipes } from './planted-kinds.ts';

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

// The world's option chains: every contract's quotes at any instant, by the seed alone.

import { americanValue } from '../../src/core/analytics/pricing/american.ts';
import { blackScholes } from '../../src/core/analytics/pricing/black-scholes.ts';
import { type ChainRow, unknownNumbers } from '../../src/core/domain/chain/chain.ts';
import { closeOf, dateOf, day, minute, newYork, openOf, tradingDay } from './calendar.ts';
import { type Contract, contractPath, hashOf, type World } from './world.ts';

/** A contract's line of a chain, as a source has it; null = not stated. */
export type ChainLine = ChainRow;

/** A chain at an instant, whole. */
export interface Page {
  underlying: string;
  /** Epoch ms. */
  ms: number;
  spot: number;
  priorClose: number;
  lines: readonly ChainLine[];
}

/** Terms of a root's contracts. */
export interface RootTerms {
  underlying: string;
  style: 'european' | 'american';
  settlement: 'am' | 'pm';
  /** Shares per contract; null = unknown, of an adjusted deliverable. */
  multiplier: number | null;
}

const american = (underlying: string): RootTerms => {
  return { underlying, style: 'american', settlement: 'pm', multiplier: 100 };
};

/** The roots of the world's chains, as the project ships them. */
export const knownTerms: Readonly<Record<string, RootTerms>> = {
  SPY: american('SPY'),
  // An adjusted deliverable: it is listed, and has no exposures.
  SPY1: { ...american('SPY'), multiplier: null },
  AAPL: american('AAPL'),
  SPX: { underlying: 'SPX', style: 'european', settlement: 'am', multiplier: 100 },
  SPXW: { underlying: 'SPX', style: 'european', settlement: 'pm', multiplier: 100 },
};

/** Underlyings with chains: a split would change the strikes of its stock. */
export const chainUnderlyings = ({ split }: World): string[] =>
  ['SPY', 'SPX', 'AAPL'].filter((symbol) => symbol !== split.symbol);

/** The instant at which contracts of a root settle. */
export const settledAt = (expiry: string, { settlement }: Pick<RootTerms, 'settlement'>): number =>
  settlement === 'am' ? openOf(expiry) : closeOf(expiry);

const bases: Readonly<Record<string, number>> = { SPY: 590, AAPL: 230, SPX: 5900 };

/** The roots and expiries that an underlying has over a world's life. */
function listed({ sessions }: World, underlying: string): Pick<Contract, 'root' | 'expiry'>[] {
  const [first, last] = [sessions[0]!, sessions.at(-1)!];
  const of = (root: string, expiries: readonly string[]) => expiries.map((expiry) => ({ root, expiry }));
  if (underlying === 'AAPL') return of('AAPL', [sessions[1]!, last, tradingDay(last, 15)]);
  const [monthly, quarterly] = [tradingDay(last, 12), tradingDay(last, 50)];
  if (underlying === 'SPX')
    return [...of('SPXW', [first, sessions[2]!, tradingDay(last, 1), monthly]), ...of('SPX', [monthly, quarterly])];
  return [...of('SPY', [first, sessions[1]!, sessions[3]!, tradingDay(last, 2), quarterly]), ...of('SPY1', [monthly])];
}

/** The price of an underlying at an instant: a path that now and then moves by more than files of one chain may. */
export function spotAt({ seed }: World, underlying: string, ms: number): number {
  const base = bases[underlying]!;
  const phase = (hashOf(`${seed} ${underlying}`) % 1000) / 159;
  const [wave, jump] = [
    Math.sin(phase + ms / (50 * minute)),
    hashOf(`${seed} ${underlying} ${Math.floor(ms / (7 * minute))}`),
  ];
  return Math.round(100 * base * (1 + 0.005 * wave + 0.0008 * ((jump % 5) - 2))) / 100;
}

const dividendYield = 0.013;
const worldRate = 0.047;

/** The value and greeks of a contract at an instant. */
function priced({ strike, right, root, expiry }: Contract, ms: number, spot: number) {
  const terms = knownTerms[root]!;
  const dollars = strike / 1000;
  const years = Math.max(0, settledAt(expiry, terms) - ms) / (365 * day);
  const away = Math.log(dollars / spot);
  const volatility = Math.round(1e4 * (0.17 - 0.5 * away + 2 * away * away)) / 1e4;
  const option = { right, spot, strike: dollars, years, rate: worldRate, dividendYield, volatility };
  if (years === 0) {
    const value = Math.max(0, right === 'call' ? spot - dollars : dollars - spot);
    return { value, volatility: 0, delta: 0, gamma: 0, theta: 0, vega: 0 };
  }
  const { delta, gamma, theta, vega, price } = blackScholes(option);
  const value = terms.style === 'american' ? americanValue({ ...option, dividends: [] }).price : price;
  return { value, volatility, delta, gamma, theta: theta / 365, vega: vega / 100 };
}

const cents = (value: number) => Math.round(value * 100) / 100;
const decimals = (value: number, count: number) => Number(value.toFixed(count));

/** A contract's line at an instant. */
function lineOf({ seed }: World, contract: Contract, ms: number, spot: number): ChainLine {
  const { value, volatility, delta, gamma, theta, vega } = priced(contract, ms, spot);
  const chance = hashOf(`${seed} ${dateOf(ms)} ${contractPath(contract)}`);
  const half = Math.max(0.02, value * (0.004 + (chance % 3) * 0.002));
  const bid = Math.max(0, Math.floor(100 * (value - half)) / 100);
  const elapsed = Math.min(1, Math.max(0, ms - openOf(dateOf(ms))) / (390 * minute));
  const volume = Math.floor((chance % 2000) * elapsed);
  return {
    ...contract,
    ...unknownNumbers,
    openInterest: chance % 9 === 0 ? 0 : (chance >>> 4) % 6000,
    volume,
    bid,
    ask: Math.ceil(100 * (value + half)) / 100,
    last: volume === 0 ? null : cents(value + 0.01),
    fmv: cents(value),
    iv: volatility || null,
    delta: decimals(delta, 4),
    gamma: decimals(gamma, 5),
    theta: decimals(theta, 4),
    vega: decimals(vega, 4),
    sharesPerContract: null,
  };
}

const strikeSteps = [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5];

const pages = new WeakMap<World, Map<string, Page>>();

/** An underlying's chain at an instant. */
export function pageOf(world: World, underlying: string, ms: number): Page {
  const known = pages.get(world) ?? new Map<string, Page>();
  pages.set(world, known);
  const key = `${underlying} ${ms}`;
  const found = known.get(key);
  if (found) return found;
  const [spot, date] = [spotAt(world, underlying, ms), dateOf(ms)];
  const base = bases[underlying]!;
  const lines = listed(world, underlying)
    .filter(({ expiry }) => expiry >= date)
    .flatMap((group) =>
      strikeSteps.flatMap((step) =>
        (['call', 'put'] as const).map((right) => {
          const strike = 1000 * Math.round(base * (1 + 0.011 * step));
          return lineOf(world, { ...group, right, strike }, ms, spot);
        }),
      ),
    );
  const page: Page = {
    underlying,
    ms,
    spot,
    priorClose: spotAt(world, underlying, closeOf(tradingDay(date, -1))),
    lines,
  };
  known.set(key, page);
  return page;
}

/** Instants of a session at which its chains are downloaded, ascending. */
export function downloadTimes(session: string): number[] {
  const [open, close] = [openOf(session), closeOf(session)];
  const within = [1, 6, 11, 17, 31, 95, 180].map((at) => open + at * minute);
  return [newYork(session, 500), ...within, close - 10 * minute, close - 2 * minute, close + 5 * minute];
}

import { solveChain } from '../src/core/analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../src/core/analytics/gex/capture.ts';
import { americanPrice } from '../src/core/analytics/pricing/american.ts';
import { blackScholes, europeanVolatility } from '../src/core/analytics/pricing/black-scholes.ts';
import { yearsUntil } from '../src/core/analytics/pricing/chain-groups.ts';
import { type ChainCapture, type ChainRow, solveOrigins, unknownNumbers } from '../src/core/domain/chain/chain.ts';
import { lastInstant } from '../src/core/domain/chain/option-root.ts';
import { addDays, exchangeInstant } from '../src/core/domain/market-time.ts';
import { randomFrom } from '../src/intake/sample/market/random.ts';
import { tapeSession } from './tape-market.ts';

const market = { spot: 600, rate: 0.045, dividendYield: 0.012 };
const rounds = 5;

/** Median of the CPU seconds of some rounds, after a warm-up. */
function cpuSeconds(work: () => void): number {
  const runs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    if (round > 0) runs.push((user + system) / 1e6);
  }
  return runs.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
}

/** Inputs of one solve. */
interface Priced {
  right: 'call' | 'put';
  price: number;
  forward: number;
  strike: number;
  years: number;
  discount: number;
}

function pricedOptions(count: number): Priced[] {
  const random = randomFrom(7);
  const options: Priced[] = [];
  while (options.length < count) {
    const right = random.next() < 0.5 ? 'call' : 'put';
    const years = (1 + 700 * random.next() ** 3) / 365;
    const volatility = 0.05 + 1.5 * random.next() ** 3;
    const strike = market.spot * Math.exp(1.5 * volatility * Math.sqrt(years) * random.normal());
    const { price } = blackScholes({ ...market, right, strike, years, volatility });
    const forward = market.spot * Math.exp((market.rate - market.dividendYield) * years);
    const discount = Math.exp(-market.rate * years);
    const intrinsic = discount * Math.max(0, right === 'call' ? forward - strike : strike - forward);
    // At least a tenth of a cent of time value: less is not quoted.
    if (price - intrinsic >= 1e-3) options.push({ right, price, forward, strike, years, discount });
  }
  return options;
}

/**
 * European implied volatilities solved in a CPU second: options of a day to two years, volatilities from 5 % to 155 %.
 * The error is by how many dollars the price at a solved volatility is off at worst.
 */
export function europeanSolves(): { perSecond: number; worstErrorUsd: number } {
  const options = pricedOptions(200_000);
  const solved = new Float64Array(options.length);
  const seconds = cpuSeconds(() => {
    for (let i = 0; i < options.length; i++) {
      const { right, price, forward, strike, years, discount } = options[i]!;
      solved[i] = europeanVolatility(right, price, forward, strike, years, discount);
    }
  });
  const errors = options.map(({ right, price, strike, years }, i) =>
    Math.abs(blackScholes({ ...market, right, strike, years, volatility: solved[i]! }).price - price),
  );
  // Also wrong, and not skipped, when one is NaN.
  const worstErrorUsd = errors.reduce((worst, error) => (error <= worst ? worst : error), 0);
  return { perSecond: options.length / seconds, worstErrorUsd };
}

const capturedAt = exchangeInstant(tapeSession, 11 * 60);

/** 10,000 American contracts: 25 expiries of 200 strikes, a cent or more about prices on a skewed smile. */
function americanChain(): ChainCapture {
  const rows: ChainRow[] = [];
  for (let i = 0; i < 25; i++) {
    const expiry = addDays(tapeSession, i < 10 ? i : 10 + 3 * (i - 10) ** 2);
    const years = yearsUntil(lastInstant(expiry, 'pm'), capturedAt);
    for (let n = 0; n < 200; n++) {
      const strike = 400 + 2 * n;
      for (const right of ['call', 'put'] as const) {
        const away = Math.log(strike / market.spot);
        const volatility = Math.max(0.08, 0.17 - 0.22 * away + 0.5 * away * away);
        const price = americanPrice({ ...market, right, strike, years, volatility });
        const half = Math.max(0.01, Math.round(price * 0.5) / 100);
        rows.push({
          ...unknownNumbers,
          root: 'SPY',
          expiry,
          right,
          strike: strike * 1000,
          openInterest: 100 + (strike % 7) * 250,
          volume: 10,
          bid: Math.max(0, Math.round((price - half) * 100) / 100),
          ask: Math.round((price + half) * 100) / 100,
          sharesPerContract: 100,
        });
      }
    }
  }
  return {
    underlying: 'SPY',
    capturedAt,
    sessionDate: tapeSession,
    spot: market.spot,
    priorCloseSpot: 598,
    partial: false,
    rows,
  };
}

/** CPU seconds of a GEX capture of a chain. */
export interface CaptureCost {
  contracts: number;
  /** Number of contracts whose volatility came from their own or their strike's quotes, not from the neighbours'. */
  fromOwnQuotes: number;
  /** The first of the process, and the middle one of those that followed. */
  first: number;
  warm: number;
}

/** From a 10,000-contract American chain's quotes to its GEX capture. */
export function gexCaptureCost(): CaptureCost {
  const chain = americanChain();
  const options = { rate: market.rate, gammaSource: 'solve' } as const;
  const capture = () => {
    if (!computeGexCapture(chain, options)) throw new Error('the chain gives no capture');
  };
  const start = process.cpuUsage();
  capture();
  const { user, system } = process.cpuUsage(start);
  const own: readonly number[] = [solveOrigins.indexOf('outOfTheMoney'), solveOrigins.indexOf('inTheMoney')];
  const fromOwnQuotes = solveChain(chain, options).origin.filter((origin) => own.includes(origin)).length;
  return { contracts: chain.rows.length, fromOwnQuotes, first: (user + system) / 1e6, warm: cpuSeconds(capture) };
}

import type { SessionDate } from '../../../../core/domain/market-time.ts';
import { randomFrom, seedOf } from '../random.ts';
import type { SampleSymbol } from '../universe.ts';

/** The simulated vendor's figures of a strike: prices in dollars, greeks by Black and Scholes. */
export interface StrikeValue {
  call: number;
  put: number;
  callDelta: number;
  /** Gamma of both rights. */
  gamma: number;
}

/** The simulated market's rates: continuous, fractions per year. */
export const sampleRate = 0.045;
export const sampleDividendYield = 0.012;

/**
 * Cumulative normal (Abramowitz and Stegun 26.2.17, 7.5e-8): precise enough for a vendor's figures, and fast for
 * millions of them.
 */
function cumulativeNormal(x: number): number {
  const k = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail =
    0.3989422804014327 *
    Math.exp(-0.5 * x * x) *
    k *
    (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  return x >= 0 ? 1 - tail : tail;
}

/** Values of a strike; `years` must be above 0. An option is never worth less than its exercise value. */
export function strikeValue(spot: number, strike: number, years: number, volatility: number): StrikeValue {
  const deviation = volatility * Math.sqrt(years);
  const carry = Math.exp(-sampleDividendYield * years);
  const discount = Math.exp(-sampleRate * years);
  const d1 = (Math.log(spot / strike) + (sampleRate - sampleDividendYield) * years) / deviation + deviation / 2;
  const n1 = cumulativeNormal(d1);
  const n2 = cumulativeNormal(d1 - deviation);
  const call = spot * carry * n1 - strike * discount * n2;
  const put = call - spot * carry + strike * discount;
  return {
    call: Math.max(call, spot - strike, 0),
    put: Math.max(put, strike - spot, 0),
    callDelta: carry * n1,
    gamma: (carry * 0.3989422804014327 * Math.exp(-0.5 * d1 * d1)) / (spot * deviation),
  };
}

/** The simulated smile: lower strikes dearer, both wings up. `atm` is the ticker's volatility, a fraction per year. */
export function smile(atm: number, spot: number, strike: number, years: number): number {
  const level = atm * (1 + 0.12 * Math.exp(-10 * years));
  const m = Math.log(strike / spot) / (level * Math.sqrt(Math.max(years, 0.004)));
  return Math.min(3, Math.max(0.04, level * (1 - 0.06 * m + 0.02 * m * m)));
}

/** A ticker's volatility at the money in a session, a fraction per year. */
export function sessionVolatility(entry: SampleSymbol, session: SessionDate): number {
  return entry.volatility * Math.exp(0.06 * randomFrom(seedOf('volatility', entry.symbol, session)).normal());
}

/** Tick size of a ticker's option quotes, dollars. */
export function quoteTick({ kind }: SampleSymbol): number {
  return kind === 'index' ? 0.05 : 0.01;
}

const cents = (price: number) => Math.round(price * 100) / 100;

/** The quote of a contract worth `price`, dollars; no bid below a tick's worth. */
export function quoteAround(price: number, tick: number): { bid: number; ask: number } {
  const half = Math.max(tick / 2, 0.012 * price);
  const scale = 1 / tick;
  return {
    bid: Math.max(0, cents(Math.floor((price - half) * scale + 1e-9) * tick)),
    ask: cents(Math.max(Math.ceil((price + half) * scale - 1e-9), 1) * tick),
  };
}

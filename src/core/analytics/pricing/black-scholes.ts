import type { OptionRight } from '../../domain/chain/option-contract.ts';
import { normalCdf, normalPdf } from './normal.ts';

/** Inputs of a European option's value. Prices in dollars per share, rates continuous, time in years of 365 days. */
export interface OptionInputs {
  right: OptionRight;
  /** The underlying's price. */
  spot: number;
  strike: number;
  years: number;
  /** Risk-free rate r. */
  rate: number;
  /** Continuous dividend (and borrow) yield q; the forward is S·e^{(r−q)T}. */
  dividendYield: number;
  /** Annualized fraction σ. */
  volatility: number;
}

/** Value and sensitivities of one option per share. */
export interface OptionValue {
  /** Dollars per share. */
  price: number;
  /** Change of price per $1 of spot. */
  delta: number;
  /** Change of delta per $1 of spot. */
  gamma: number;
  /** Dollars per 1.00 of volatility (÷ 100 for a vol point). */
  vega: number;
  /** Dollars per year as time passes (÷ 365 for a day). */
  theta: number;
  /** Change of delta per 1.00 of volatility. */
  vanna: number;
  /** Change of delta per year as time passes (÷ 365 for a day). */
  charm: number;
}

/** Without time or volatility the option is worth a forward or nothing. */
function certainValue({ right, spot, strike, years, rate, dividendYield }: OptionInputs): OptionValue {
  const sign = right === 'call' ? 1 : -1;
  const time = Math.max(0, years);
  const spotValue = spot * Math.exp(-dividendYield * time);
  const strikeValue = strike * Math.exp(-rate * time);
  const price = Math.max(0, sign * (spotValue - strikeValue));
  const alive = price > 0 ? sign : 0;
  return {
    price,
    delta: (alive * spotValue) / spot,
    gamma: 0,
    vega: 0,
    theta: alive * (dividendYield * spotValue - rate * strikeValue),
    vanna: 0,
    charm: (alive * dividendYield * spotValue) / spot,
  };
}

/** Generalised Black–Scholes–Merton with a continuous yield (Haug, Option Pricing Formulas, ch. 1–2). */
export function blackScholes(inputs: OptionInputs): OptionValue {
  const { right, spot, strike, years, rate, dividendYield, volatility } = inputs;
  if (!(years > 0) || !(volatility > 0)) return certainValue(inputs);
  const sign = right === 'call' ? 1 : -1;
  const carry = rate - dividendYield;
  const rootT = Math.sqrt(years);
  const deviation = volatility * rootT;
  const d1 = (Math.log(spot / strike) + carry * years) / deviation + 0.5 * deviation;
  const d2 = d1 - deviation;
  const yieldFactor = Math.exp(-dividendYield * years);
  const density = yieldFactor * normalPdf(d1);
  const spotTerm = yieldFactor * normalCdf(sign * d1);
  const strikeTerm = strike * Math.exp(-rate * years) * normalCdf(sign * d2);
  return {
    price: Math.max(0, sign * (spot * spotTerm - strikeTerm)),
    delta: sign * spotTerm,
    gamma: density / (spot * deviation),
    vega: spot * density * rootT,
    theta: (-spot * density * volatility) / (2 * rootT) + sign * (dividendYield * spot * spotTerm - rate * strikeTerm),
    vanna: (-density * d2) / volatility,
    charm: -density * (carry / deviation - d2 / (2 * years)) + sign * dividendYield * spotTerm,
  };
}

/** The yield q at which S·e^{(r−q)T} is `forward`. */
export function yieldOfForward(forward: number, spot: number, rate: number, years: number): number {
  return rate - Math.log(forward / spot) / years;
}

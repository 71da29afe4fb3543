import type { OptionRight } from '../../domain/chain/option-contract.ts';

/** A cash dividend with an ex-date before an option's expiry. */
export interface CashDividend {
  /** Years to the last instant before the ex-date; 0 once that has passed and the next session is the ex-date. */
  years: number;
  /** Dollars per share. */
  amount: number;
}

export const noDividends: readonly CashDividend[] = [];

/**
 * Present value of dividends at an instant, dollars per share: those not yet ex then, discounted from their ex-dates.
 */
export function presentDividends(dividends: readonly CashDividend[], rate: number, atYears = 0): number {
  let sum = 0;
  for (const { years, amount } of dividends) {
    if (years >= atYears) sum += amount * Math.exp(-rate * (years - atYears));
  }
  return sum;
}

/** A tree's steps, and the terms of exercise. */
export interface ExerciseTerms {
  right: OptionRight;
  strike: number;
  years: number;
  rate: number;
  steps: number;
  /** Ascending. */
  dividends: readonly CashDividend[];
}

/**
 * Fills `strikes` with the strike less the dividends not yet ex, dollars, at each level of a tree of the price without
 * dividends. A call is exercised at the last instant before an ex-date, which is between two levels: the earlier one is
 * used, with the strike discounted from that instant.
 */
export function fillExerciseStrikes(
  strikes: Float64Array,
  { right, strike, years, rate, steps, dividends }: ExerciseTerms,
): void {
  const step = years / steps;
  for (let level = 0; level < steps; level++) {
    const time = level * step;
    const next = dividends.find((dividend) => dividend.years >= time && dividend.years < time + step);
    const wait = right === 'call' && next !== undefined ? next.years - time : 0;
    strikes[level] = strike * Math.exp(-rate * wait) - presentDividends(dividends, rate, time);
  }
}

import type { OptionRight } from '../../../src/core/domain/chain/option-contract.ts';

/** An American option on a share that pays one dividend, as a reference prices it. Dollars a share. */
export interface DividendOption {
  right: OptionRight;
  /** With the dividend. */
  spot: number;
  strike: number;
  years: number;
  rate: number;
  dividendYield: number;
  volatility: number;
  dividend: number;
  /** Years to the last instant before the ex-date. */
  exYears: number;
}

/**
 * Its price on a Cox–Ross–Rubinstein tree of the price without the dividend: another tree than the project's, whose
 * steps are cut so that one of them ends at the last instant before the ex-date.
 */
export function escrowedTreePrice(option: DividendOption, steps = 400): number {
  const { right, spot, strike, years, rate, dividendYield, volatility, dividend, exYears } = option;
  const sign = right === 'call' ? 1 : -1;
  const exStep = Math.min(steps - 1, Math.max(0, Math.round((exYears / years) * steps)));
  // Before and after the ex-date steps have two lengths, the same in variance and drift.
  const lengths = Array.from({ length: steps }, (_, i) =>
    i < exStep ? exYears / exStep : (years - exYears) / (steps - exStep),
  );
  const bare = spot - dividend * Math.exp(-rate * exYears);
  const up = volatility * Math.sqrt(years / steps);
  const values = Float64Array.from({ length: steps + 1 }, (_, i) =>
    Math.max(0, sign * (bare * Math.exp(up * (2 * i - steps)) - strike)),
  );
  let time = years;
  for (let step = steps - 1; step >= 0; step--) {
    const length = lengths[step]!;
    time -= length;
    const growth = Math.exp((rate - dividendYield) * length);
    const chance = (growth - Math.exp(-up)) / (Math.exp(up) - Math.exp(-up));
    const discount = Math.exp(-rate * length);
    const toCome = step <= exStep ? dividend * Math.exp(-rate * Math.max(0, exYears - time)) : 0;
    for (let i = 0; i <= step; i++) {
      const hold = discount * (chance * values[i + 1]! + (1 - chance) * values[i]!);
      values[i] = Math.max(hold, sign * (bare * Math.exp(up * (2 * i - step)) + toCome - strike));
    }
  }
  return values[0]!;
}

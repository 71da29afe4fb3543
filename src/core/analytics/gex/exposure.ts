import type { OptionRight } from '../../domain/chain/option-contract.ts';

/** Inputs of a contract's exposures. */
export interface OpenPosition {
  right: OptionRight;
  /** Change of delta per $1. */
  gamma: number;
  /** Contracts, as of the prior close. */
  openInterest: number;
  /** Shares per contract. */
  multiplier: number;
}

/**
 * Dollars that dealers trade to stay hedged when spot moves $1 (spec 2.10): s·Γ·OI·M·S, calls +, puts −. Divide by spot
 * for shares.
 */
export function gex({ right, gamma, openInterest, multiplier }: OpenPosition, spot: number): number {
  const sign = right === 'call' ? 1 : -1;
  return sign * gamma * openInterest * multiplier * spot;
}

/** Delta-adjusted dollars per $1 move (spec 2.10): gex weighted by |Δ|. */
export function deltaAdjustedGex(position: OpenPosition & { delta: number }, spot: number): number {
  return Math.abs(position.delta) * gex(position, spot);
}

/** Dollars of dealer delta gained per vol point: s·vanna·OI·M·S·0.01, vanna per 1.00 of volatility. */
export function vannaExposure(position: Omit<OpenPosition, 'gamma'> & { vanna: number }, spot: number): number {
  return gex({ ...position, gamma: position.vanna }, spot) * 0.01;
}

/** Dollars of dealer delta gained per day: s·charm·OI·M·S/365, charm per year. */
export function charmExposure(position: Omit<OpenPosition, 'gamma'> & { charm: number }, spot: number): number {
  return gex({ ...position, gamma: position.charm }, spot) / 365;
}

/** Dollars of the underlying that holders are long: Δ·OI·M·S, calls positive and puts negative as Δ is. */
export function deltaExposure(position: Omit<OpenPosition, 'gamma'> & { delta: number }, spot: number): number {
  return position.delta * position.openInterest * position.multiplier * spot;
}

/** Dollars per vol point: s·vega·OI·M, vega in dollars a share per vol point. */
export function vegaExposure({
  right,
  vega,
  openInterest,
  multiplier,
}: Omit<OpenPosition, 'gamma'> & { vega: number }): number {
  return (right === 'call' ? 1 : -1) * vega * openInterest * multiplier;
}

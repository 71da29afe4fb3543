import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import type { OptionRight } from '../../domain/chain/option-contract.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { roundTo } from '../../domain/units.ts';
import { groupChain, resolveMultiplier } from '../pricing/chain-groups.ts';

/** Inputs of a contract's exposures. */
interface OpenPosition {
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

/** Number of decimals of a number's shortest text. */
function decimalsOf(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
}

/** Number of decimals of a source's gammas: the maximum; null without a gamma above zero. */
export function gammaDecimals(rows: readonly ChainRow[]): number | null {
  let most: number | null = null;
  for (const { gamma } of rows) if (gamma) most = Math.max(most ?? 0, decimalsOf(gamma));
  return most;
}

/**
 * Bias of the net gex from rounding gammas of a solved chain to `decimals` decimals, dollars per $1 move: that of the
 * rounded gammas, less that of the exact ones. `price` of the underlying, dollars.
 */
export function roundingBias(chain: ChainCapture, decimals: number, price: number, roots?: OptionRoots): number {
  let bias = 0;
  for (const group of groupChain(chain, roots)) {
    for (const { call, put } of group.strikes) {
      for (const index of [call, put]) {
        const row = chain.rows[index];
        const gamma = row?.solved?.gamma ?? null;
        if (!row?.openInterest || gamma === null) continue;
        const { right, openInterest } = row;
        const position = { right, openInterest, multiplier: resolveMultiplier(group, row) };
        bias += gex({ ...position, gamma: roundTo(gamma, decimals) - gamma }, price);
      }
    }
  }
  return bias;
}

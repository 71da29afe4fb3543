import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { roundTo } from '../../domain/units.ts';
import { groupChain, resolveMultiplier } from '../pricing/chain-groups.ts';
import { gex } from './exposure.ts';

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

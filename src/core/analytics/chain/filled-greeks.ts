import { type ChainCapture, type ChainRow, type FilledGreek, filledGreekNames } from '../../domain/chain/chain.ts';
import { greeksAt, type SolvedGroup } from './solve-chain.ts';

/** True for a row whose source gives a volatility and lacks a greek. */
const lacksGreeks = (row: ChainRow) =>
  row.iv !== null && row.iv > 0 && filledGreekNames.some((name) => row[name] === null);

/** The missing greeks of a row, at the source's volatility; null if one cannot be computed. */
function lackingGreeks(row: ChainRow, group: SolvedGroup): Partial<Record<FilledGreek, number>> | null {
  const { vega, ...greeks } = greeksAt(row, group, row.iv!);
  const filled = filledGreekNames
    .filter((name) => row[name] === null)
    .map((name) => [name, name === 'vega' ? vega() : greeks[name]] as const);
  return filled.every(([, value]) => Number.isFinite(value)) ? Object.fromEntries(filled) : null;
}

/**
 * A chain with greeks filled in at the source's volatility, in the market in which the chain is priced; `groups`
 * contain it. Exposures are not based on them.
 */
export function withFilledGreeks(chain: ChainCapture, groups: readonly SolvedGroup[]): ChainCapture {
  if (!chain.rows.some(lacksGreeks)) return chain;
  const rows = [...chain.rows];
  for (const group of groups)
    for (const { call, put } of group.strikes)
      for (const index of [call, put]) {
        const row = rows[index];
        const filled = row && lacksGreeks(row) ? lackingGreeks(row, group) : null;
        if (filled) rows[index] = { ...row!, filled };
      }
  return { ...chain, rows };
}

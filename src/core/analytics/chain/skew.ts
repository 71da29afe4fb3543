import { type ChainRow, usedGreeks } from '../../domain/chain/chain.ts';
import type { ListedStrike } from '../pricing/chain-groups.ts';

/** Skew of an expiry at 25 delta, annualized fractions. Null when the smile does not reach 25 delta on a side. */
export interface Skew {
  /** iv(Δc = 0.25) − iv(Δp = −0.25): negative where puts are dearer. */
  riskReversal25: number | null;
  /** The mean of the two less the volatility at the money; null without that as well. */
  butterfly25: number | null;
}

/** |Δ| at which skew is measured. */
const skewDelta = 0.25;

/**
 * Volatility at |Δ| = 0.25 on one side of the smile, linear in Δ between neighbouring strikes; null if no two of them
 * enclose it. `rows`: contracts of the side, the one nearest the money first.
 */
function volatilityAtDelta(rows: readonly ChainRow[]): number | null {
  let before: { delta: number; iv: number } | null = null;
  for (const row of rows) {
    const { iv, delta } = usedGreeks(row);
    const isSmile = row.solved === undefined || row.solved.origin === 'outOfTheMoney';
    if (iv === null || !(iv > 0) || delta === null || !isSmile) continue;
    const next = { delta: Math.abs(delta), iv };
    if (next.delta <= skewDelta) {
      if (before === null) return next.delta === skewDelta ? iv : null;
      const share = (before.delta - skewDelta) / (before.delta - next.delta);
      return before.iv + share * (next.iv - before.iv);
    }
    before = next;
  }
  return null;
}

/**
 * Skew of an expiry on its out-of-the-money smile: calls at or above the forward, puts below. Of a solved capture the
 * contracts whose own quote gave the volatility, else those of the source.
 */
export function skewOf(
  { strikes, forward }: { strikes: readonly ListedStrike[]; forward: number | null },
  rows: readonly ChainRow[],
  atmIv: number | null,
): Skew {
  if (forward === null) return { riskReversal25: null, butterfly25: null };
  const calls = strikes.filter(({ dollars }) => dollars >= forward).map(({ call }) => rows[call]);
  const puts = strikes
    .filter(({ dollars }) => dollars < forward)
    .map(({ put }) => rows[put])
    .reverse();
  const [call, put] = [calls, puts].map((side) => volatilityAtDelta(side.filter((row) => row !== undefined)));
  if (call == null || put == null) return { riskReversal25: null, butterfly25: null };
  return { riskReversal25: call - put, butterfly25: atmIv === null ? null : (call + put) / 2 - atmIv };
}

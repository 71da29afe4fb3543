import type { ListedStrike } from '../pricing/chain-groups.ts';
import type { SolvedGroup } from './solve-chain.ts';

/** The usable strike nearest the forward, the lower of two equally near ones; null if none is usable. */
export function nearestToForward(
  { strikes, forward }: Pick<SolvedGroup, 'strikes' | 'forward'>,
  usable: (listed: ListedStrike) => boolean = () => true,
): ListedStrike | null {
  let nearest: ListedStrike | null = null;
  for (const listed of strikes) {
    const closer = nearest === null || Math.abs(listed.dollars - forward) < Math.abs(nearest.dollars - forward);
    if (closer && usable(listed)) nearest = listed;
  }
  return nearest;
}

/** Volatilities of contracts by index: an annualized fraction, NaN or null when unknown. */
export interface KnownVolatilities {
  of(index: number): number | null;
  /** True if the volatility is from the contract's own quotes, or those of the other right of its strike. */
  isSolved(index: number): boolean;
}

/**
 * The volatility at the forward of an expiry, an annualized fraction: total variance linear in ln(K/F) between the
 * nearest solved strikes on both sides; null if a side has none. Without any solved strike, of the source's
 * volatilities.
 */
export function volatilityAtForward(
  { strikes, forward }: Pick<SolvedGroup, 'strikes' | 'forward'>,
  known: KnownVolatilities,
): number | null {
  const isSolved = (index: number) => index >= 0 && known.isSolved(index);
  const anySolved = strikes.some(({ call, put }) => isSolved(call) || isSolved(put));
  const read = (index: number) => (index >= 0 && (!anySolved || known.isSolved(index)) ? (known.of(index) ?? 0) : 0);
  let below: { x: number; variance: number } | null = null;
  for (const { dollars, call, put } of strikes) {
    const [first, second] = dollars >= forward ? [call, put] : [put, call];
    const volatility = read(first) || read(second);
    if (!(volatility > 0)) continue;
    const next = { x: Math.log(dollars / forward), variance: volatility ** 2 };
    if (next.x === 0) return volatility;
    if (next.x > 0) {
      if (below === null) return null;
      const share = -below.x / (next.x - below.x);
      return Math.sqrt(below.variance + share * (next.variance - below.variance));
    }
    below = next;
  }
  return null;
}

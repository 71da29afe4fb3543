import type { ListedStrike } from '../pricing/chain-groups.ts';
import type { SolvedGroup } from './solve-chain.ts';

/** The usable strike nearest the forward, the lower of two equally near ones; null if none is usable. */
export function nearestToForward(
  { strikes, forward }: Pick<SolvedGroup, 'strikes' | 'forward'>,
  usable: (listed: ListedStrike) => boolean,
): ListedStrike | null {
  let nearest: ListedStrike | null = null;
  for (const listed of strikes) {
    const closer = nearest === null || Math.abs(listed.dollars - forward) < Math.abs(nearest.dollars - forward);
    if (closer && usable(listed)) nearest = listed;
  }
  return nearest;
}

/**
 * The index of the contract whose volatility is that at the money: at the strike nearest the forward with a known
 * volatility, the out-of-the-money side (a call at or above the forward), else the other. Null if none is known.
 */
function contractAtTheMoney(
  group: Pick<SolvedGroup, 'strikes' | 'forward'>,
  known: (index: number) => boolean,
): { listed: ListedStrike; index: number } | null {
  const isKnown = (index: number) => index >= 0 && known(index);
  const listed = nearestToForward(group, ({ call, put }) => isKnown(call) || isKnown(put));
  if (listed === null) return null;
  const { dollars, call, put } = listed;
  const [first, second] = dollars >= group.forward ? [call, put] : [put, call];
  return { listed, index: isKnown(first) ? first : second };
}

/**
 * The contract at the money among those with a known volatility, preferably a solved one: the source's volatilities
 * have a floor for deep contracts. Null if none is known.
 */
export function volatilityAtTheMoney(
  group: Pick<SolvedGroup, 'strikes' | 'forward'>,
  known: (index: number) => boolean,
  fromSource: (index: number) => boolean,
): { listed: ListedStrike; index: number } | null {
  const solved = contractAtTheMoney(group, (index) => known(index) && !fromSource(index));
  return solved ?? contractAtTheMoney(group, known);
}

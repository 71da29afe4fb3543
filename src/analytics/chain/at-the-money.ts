import type { ListedStrike } from '../pricing/chain-groups.ts';
import type { SolvedGroup } from './solve-chain.ts';

/** The usable strike nearest the forward; of two as near the lower; null when none is usable. */
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
 * The contract, as an index into the chain's rows, whose volatility is the one at the money: at the strike nearest the
 * forward that has a known volatility, the out-of-the-money side (a call at or above the forward), else the other. Null
 * when none is known.
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
 * The contract at the money of those whose volatility is known, preferring those that were solved: where none was, the
 * source's serves, which marks deep contracts with a floor. Null when none is known.
 */
export function volatilityAtTheMoney(
  group: Pick<SolvedGroup, 'strikes' | 'forward'>,
  known: (index: number) => boolean,
  fromSource: (index: number) => boolean,
): { listed: ListedStrike; index: number } | null {
  const solved = contractAtTheMoney(group, (index) => known(index) && !fromSource(index));
  return solved ?? contractAtTheMoney(group, known);
}

import { type ChainCapture, solveOrigins } from '../../domain/chain/chain.ts';
import type { GexExpiry } from '../../domain/gex/gex.ts';
import { nearestToForward, volatilityAtTheMoney } from '../chain/at-the-money.ts';
import { selfCheck, sigmaMove, straddleMove, unexercisedStraddle } from '../chain/expected-move.ts';
import type { SolvedChain, SolvedGroup } from '../chain/solve-chain.ts';
import { type ChainGroup, type ListedStrike, resolveMultiplier, settlingLast } from '../pricing/chain-groups.ts';
import { quoteMid } from '../pricing/mark.ts';
import { maxPain, type StrikeInterest } from './max-pain.ts';

/**
 * Figures of each live expiry, ascending: max pain over all its roots, the expected move from the root that settles
 * last.
 */
export function gexExpiries(chain: ChainCapture, solved: SolvedChain): GexExpiry[] {
  return [...Map.groupBy(solved.groups, (group) => group.expiry)].map(([expiry, groups]) => {
    const latest = settlingLast(groups);
    const atm = atTheMoney(latest, chain);
    const atmIv = atmVolatility(latest, solved);
    const expectedMoveStraddle = atm === null ? null : straddleMove(mid(chain, atm.call), mid(chain, atm.put));
    const price = latest.root.followsSpot ? solved.pricingSpot : latest.forward;
    const expectedMoveSigma = sigmaMove(price, atmIv, latest.years);
    const checked = selfCheck(expectedMoveSigma, checkedStraddle(latest, chain, atm), latest.years);
    const pain = maxPain(strikeInterest(groups, chain));
    return { expiry, maxPain: pain, expectedMoveStraddle, expectedMoveSigma, atmIv, ...checked };
  });
}

/** The straddle for the self-check, dollars. */
function checkedStraddle(group: SolvedGroup, chain: ChainCapture, atm: ListedStrike | null): number | null {
  if (atm === null) return null;
  const putMid = mid(chain, atm.put);
  if (group.dividend !== null) return unexercisedStraddle(putMid, atm.dollars, group);
  return straddleMove(mid(chain, atm.call), putMid);
}

function mid(chain: ChainCapture, index: number): number | null {
  const row = chain.rows[index];
  return row ? quoteMid(row.bid, row.ask) : null;
}

/** The strike nearest the forward whose call and put both have a mid; the lower of two equally near ones. */
function atTheMoney(group: SolvedGroup, chain: ChainCapture): ListedStrike | null {
  return nearestToForward(group, ({ call, put }) => mid(chain, call) !== null && mid(chain, put) !== null);
}

/** The volatility at the money; null if none is known. */
function atmVolatility(group: SolvedGroup, { iv, origin }: SolvedChain): number | null {
  const source = solveOrigins.indexOf('source');
  const found = volatilityAtTheMoney(
    group,
    (index) => iv[index]! > 0,
    (index) => origin[index] === source,
  );
  return found === null ? null : iv[found.index]!;
}

/** Open interest by strike over the groups, in shares if multipliers differ. */
export function strikeInterest(groups: readonly ChainGroup[], chain: ChainCapture): StrikeInterest[] {
  const byStrike = new Map<number, StrikeInterest>();
  for (const group of groups) {
    for (const { strike, call, put } of group.strikes) {
      let interest = byStrike.get(strike);
      if (!interest) {
        interest = { strike, calls: 0, puts: 0 };
        byStrike.set(strike, interest);
      }
      const callRow = chain.rows[call];
      const putRow = chain.rows[put];
      if (callRow) interest.calls += (callRow.openInterest ?? 0) * resolveMultiplier(group, callRow);
      if (putRow) interest.puts += (putRow.openInterest ?? 0) * resolveMultiplier(group, putRow);
    }
  }
  return [...byStrike.values()].sort((a, b) => a.strike - b.strike);
}

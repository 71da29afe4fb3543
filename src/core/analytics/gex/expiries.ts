import { type ChainCapture, type ChainRow, solveOrigins } from '../../domain/chain/chain.ts';
import type { OptionRight } from '../../domain/chain/option-contract.ts';
import type { GexExpiry } from '../../domain/gex/gex.ts';
import type { SolvedChain, SolvedGroup } from '../chain/solve-chain.ts';
import { nearestToForward, volatilityAtForward } from '../chain/volatility-surface.ts';
import { methodologySettings } from '../methodology.ts';
import { americanPrice } from '../pricing/american.ts';
import { blackScholes } from '../pricing/black-scholes.ts';
import { type ChainGroup, type ListedStrike, resolveMultiplier, settlingLast } from '../pricing/chain-groups.ts';
import { quoteMid } from '../pricing/mark.ts';
import { leastCallStrike } from '../pricing/smile.ts';
import { maxPain, type StrikeInterest } from './levels.ts';

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
    const checked = selfCheck(checkedStraddle(latest, chain, solved), latest.years);
    const pain = maxPain(strikeInterest(groups, chain));
    return { expiry, maxPain: pain, expectedMoveStraddle, expectedMoveSigma, atmIv, ...checked };
  });
}

/**
 * The straddle of the self-check: at the listed strike nearest the forward, by the model with the volatility of its own
 * out-of-the-money side. Null without that, or without two mids.
 */
function checkedStraddle(group: SolvedGroup, chain: ChainCapture, { iv, origin }: SolvedChain): CheckedStraddle | null {
  const listed = nearestToForward(group);
  if (listed === null) return null;
  const [call, put] = [mid(chain, listed.call), mid(chain, listed.put)];
  const out = listed.dollars >= leastCallStrike(group, group) ? listed.call : listed.put;
  if (call === null || put === null || !ownOrigins.has(origin[out]!) || !(iv[out]! > 0)) return null;
  const { root, spot, years, rate, dividendYield, dividends } = group;
  const option = { spot, strike: listed.dollars, years, rate, dividendYield, volatility: iv[out]! };
  const price = (right: OptionRight) =>
    root.style === 'american'
      ? americanPrice({ ...option, right, dividends })
      : blackScholes({ ...option, right }).price;
  const halfSpread = ({ bid, ask }: ChainRow) => 0.5 * (ask! - bid!);
  return {
    market: call + put,
    halfSpread: halfSpread(chain.rows[listed.call]!) + halfSpread(chain.rows[listed.put]!),
    model: price('call') + price('put'),
  };
}

/** Origins of a volatility of a contract's own: of its quotes, or its source's. */
const ownOrigins = new Set([solveOrigins.indexOf('outOfTheMoney'), solveOrigins.indexOf('source')]);

/** Origins of a volatility from quotes of its strike. */
const quotedOrigins = new Set([solveOrigins.indexOf('outOfTheMoney'), solveOrigins.indexOf('inTheMoney')]);

function mid(chain: ChainCapture, index: number): number | null {
  const row = chain.rows[index];
  return row ? quoteMid(row.bid, row.ask) : null;
}

/** The strike nearest the forward whose call and put both have a mid; the lower of two equally near ones. */
function atTheMoney(group: SolvedGroup, chain: ChainCapture): ListedStrike | null {
  return nearestToForward(group, ({ call, put }) => mid(chain, call) !== null && mid(chain, put) !== null);
}

/** The volatility at the forward; null if it is unknown. */
function atmVolatility(group: SolvedGroup, { iv, origin }: SolvedChain): number | null {
  return volatilityAtForward(group, {
    of: (index) => iv[index]!,
    isSolved: (index) => quotedOrigins.has(origin[index]!),
  });
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

/**
 * The price of the at-the-money straddle, dollars per share: the market's price of the move to expiry. Null if a leg
 * has no price.
 */
export function straddleMove(callMid: number | null, putMid: number | null): number | null {
  return callMid === null || putMid === null ? null : callMid + putMid;
}

/**
 * One standard deviation of the price at expiry, dollars: S·σ·√T. Null without an implied volatility or time. `price`,
 * dollars, is that with which options are priced: of the underlying, or the forward that they follow.
 */
export function sigmaMove(price: number, volatility: number | null, years: number): number | null {
  return volatility === null || !(years > 0) ? null : price * volatility * Math.sqrt(years);
}

/** A straddle in the market and by the model, dollars per share; `halfSpread` of its two quotes together. */
interface CheckedStraddle {
  market: number;
  halfSpread: number;
  model: number;
}

/**
 * The ratio of the straddle at the listed strike nearest the forward to its value in the model, which is 1 if they
 * agree; null without a check. `inconsistent` if they do not within 30 days, by more than the quotes explain: quotes
 * and the price of the underlying then have different times.
 */
function selfCheck(
  straddle: CheckedStraddle | null,
  years: number,
): { moveRatio: number | null; inconsistent: boolean } {
  if (straddle === null || !(straddle.model > 0)) return { moveRatio: null, inconsistent: false };
  const { selfCheckYears, selfCheckTolerance } = methodologySettings;
  const { market, model, halfSpread } = straddle;
  const moveRatio = market / model;
  const isOff = Math.abs(moveRatio - 1) > selfCheckTolerance && Math.abs(market - model) > halfSpread;
  return { moveRatio, inconsistent: isOff && years < selfCheckYears };
}

import { type ChainCapture, type ChainRow, usedGreeks } from '../../domain/chain/chain.ts';
import type { ExpiryExposures, Exposures, StrikeExposures } from '../../domain/gex/gex.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { fromThousandths } from '../../domain/units.ts';
import type { PricedChain, SolvedGroup } from '../chain/solve-chain.ts';
import { blackScholes } from '../pricing/black-scholes.ts';
import { resolveMultiplier } from '../pricing/chain-groups.ts';
import { charmExposure, deltaExposure, vannaExposure, vegaExposure } from './exposure.ts';

/** Exposures of a chain by strike and by expiry; either list adds up to the total exactly. */
export interface ChainExposures {
  total: Exposures;
  /** Ascending. */
  byStrike: StrikeExposures[];
  byExpiry: ExpiryExposures[];
  /** Share of open interest whose volatility is known, 0…1. */
  oiCoverage: number;
  /** Number of contracts in the sums. */
  contractCount: number;
}

const names = ['delta', 'vanna', 'charm', 'vega'] as const satisfies readonly (keyof Exposures)[];

const none = (): Exposures => ({ delta: 0, vanna: 0, charm: 0, vega: 0 });

function add(sum: Exposures, cents: Exposures): void {
  for (const name of names) sum[name] += cents[name];
}

/** Sums of whole cents, in dollars. */
function inDollars<T extends Exposures>(cents: T): T {
  const dollars = { ...cents };
  for (const name of names) dollars[name] = cents[name] / 100;
  return dollars;
}

/**
 * Exposures of one contract, whole cents; null without a volatility. Delta and vega are those that the capture's own
 * figures are made of, else by the European formulas, as vanna and charm are.
 */
function contractExposures(row: ChainRow, group: SolvedGroup, spot: number): Exposures | null {
  const { iv, delta, vega } = usedGreeks(row);
  if (!row.openInterest || iv === null || !(iv > 0)) return null;
  const { right, openInterest, strike, filled } = row;
  const { spot: priced, years, rate, dividendYield } = group;
  const option = { right, spot: priced, strike: fromThousandths(strike), years, rate, dividendYield, volatility: iv };
  const value = blackScholes(option);
  const position = { right, openInterest, multiplier: resolveMultiplier(group, row) };
  return {
    delta: cents(deltaExposure({ ...position, delta: delta ?? filled?.delta ?? value.delta }, spot)),
    vanna: cents(vannaExposure({ ...position, vanna: value.vanna }, spot)),
    charm: cents(charmExposure({ ...position, charm: value.charm }, spot)),
    vega: cents(vegaExposure({ ...position, vega: vega ?? filled?.vega ?? 0.01 * value.vega })),
  };
}

const cents = (dollars: number) => Math.round(100 * dollars);

/**
 * Delta, vanna, charm and vega exposure of a chain's live contracts (methodology, further exposures). `spot`: the price
 * of the underlying in the dollar products. Figures are summed in whole cents, so that their order never changes one.
 */
export function chainExposures(chain: ChainCapture, { groups }: PricedChain, spot: number): ChainExposures {
  const total = none();
  const strikes = new Map<number, StrikeExposures>();
  const expiries = new Map<SessionDate, ExpiryExposures>();
  let [openInterest, covered, contractCount] = [0, 0, 0];
  for (const group of groups) {
    const { expiry } = group;
    for (const { strike, call, put } of group.strikes) {
      for (const row of [chain.rows[call], chain.rows[put]]) {
        openInterest += row?.openInterest ?? 0;
        const found = row && contractExposures(row, group, spot);
        if (!found) continue;
        covered += row.openInterest!;
        contractCount++;
        if (!strikes.has(strike)) strikes.set(strike, { strike, ...none() });
        if (!expiries.has(expiry)) expiries.set(expiry, { expiry, ...none() });
        for (const sum of [total, strikes.get(strike)!, expiries.get(expiry)!]) add(sum, found);
      }
    }
  }
  return {
    total: inDollars(total),
    byStrike: [...strikes.values()].sort((a, b) => a.strike - b.strike).map(inDollars),
    byExpiry: [...expiries.values()].map(inDollars),
    oiCoverage: openInterest === 0 ? 1 : covered / openInterest,
    contractCount,
  };
}

import { type ChainCapture, solveOrigins } from '../../domain/chain/chain.ts';
import type { GammaSource, GexCapture } from '../../domain/gex.ts';
import { fromThousandths } from '../../domain/units.ts';
import {
  copySource,
  priceChain,
  type SolvedChain,
  type SolveOptions,
  solveChain,
  sourcePrice,
  unsolved,
} from '../chain/solve-chain.ts';
import { methodologySettings, methodologyVersion } from '../methodology.ts';
import { blackScholes } from '../pricing/black-scholes.ts';
import { resolveMultiplier } from '../pricing/chain-groups.ts';
import { gexExpiries } from './expiries.ts';
import { charmExposure, vannaExposure } from './exposure.ts';
import { flipPoint } from './flip-point.ts';
import { gexRows } from './rows.ts';
import { walls } from './walls.ts';
import { gammaProfile, profilePoints, type RepricedPosition, zeroGamma } from './zero-gamma.ts';

/** How a GEX capture is computed. */
export interface GexCaptureOptions extends SolveOptions {
  /** `solve`: gammas from the chain's quotes. `vendor`: the source's own. */
  gammaSource: GammaSource;
  /** The chain as already solved with the same options; saves solving it again. */
  solved?: SolvedChain | undefined;
}

/**
 * The GEX capture of a chain (methodology 1). Null when none may be published: no price of the underlying, no known
 * open interest, or gammas known for less than 90% of it.
 */
export function computeGexCapture(chain: ChainCapture, options: GexCaptureOptions): GexCapture | null {
  const spot = sourcePrice(chain);
  if (spot === null) return null;
  const { gammaSource } = options;
  const solved =
    gammaSource === 'vendor' ? takeVendor(chain, spot, options) : (options.solved ?? solveChain(chain, options));
  const rows = gexRows(chain, solved, spot);
  const { strikes, byExpiry, contractCount, gammaAbsent, openInterest, coveredInterest } = rows;
  const oiCoverage = openInterest === 0 ? 1 : coveredInterest / openInterest;
  if (strikes.length === 0 || oiCoverage < methodologySettings.minimumOiCoverage) return null;
  const { pricingSpot, impliedSpot, spotStale } = solved;
  const positions = repricedPositions(chain, solved);
  const profile = gammaProfile(positions, pricingSpot);
  const expiries = gexExpiries(chain, solved, spot);
  return {
    underlying: chain.underlying,
    capturedAt: chain.capturedAt,
    sessionDate: chain.sessionDate,
    spot: chain.spot,
    priorCloseSpot: chain.priorCloseSpot,
    impliedSpot,
    spotStale,
    inconsistentExpiries: expiries.filter(({ inconsistent }) => inconsistent).length,
    netGex: strikes.reduce((sum, row) => sum + row.gex, 0),
    flipPoint: flipPoint(strikes, spot),
    zeroGamma: zeroGamma(positions, pricingSpot, profile),
    ...walls(rows.sided),
    ...netSensitivities(positions, pricingSpot, spot),
    gammaSource,
    oiCoverage,
    contractCount,
    gammaAbsent,
    methodologyVersion,
    strikes,
    byExpiry,
    expiries,
    profile: profilePoints(profile),
  };
}

/** The source's own greeks, with forwards from the quotes for what needs a forward. */
function takeVendor(chain: ChainCapture, spot: number, options: SolveOptions): SolvedChain {
  const taken = unsolved(chain.rows.length, priceChain(chain, spot, options));
  const source = solveOrigins.indexOf('source');
  for (const { strikes } of taken.groups) {
    for (const { call, put } of strikes) {
      for (const index of [call, put]) {
        const row = chain.rows[index];
        if (!row) continue;
        copySource(taken, index, row);
        if (row.gamma !== null) taken.origin[index] = source;
      }
    }
  }
  return taken;
}

/** Every open position whose volatility is known, in the order of the groups. */
function repricedPositions(chain: ChainCapture, { groups, iv, pricingSpot }: SolvedChain): RepricedPosition[] {
  const positions: RepricedPosition[] = [];
  for (const group of groups) {
    const { years, rate, dividendYield } = group;
    for (const listed of group.strikes) {
      for (const index of [listed.call, listed.put]) {
        const row = chain.rows[index];
        if (!row?.openInterest || Number.isNaN(iv[index]!)) continue;
        positions.push({
          right: row.right,
          strike: fromThousandths(row.strike),
          openInterest: row.openInterest,
          multiplier: resolveMultiplier(group, row),
          volatility: iv[index]!,
          years,
          rate,
          dividendYield,
          spotShare: group.spot / pricingSpot,
        });
      }
    }
  }
  return positions;
}

/**
 * Net vanna and charm, dollars of delta per vol point and per day, by the European formulas; null without a volatility.
 * Priced at one spot, in dollars of the other.
 */
function netSensitivities(
  positions: readonly RepricedPosition[],
  pricingSpot: number,
  spot: number,
): { netVanna: number | null; netCharm: number | null } {
  if (positions.length === 0) return { netVanna: null, netCharm: null };
  let netVanna = 0;
  let netCharm = 0;
  for (const position of positions) {
    const { vanna, charm } = blackScholes({ ...position, spot: pricingSpot * (position.spotShare ?? 1) });
    netVanna += vannaExposure({ ...position, vanna }, spot);
    netCharm += charmExposure({ ...position, charm }, spot);
  }
  return { netVanna, netCharm };
}

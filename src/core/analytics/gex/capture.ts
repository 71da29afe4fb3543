import { productVersion } from '../../../platform/runtime/product-version.ts';
import type { ExpiryInputs } from '../../domain/chain/capture-inputs.ts';
import { type ChainCapture, isIncomplete, solveOrigins } from '../../domain/chain/chain.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import type { GammaSource, GexCapture } from '../../domain/gex/gex.ts';
import { fromThousandths } from '../../domain/units.ts';
import {
  copySource,
  priceChain,
  type SolvedChain,
  type SolvedGroup,
  type SolveOptions,
  solveChain,
  sourcePrice,
  unsolved,
} from '../chain/solve-chain.ts';
import { methodologyVersion } from '../methodology.ts';
import { blackScholes } from '../pricing/black-scholes.ts';
import { groupChain, resolveMultiplier } from '../pricing/chain-groups.ts';
import { gexExpiries } from './expiries.ts';
import { charmExposure, gammaDecimals, vannaExposure } from './exposure.ts';
import { flipPoint, flipStatus, gammaProfile, profilePoints, type RepricedPosition, zeroGamma } from './flip-point.ts';
import { type CountOf, type GexRows, gexRows, netGexOf, openInterestOf, publishedCoverage } from './gex-rows.ts';
import { gexPeaks, walls } from './levels.ts';

/** Settings of a GEX capture. */
export interface GexCaptureOptions extends SolveOptions {
  /** `solve`: gammas from the chain's quotes. `vendor`: the source's own. */
  gammaSource: GammaSource;
  /** The chain as already solved, or with its source's greeks, with the same options; saves solving it again. */
  solved?: SolvedChain | undefined;
}

/**
 * The GEX capture of a chain (methodology 1). Null if none may be published: no price of the underlying, no known open
 * interest, or gammas known for less than 90% of it.
 */
export function computeGexCapture(chain: ChainCapture, options: GexCaptureOptions): GexCapture | null {
  const spot = sourcePrice(chain);
  if (spot === null) return null;
  const { gammaSource } = options;
  const solved =
    options.solved ?? (gammaSource === 'vendor' ? takeVendor(chain, spot, options) : solveChain(chain, options));
  const rows = gexRows(chain, solved, spot);
  const { strikes, byExpiry, contractCount, gammaAbsent } = rows;
  const oiCoverage = publishedCoverage(rows);
  if (oiCoverage === null) return null;
  const { pricingSpot, impliedSpot, spotStale } = solved;
  const positions = repricedPositions(chain, solved);
  const profile = gammaProfile(positions, pricingSpot);
  const expiries = gexExpiries(chain, solved);
  const net = netFigures(rows, spot, isIncomplete(chain));
  return {
    underlying: chain.underlying,
    capturedAt: chain.capturedAt,
    delayMs: chain.delayMs ?? null,
    sessionDate: chain.sessionDate,
    spot: chain.spot,
    priorCloseSpot: chain.priorCloseSpot,
    impliedSpot,
    spotStale,
    inconsistentExpiries: expiries.filter(({ inconsistent }) => inconsistent).length,
    ...net,
    zeroGamma: zeroGamma(positions, pricingSpot, profile),
    ...walls(strikes),
    ...gexPeaks(rows.sided),
    ...netSensitivities(positions, pricingSpot, spot),
    gammaSource,
    gammaDecimals: gammaDecimals(chain.rows),
    oiCoverage,
    contractCount,
    gammaAbsent,
    methodologyVersion,
    inputs: { productVersion, expiries: solved.groups.map(inputsOf) },
    strikes,
    byExpiry,
    expiries,
    profile: profilePoints(profile),
  };
}

const inputsOf = ({ expiry, root, years, rate, forward, dividendYield, dividend }: SolvedGroup): ExpiryInputs => ({
  expiry,
  root: root.root,
  years,
  rate,
  forward,
  dividendYield,
  dividend,
  followsSpot: root.followsSpot,
});

/** Net gex, the zero crossing of its cumulative curve, and the status of that. `price` of the underlying, dollars. */
function netFigures({ strikes, grossGex }: GexRows, price: number, isPartial: boolean) {
  const netGex = netGexOf({ strikes });
  const crossing = flipPoint(strikes, price);
  const figures = { strikeCount: strikes.length, flipPoint: crossing, isPartial, price, netGex, grossGex };
  return { netGex, flipPoint: crossing, flipStatus: flipStatus(figures) };
}

/** The source's own greeks, with forwards from the quotes for figures that use one. */
export function takeVendor(chain: ChainCapture, spot: number, options: SolveOptions): SolvedChain {
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

/**
 * The net gex of a chain by its source's own gammas, dollars per $1 move, as in a capture of them; null if there would
 * be none. `price` of the underlying, dollars. Prices nothing.
 */
export function vendorNetGex(chain: ChainCapture, price: number, roots: OptionRoots | undefined): number | null {
  const column = (name: 'gamma' | 'delta') => Float64Array.from(chain.rows, (row) => row[name] ?? Number.NaN);
  const gammas = { groups: groupChain(chain, roots), gamma: column('gamma'), delta: column('delta') };
  const rows = gexRows(chain, gammas, price);
  return publishedCoverage(rows) === null ? null : netGexOf(rows);
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

/** A chain's groups with what a re-pricing takes of them, and volatilities parallel to its rows. */
interface RepricedChain extends Pick<SolvedChain, 'iv' | 'pricingSpot'> {
  groups: readonly Pick<SolvedGroup, 'root' | 'expiry' | 'strikes' | 'years' | 'rate' | 'dividendYield' | 'spot'>[];
}

/** All positions with a known volatility, in the order of the groups. */
export function repricedPositions(
  chain: ChainCapture,
  { groups, iv, pricingSpot }: RepricedChain,
  countOf: CountOf = openInterestOf,
): RepricedPosition[] {
  const positions: RepricedPosition[] = [];
  for (const group of groups) {
    const { years, rate, dividendYield } = group;
    for (const listed of group.strikes) {
      for (const index of [listed.call, listed.put]) {
        const row = chain.rows[index];
        const count = row && countOf(row);
        if (!count || Number.isNaN(iv[index]!)) continue;
        positions.push({
          right: row.right,
          strike: fromThousandths(row.strike),
          openInterest: count,
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

import { vendorNetGex } from '../../../core/analytics/gex/capture.ts';
import { roundingBias } from '../../../core/analytics/gex/gamma-decimals.ts';
import type { ChainCapture } from '../../../core/domain/chain/chain.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { GexCapture } from '../../../core/domain/gex/gex.ts';

const millions = (dollars: number) => `${(dollars / 1e6).toFixed(1)}m`;

/** The error of a sum of gammas that are printed with few decimals, as far as the capture's own gammas reveal it. */
function biasNote(
  chain: ChainCapture,
  { gammaDecimals: decimals, gammaSource }: GexCapture,
  price: number,
  roots: OptionRoots,
): string {
  if (decimals === null) return '';
  const printed = `, which are printed with ${decimals} ${decimals === 1 ? 'decimal' : 'decimals'}`;
  if (gammaSource === 'vendor') return printed;
  const bias = roundingBias(chain, decimals, price, roots);
  return `${printed}: rounding alone moves the net by ${bias < 0 ? '' : '+'}${millions(bias)}`;
}

/**
 * The two nets of a capture side by side, for people: small differences of large sums, and the vendor rounds its
 * gammas. Null if the vendor provides too few. `chain` is the solved one.
 */
export function netTotals(chain: ChainCapture, gex: GexCapture, roots: OptionRoots): string | null {
  const isVendor = gex.gammaSource === 'vendor';
  const price = gex.spot ?? gex.priorCloseSpot!;
  const vendor = isVendor ? gex.netGex : vendorNetGex(chain, price, roots);
  if (vendor === null) return null;
  const solved = isVendor ? '' : `${millions(gex.netGex)} solved, `;
  const totals = `${solved}${millions(vendor)} by the vendor's gammas`;
  return `net GEX in dollars per $1: ${totals}${biasNote(chain, gex, price, roots)}`;
}

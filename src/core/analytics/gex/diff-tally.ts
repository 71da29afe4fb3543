import { type GexCause, type GexMoves, gexCauses } from '../../domain/gex-diff.ts';
import { priceUnits } from '../../domain/market/print.ts';

/** A contract's changes between two captures; gex in units of 1e-4 dollars, contracts null when unknown. */
export interface ContractMoves {
  gex: number;
  parts: Record<GexCause, number>;
  right: 'call' | 'put';
  openInterest: number | null;
  volume: number | null;
}

/** Dollars in units of 1e-4 dollars, an integer: sums of them depend on no order. */
export function gexUnits(dollars: number): number {
  return Math.round(dollars * priceUnits);
}

/** No change of gex by any cause. */
export function noParts(): Record<GexCause, number> {
  return { spot: 0, time: 0, volatility: 0, openInterest: 0, listing: 0, residual: 0 };
}

const added = (sum: number | null, change: number | null) => (change === null ? sum : (sum ?? 0) + change);

/** Sum of contracts' changes. */
export class GexTally {
  private gex = 0;
  private readonly parts = noParts();
  private callOi: number | null = null;
  private putOi: number | null = null;
  private volume: number | null = null;

  /** Adds one contract's changes. */
  add({ gex, parts, right, openInterest, volume }: ContractMoves): void {
    this.gex += gex;
    for (const cause of gexCauses) this.parts[cause] += parts[cause];
    if (right === 'call') this.callOi = added(this.callOi, openInterest);
    else this.putOi = added(this.putOi, openInterest);
    this.volume = added(this.volume, volume);
  }

  /** The sum in dollars and contracts. */
  moves(): GexMoves {
    const { spot, time, volatility, openInterest, listing, residual } = this.parts;
    const dollars = (units: number) => units / priceUnits;
    return {
      gex: dollars(this.gex),
      spot: dollars(spot),
      time: dollars(time),
      volatility: dollars(volatility),
      openInterest: dollars(openInterest),
      listing: dollars(listing),
      residual: dollars(residual),
      callOi: this.callOi,
      putOi: this.putOi,
      volume: this.volume,
    };
  }
}

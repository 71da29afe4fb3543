import type { OptionContract, OptionRight } from '../chain/option-contract.ts';
import { priceUnits } from '../market/print.ts';
import type { CrossSection, FlowMeasures } from './flow.ts';

/** Trading by strike and by expiration; both add up to the same totals (methodology 4). */
export type FlowTotals = Pick<CrossSection, 'byStrike' | 'byExpiration'>;

function emptyMeasures(): FlowMeasures {
  return { callVolume: 0, putVolume: 0, callPremiumUsd: 0, putPremiumUsd: 0, callTradeCount: 0, putTradeCount: 0 };
}

/** Sums of integers, premium in 1e-4 dollars until `inDollars`. */
function addMeasures(to: FlowMeasures, right: OptionRight, volume: number, premium: number, count: number) {
  if (right === 'call') {
    to.callVolume += volume;
    to.callPremiumUsd += premium;
    to.callTradeCount += count;
  } else {
    to.putVolume += volume;
    to.putPremiumUsd += premium;
    to.putTradeCount += count;
  }
}

function inDollars(measures: FlowMeasures): FlowMeasures {
  measures.callPremiumUsd /= priceUnits;
  measures.putPremiumUsd /= priceUnits;
  return measures;
}

function measuresOf<K>(measures: Map<K, FlowMeasures>, key: K): FlowMeasures {
  let known = measures.get(key);
  if (!known) {
    known = emptyMeasures();
    measures.set(key, known);
  }
  return known;
}

/** Sums of contracts by strike and by expiration. */
export interface FlowTotalsBuilder {
  /** Adds a contract's trading: contracts, premium in 1e-4 dollars, and number of prints. */
  add(contract: OptionContract, volume: number, premium: number, count: number): void;
  /** The totals, ascending, premium in dollars. Call it once. */
  take(): FlowTotals;
}

/** Creates totals of no contracts. */
export function createFlowTotals(): FlowTotalsBuilder {
  const strikes = new Map<number, FlowMeasures>();
  const expiries = new Map<string, FlowMeasures>();
  return {
    add({ strike, expiry, right }, volume, premium, count) {
      addMeasures(measuresOf(strikes, strike), right, volume, premium, count);
      addMeasures(measuresOf(expiries, expiry), right, volume, premium, count);
    },
    take: () => ({
      byStrike: [...strikes]
        .sort(([a], [b]) => a - b)
        .map(([strikeThousandths, measures]) => ({ strikeThousandths, measures: inDollars(measures) })),
      byExpiration: [...expiries]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([expiry, measures]) => ({ expiry, measures: inDollars(measures) })),
    }),
  };
}

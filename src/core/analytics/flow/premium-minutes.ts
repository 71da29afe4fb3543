import type { TradedContract, TradedUnderlying } from '../../domain/chain/contract-book.ts';
import type { PremiumMinute } from '../../domain/flow/flow.ts';
import { priceUnits } from '../../domain/market/print.ts';

/** Premium of a session's prints by underlying and minute. */
export interface PremiumMinutes {
  /** Adds to the minute that begins at `startMs`: price × contracts in 1e-4 dollars, below 0 for a withdrawn print. */
  add(contract: TradedContract, startMs: number, premium: number): void;
  /** The minutes of an underlying that have premium, ascending. */
  of(underlying: TradedUnderlying): PremiumMinute[];
}

/** Empty. Sums are integers, so that the order of prints changes none. */
export function createPremiumMinutes(): PremiumMinutes {
  // By underlying, then start of the minute: 1e-4 dollars of calls and of puts.
  const premiums = new Map<TradedUnderlying, Map<number, { call: number; put: number }>>();
  return {
    add({ underlying, contract, multiplier }, startMs, premium) {
      let minutes = premiums.get(underlying);
      if (!minutes) {
        minutes = new Map();
        premiums.set(underlying, minutes);
      }
      let minute = minutes.get(startMs);
      if (!minute) {
        minute = { call: 0, put: 0 };
        minutes.set(startMs, minute);
      }
      minute[contract.right] += premium * multiplier;
    },
    of: (underlying) =>
      [...(premiums.get(underlying) ?? [])]
        .filter(([, { call, put }]) => call !== 0 || put !== 0)
        .sort(([a], [b]) => a - b)
        .map(([tsMs, { call, put }]) => ({ tsMs, callPremiumUsd: call / priceUnits, putPremiumUsd: put / priceUnits })),
  };
}

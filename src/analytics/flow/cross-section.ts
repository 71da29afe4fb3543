import type { TradedContract, TradedUnderlying } from '../../domain/chain/contract-book.ts';
import type { Coverage } from '../../domain/flow/coverage.ts';
import type { CrossSection, FlowMeasures } from '../../domain/flow/flow.ts';
import { priceUnits } from '../../domain/market/print.ts';

/** A session's trading by contract, and its sums by strike and expiry (methodology 4). */
export interface CrossSections {
  /** Adds a print (`sign` 1) or takes it away (−1): contracts, and price × contracts in 1e-4 dollars. */
  add(contract: TradedContract, price: number, size: number, sign: 1 | -1): void;
  /** Adds prints of a contract at once: contracts, their sums of price × contracts in 1e-4 dollars, and how many. */
  addPrints(contract: TradedContract, volume: number, premium: number, count: number): void;
  /** The underlyings that changed since their last snapshot. */
  changed(): TradedUnderlying[];
  /** The sums of an underlying's prints. */
  sums(underlying: TradedUnderlying): Pick<CrossSection, 'byStrike' | 'byExpiration'>;
  /** The sums of an underlying, with a `seq` above the one before; null when nothing of it traded. */
  snapshot(underlying: TradedUnderlying, coverage: Coverage): CrossSection | null;
  /** Contracts that traded, with their volume, for comparison with day aggregates. */
  volumes(): { contract: TradedContract; volume: number }[];
}

function emptyMeasures(): FlowMeasures {
  return { callVolume: 0, putVolume: 0, callPremiumUsd: 0, putPremiumUsd: 0, callTradeCount: 0, putTradeCount: 0 };
}

/** Sums of integers, premium in 1e-4 dollars until `inDollars`. */
function addMeasures(to: FlowMeasures, right: 'call' | 'put', volume: number, premium: number, count: number) {
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

/** Empty; `firstSeq` is the number before the first snapshot's, so that a restart goes on counting. */
export function createCrossSections(firstSeq = 0): CrossSections {
  let volumes = new Float64Array(256);
  let premiums = new Float64Array(256);
  let counts = new Int32Array(256);
  const contracts: TradedContract[] = [];
  const contractsOf = new Map<TradedUnderlying, TradedContract[]>();
  const seqOf = new Map<TradedUnderlying, number>();
  // By underlying index: 1 = changed since its last snapshot.
  const touched: (0 | 1)[] = [];

  function meet(contract: TradedContract) {
    const { index, underlying } = contract;
    contracts[index] = contract;
    const siblings = contractsOf.get(underlying);
    if (siblings) siblings.push(contract);
    else contractsOf.set(underlying, [contract]);
    if (index < volumes.length) return;
    const length = Math.max(2 * volumes.length, index + 1);
    const [longerVolumes, longerPremiums, longerCounts] = [
      new Float64Array(length),
      new Float64Array(length),
      new Int32Array(length),
    ];
    longerVolumes.set(volumes);
    longerPremiums.set(premiums);
    longerCounts.set(counts);
    [volumes, premiums, counts] = [longerVolumes, longerPremiums, longerCounts];
  }

  function addPrints(contract: TradedContract, volume: number, premium: number, count: number) {
    const { index } = contract;
    if (contracts[index] === undefined) meet(contract);
    volumes[index]! += volume;
    premiums[index]! += premium;
    counts[index]! += count;
    touched[contract.underlying.index] = 1;
  }

  function sums(underlying: TradedUnderlying): Pick<CrossSection, 'byStrike' | 'byExpiration'> {
    const strikes = new Map<number, FlowMeasures>();
    const expiries = new Map<string, FlowMeasures>();
    for (const { index, contract, multiplier } of contractsOf.get(underlying) ?? []) {
      const count = counts[index]!;
      if (count === 0) continue;
      const { strike, expiry, right } = contract;
      if (!strikes.has(strike)) strikes.set(strike, emptyMeasures());
      if (!expiries.has(expiry)) expiries.set(expiry, emptyMeasures());
      const premium = premiums[index]! * multiplier;
      addMeasures(strikes.get(strike)!, right, volumes[index]!, premium, count);
      addMeasures(expiries.get(expiry)!, right, volumes[index]!, premium, count);
    }
    return {
      byStrike: [...strikes]
        .sort(([a], [b]) => a - b)
        .map(([strikeThousandths, measures]) => ({ strikeThousandths, measures: inDollars(measures) })),
      byExpiration: [...expiries]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([expiry, measures]) => ({ expiry, measures: inDollars(measures) })),
    };
  }

  return {
    add: (contract, price, size, sign) => addPrints(contract, sign * size, sign * price * size, sign),
    addPrints,
    changed: () => [...contractsOf.keys()].filter(({ index }) => touched[index] === 1),
    sums,
    snapshot(underlying, coverage) {
      const rows = sums(underlying);
      touched[underlying.index] = 0;
      if (rows.byStrike.length === 0 && !seqOf.has(underlying)) return null;
      const seq = (seqOf.get(underlying) ?? firstSeq) + 1;
      seqOf.set(underlying, seq);
      return { symbol: underlying.symbol, seq, coverage, ...rows };
    },
    volumes: () =>
      contracts
        .filter((contract) => counts[contract.index]! > 0)
        .map((contract) => ({ contract, volume: volumes[contract.index]! })),
  };
}

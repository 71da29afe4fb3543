import { sessionOf } from '../../domain/calendar.ts';
import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import type { OptionContract } from '../../domain/chain/option-contract.ts';
import { optionRoot } from '../../domain/chain/option-root.ts';
import { methodologySettings } from '../methodology.ts';
import { groupChain } from '../pricing/chain-groups.ts';
import { filledYields, ownYields } from '../pricing/dividend-yields.ts';
import { yearsToExpiry } from '../pricing/expiry-time.ts';
import type { FollowedContract } from './solve.ts';

/** What a minute's yields are read in. */
export interface YieldMarket {
  underlying: string;
  tsMs: number;
  /** Dollars. */
  spot: number;
  rate: number;
  /** The yields of the last chain by `root expiry`; empty without one. */
  chain: ReadonlyMap<string, number>;
}

function rowOf({ contract, quote }: Pick<FollowedContract, 'contract' | 'quote'>, tsMs: number): ChainRow {
  const isFresh = quote !== null && tsMs - quote.tsMs <= methodologySettings.maximumQuoteAgeMs;
  return {
    ...contract,
    ...{ bid: isFresh ? quote.bid : null, ask: isFresh ? quote.ask : null },
    ...{ openInterest: null, volume: null, last: null, fmv: null },
    ...{ iv: null, delta: null, gamma: null, theta: null, vega: null, sharesPerContract: 100 },
  };
}

const keyOf = ({ root, expiry }: OptionContract) => `${root} ${expiry}`;

/**
 * The dividend yield of each followed root and expiry at a minute, by `root expiry`. European: from the quotes in force, whose parity
 * gives the forward itself, else the last chain's. American: the last chain's, since the yield is a matter of days, else from the
 * quotes in force. Else that of the expiry nearest in time; 0 when none has one.
 */
export function minuteYields(
  followed: readonly Pick<FollowedContract, 'contract' | 'quote'>[],
  { underlying, tsMs, spot, rate, chain }: YieldMarket,
): Map<string, number> {
  const isAsked = ({ contract }: (typeof followed)[number]) =>
    optionRoot(contract.root).style === 'european' || !chain.has(keyOf(contract));
  const rows = followed.filter(isAsked).map((one) => rowOf(one, tsMs));
  const capture = {
    underlying,
    capturedAt: tsMs,
    sessionDate: sessionOf(tsMs),
    spot,
    priorCloseSpot: null,
    partial: true,
  };
  const asked = groupChain({ ...capture, rows } satisfies ChainCapture);
  const own = ownYields(asked, rows, spot, rate);
  const known = new Map(chain);
  asked.forEach(({ root, expiry }, i) => {
    if (own[i] !== null) known.set(`${root.root} ${expiry}`, own[i]!);
  });
  // The quotes of an underlying's expiries need not be asked for the nearest of them to be known.
  const groups = [...new Map(followed.map(({ contract }) => [keyOf(contract), contract])).values()].map((contract) => ({
    key: keyOf(contract),
    years: yearsToExpiry(contract.expiry, optionRoot(contract.root), tsMs),
  }));
  const yields = filledYields(
    groups,
    groups.map(({ key }) => known.get(key) ?? null),
  );
  return new Map(groups.map(({ key }, i) => [key, yields[i]!]));
}

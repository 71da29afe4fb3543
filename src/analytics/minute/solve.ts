import type { ChainCapture } from '../../domain/chain/chain.ts';
import type { GreeksSolve } from '../../domain/chain/greeks.ts';
import type { OptionContract } from '../../domain/chain/option-contract.ts';
import { type OptionRoot, optionRoot } from '../../domain/chain/option-root.ts';
import { fromThousandths } from '../../domain/units.ts';
import { solveForwards } from '../chain/solve-chain.ts';
import { methodologySettings } from '../methodology.ts';
import { americanValue } from '../pricing/american.ts';
import { blackScholes } from '../pricing/black-scholes.ts';
import { yearsToExpiry } from '../pricing/expiry-time.ts';
import { type Mark, type MarkInputs, markOf } from '../pricing/mark.ts';
import { contractVolatility } from '../pricing/smile.ts';

/** A contract that is followed live, and what is held of its price. */
export interface FollowedContract extends Omit<MarkInputs, 'nowMs'> {
  contract: OptionContract;
}

/** What the contracts of one underlying are solved in, at a minute boundary. */
export interface MinuteMarket {
  /** The boundary, epoch ms. */
  tsMs: number;
  /** Dollars; null when unknown: then nothing but marks is. */
  spot: number | null;
  /** Risk-free rate, continuous. */
  rate: number;
  /** Continuous dividend yield by `root expiry`; 0 for those not in it. */
  dividendYields: ReadonlyMap<string, number>;
}

/** The yields of a chain's roots and expiries by `root expiry`, read off its quotes; empty without a price of its underlying. */
export function chainYields(chain: ChainCapture, rate: number): Map<string, number> {
  const spot = chain.spot ?? chain.priorCloseSpot;
  if (spot === null || !(spot > 0)) return new Map();
  const groups = solveForwards(chain, spot, { rate });
  return new Map(groups.map(({ root, expiry, dividendYield }) => [`${root.root} ${expiry}`, dividendYield]));
}

// Years to expiry of a market's roots and expiries: the same for thousands of contracts.
const yearsBy = new WeakMap<MinuteMarket, Map<string, number>>();
function yearsOf(market: MinuteMarket, key: string, contract: OptionContract, root: OptionRoot): number {
  let known = yearsBy.get(market);
  if (!known) {
    known = new Map();
    yearsBy.set(market, known);
  }
  let years = known.get(key);
  if (years === undefined) {
    years = yearsToExpiry(contract.expiry, root, market.tsMs);
    known.set(key, years);
  }
  return years;
}

type Figures = Pick<GreeksSolve, 'iv' | 'delta' | 'gamma'>;
const unknown: Figures = { iv: null, delta: null, gamma: null };

function figuresOf({ contract, quote }: FollowedContract, mark: Mark, market: MinuteMarket): Figures {
  const { spot, rate, dividendYields } = market;
  const root = optionRoot(contract.root);
  // What an adjusted contract delivers is not a share, so that no formula of the share's price holds.
  if (spot === null || mark.source === 'close' || root.adjusted) return unknown;
  const key = `${contract.root} ${contract.expiry}`;
  const years = yearsOf(market, key, contract, root);
  const dividendYield = dividendYields.get(key) ?? 0;
  const option = { right: contract.right, spot, strike: fromThousandths(contract.strike), years, rate, dividendYield };
  const american = root.style === 'american';
  const halfSpread = mark.source === 'mid' ? (quote!.ask! - quote!.bid!) / 2 : null;
  const iv = contractVolatility({ ...option, american, mark: mark.price, halfSpread });
  if (Number.isNaN(iv)) return unknown;
  const { delta, gamma } = (american ? americanValue : blackScholes)({ ...option, volatility: iv });
  return { iv, delta, gamma };
}

/** The solve of a contract at a minute boundary (methodology 2); null without a mark: there is no sample. */
export function minuteSolve(followed: FollowedContract, market: MinuteMarket): GreeksSolve | null {
  const nowMs = market.tsMs;
  const mark = markOf({ ...followed, nowMs });
  if (mark === null) return null;
  const { quote } = followed;
  const held = quote !== null && nowMs - quote.tsMs <= methodologySettings.maximumQuoteAgeMs ? quote : null;
  return {
    tsMs: nowMs,
    ...figuresOf(followed, mark, market),
    // The middle of two prices would show a tail that no quote has.
    mark: Math.round(mark.price * 1e6) / 1e6,
    markSource: mark.source,
    bid: held?.bid ?? null,
    ask: held?.ask ?? null,
  };
}

import { previousTradingDay, regularSession } from '../../domain/calendar.ts';
import type { ContractLine } from '../../domain/chain/chain.ts';
import type { GreeksSolve } from '../../domain/chain/greeks.ts';
import type { OptionContract } from '../../domain/chain/option-contract.ts';
import { optionRoot } from '../../domain/chain/option-root.ts';
import { fromThousandths, roundTo } from '../../domain/units.ts';
import { methodologySettings } from '../methodology.ts';
import { yearsToExpiry } from '../pricing/expiry-time.ts';
import { type Mark, type MarkInputs, markOf } from '../pricing/mark.ts';

/** What the captures up to one say of a contract's trades. */
interface TradesSeen {
  /** The last trade of the session, at the earliest instant it can have been; null while none is known. */
  trade: MarkInputs['trade'];
  /** The last price of the session before; null when it did not trade then, or that is not known. */
  previousClose: number | null;
}

/**
 * Since when a trade must have happened for the volume of `line` to be over `volume`: the capture before of the
 * session's regular hours; else their open, but not for index options, which trade in the night before too. Null: not
 * known.
 */
function volumeBefore(
  line: ContractLine,
  before: ContractLine | null,
  tradesAtNight: boolean,
): { tsMs: number; volume: number } | null {
  const hours = regularSession(line.sessionDate);
  if (hours === null || line.capturedAt < hours.openMs) return null;
  if (before !== null && before.capturedAt >= hours.openMs) {
    return before.volume === null ? null : { tsMs: before.capturedAt, volume: before.volume };
  }
  return tradesAtNight ? null : { tsMs: hours.openMs, volume: 0 };
}

/**
 * A chain does not date its last trades, but its volume shows that there was one since the capture before, and `last`
 * is its price. While nothing has traded in a session, `last` is still the one before's.
 */
function tradesSeen(
  line: ContractLine,
  before: ContractLine | null,
  seen: TradesSeen,
  tradesAtNight: boolean,
): TradesSeen {
  const { last, volume, sessionDate } = line;
  let { trade, previousClose } = seen;
  if (before?.sessionDate !== sessionDate) {
    const follows = before?.sessionDate === previousTradingDay(sessionDate) && (before.volume ?? 0) > 0;
    trade = null;
    previousClose = follows ? before.last : null;
  }
  if (last === null || volume === null) return { trade, previousClose };
  if (volume === 0 && previousClose !== null) return { trade, previousClose: last };
  const since = volumeBefore(line, before, tradesAtNight);
  if (since !== null && volume > since.volume) trade = { price: last, tsMs: since.tsMs, eligible: true };
  return { trade, previousClose };
}

/** Whether a mark lies between what the contract is worth exercised (American) and the most it can be worth. */
function isInsideBounds({ root, right, strike }: OptionContract, line: ContractLine, mark: number): boolean {
  const { style, adjusted } = optionRoot(root);
  const { boundMargin } = methodologySettings;
  const spot = line.spot ?? line.priorCloseSpot;
  if (mark <= boundMargin) return false;
  // What an adjusted contract delivers is not one share's worth.
  if (spot === null || adjusted) return true;
  const dollars = fromThousandths(strike);
  const exercised = right === 'call' ? spot - dollars : dollars - spot;
  const most = right === 'call' ? spot : dollars;
  return mark < most && (style === 'european' || mark > exercised + boundMargin);
}

/** Whether a volatility can be read off a mark (methodology 2), as far as one row of a chain shows. */
function isSolvable(contract: OptionContract, line: ContractLine, mark: Mark): boolean {
  const { minimumVolatility, maximumVolatility, maximumVolatilityError } = methodologySettings;
  const { iv, vega, bid, ask, capturedAt } = line;
  if (mark.source === 'close') return false;
  if (yearsToExpiry(contract.expiry, optionRoot(contract.root), capturedAt) === 0) return false;
  if (iv !== null && !(iv >= minimumVolatility && iv <= maximumVolatility)) return false;
  // Vega is dollars per vol point: a hundredth of what a whole volatility is worth.
  const ofMid = mark.source === 'mid';
  if (ofMid && vega !== null && (ask! - bid!) / 2 / (100 * vega) > maximumVolatilityError) return false;
  // The capture's solve knows the forward and the price that its quotes imply; one that is older did not say.
  return (ofMid ? line.withinBounds : undefined) ?? isInsideBounds(contract, line, mark.price);
}

/**
 * The solves of a contract that its lines in chain captures (ascending) are: volatility, delta and gamma as stored, the
 * source's or solved, and the mark by the rule as of the capture. A line without a mark gives none.
 */
export function contractSolves(contract: OptionContract, lines: readonly ContractLine[]): GreeksSolve[] {
  const tradesAtNight = optionRoot(contract.root).style === 'european';
  const solves: GreeksSolve[] = [];
  let before: ContractLine | null = null;
  let seen: TradesSeen = { trade: null, previousClose: null };
  for (const line of lines) {
    const { capturedAt: tsMs, bid, ask, iv, delta, gamma } = line;
    seen = tradesSeen(line, before, seen, tradesAtNight);
    before = line;
    // A chain's quotes are as old as the chain.
    const mark = markOf({ nowMs: tsMs, quote: { bid, ask, tsMs }, ...seen });
    if (mark === null) continue;
    const figures = isSolvable(contract, line, mark) ? { iv, delta, gamma } : { iv: null, delta: null, gamma: null };
    // Rounded, since the middle of two prices would show a tail that no quote has.
    solves.push({ tsMs, ...figures, mark: roundTo(mark.price, 6), markSource: mark.source, bid, ask });
  }
  return solves;
}

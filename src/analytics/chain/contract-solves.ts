import { previousTradingDay, regularSession } from '../../domain/calendar.ts';
import { type ContractLine, sourceTime } from '../../domain/chain/chain.ts';
import type { GreeksSolve } from '../../domain/chain/greeks.ts';
import type { OptionContract } from '../../domain/chain/option-contract.ts';
import { type OptionRoot, type OptionRoots, standardRoots } from '../../domain/chain/option-root.ts';
import { fromThousandths, roundTo } from '../../domain/units.ts';
import { methodologySettings } from '../methodology.ts';
import { yearsToExpiry } from '../pricing/expiry-time.ts';
import { type Mark, type MarkInputs, markOf } from '../pricing/mark.ts';

/** A contract's trades as the captures so far show them. */
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
  if (hours === null || sourceTime(line) < hours.openMs) return null;
  if (before !== null && sourceTime(before) >= hours.openMs) {
    return before.volume === null ? null : { tsMs: sourceTime(before), volume: before.volume };
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

/** True if a mark lies between what the contract is worth exercised (American) and the most it can be worth. */
function isInsideBounds(
  { right, strike }: OptionContract,
  { style, adjusted }: OptionRoot,
  line: ContractLine,
  mark: number,
): boolean {
  const { boundMargin } = methodologySettings;
  const spot = line.spot ?? line.priorCloseSpot;
  if (mark <= boundMargin) return false;
  // An adjusted contract does not deliver one share's worth.
  if (spot === null || adjusted) return true;
  const dollars = fromThousandths(strike);
  const exercised = right === 'call' ? spot - dollars : dollars - spot;
  const most = right === 'call' ? spot : dollars;
  return mark < most && (style === 'european' || mark > exercised + boundMargin);
}

/** True if a volatility can be read off a mark (methodology 2), as far as one row of a chain shows. */
function isSolvable(contract: OptionContract, root: OptionRoot, line: ContractLine, mark: Mark): boolean {
  const { minimumVolatility, maximumVolatility, maximumVolatilityError } = methodologySettings;
  const { iv, vega, bid, ask } = line;
  if (mark.source === 'close') return false;
  if (yearsToExpiry(contract.expiry, root, sourceTime(line)) === 0) return false;
  if (iv !== null && !(iv >= minimumVolatility && iv <= maximumVolatility)) return false;
  // Vega is dollars per vol point: a hundredth of what a whole volatility is worth.
  const ofMid = mark.source === 'mid';
  if (ofMid && vega !== null && (ask! - bid!) / 2 / (100 * vega) > maximumVolatilityError) return false;
  // The capture's solve knows the forward and the price that its quotes imply; one that is older did not say.
  return (ofMid ? line.withinBounds : undefined) ?? isInsideBounds(contract, root, line, mark.price);
}

/**
 * The solves of a contract that its lines in chain captures (ascending) are: volatility, delta and gamma as stored, the
 * source's or solved, and the mark by the rule as of the time of its quotes. A line without a mark gives none.
 */
export function contractSolves(
  contract: OptionContract,
  lines: readonly ContractLine[],
  roots: OptionRoots = standardRoots,
): GreeksSolve[] {
  const solves: GreeksSolve[] = [];
  let before: ContractLine | null = null;
  let seen: TradesSeen = { trade: null, previousClose: null };
  // With several sources the later page can have the earlier quotes.
  for (const line of lines.toSorted((a, b) => sourceTime(a) - sourceTime(b))) {
    const { bid, ask, iv, delta, gamma } = line;
    const tsMs = sourceTime(line);
    const root = roots.of(contract.root, line.sessionDate);
    seen = tradesSeen(line, before, seen, root.style === 'european');
    before = line;
    // A chain's quotes are of its source's time.
    const mark = markOf({ nowMs: tsMs, quote: { bid, ask, tsMs }, ...seen });
    if (mark === null) continue;
    const figures = isSolvable(contract, root, line, mark)
      ? { iv, delta, gamma }
      : { iv: null, delta: null, gamma: null };
    // Rounded, since the middle of two prices would show a tail that no quote has.
    solves.push({ tsMs, ...figures, mark: roundTo(mark.price, 6), markSource: mark.source, bid, ask });
  }
  return solves;
}

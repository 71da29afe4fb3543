import { previousTradingDay, regularSession } from '../../domain/calendar.ts';
import { type ContractLine, sourceTime } from '../../domain/chain/chain.ts';
import type { GreeksSolve } from '../../domain/chain/greeks.ts';
import type { OptionContract } from '../../domain/chain/option-contract.ts';
import { type OptionRoot, type OptionRoots, standardRoots } from '../../domain/chain/option-root.ts';
import { fromThousandths, roundTo } from '../../domain/units.ts';
import { methodologySettings } from '../methodology.ts';
import { yearsToExpiry } from '../pricing/chain-groups.ts';
import { type Mark, type MarkInputs, markOf } from '../pricing/mark.ts';

/** A contract's trades, inferred from the captures so far. */
interface TradesSeen {
  /** The last trade of the session, at its earliest possible instant; null while unknown. */
  trade: MarkInputs['trade'];
  /** The last price of the session before; null if unknown or it did not trade then. */
  previousClose: number | null;
}

/**
 * The earliest instant of a trade that raised the volume of `line` over `volume`: the previous capture in the session's
 * regular hours; else their open, except for index options, which also trade in the night before. Null: unknown.
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
 * A chain does not date its last trades, but its volume shows a trade since the previous capture, at the price `last`.
 * Until something trades in a session, `last` is the session before's.
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

/** True if a mark is between the contract's exercise value (American) and its upper bound. */
function isInsideBounds(
  { right, strike }: OptionContract,
  { style, adjusted }: OptionRoot,
  line: ContractLine,
  mark: number,
): boolean {
  const { boundMargin } = methodologySettings;
  const spot = line.spot ?? line.priorCloseSpot;
  if (mark <= boundMargin) return false;
  // The deliverable of an adjusted contract is not one share.
  if (spot === null || adjusted) return true;
  const dollars = fromThousandths(strike);
  const exercised = right === 'call' ? spot - dollars : dollars - spot;
  const most = right === 'call' ? spot : dollars;
  return mark < most && (style === 'european' || mark > exercised + boundMargin);
}

/** True if a mark implies a volatility (methodology 2), as far as one row of a chain shows. */
function isSolvable(contract: OptionContract, root: OptionRoot, line: ContractLine, mark: Mark): boolean {
  const { minimumVolatility, maximumVolatility, maximumVolatilityError } = methodologySettings;
  const { iv, vega, bid, ask } = line;
  if (mark.source === 'close') return false;
  if (yearsToExpiry(contract.expiry, root, sourceTime(line)) === 0) return false;
  if (iv !== null && !(iv >= minimumVolatility && iv <= maximumVolatility)) return false;
  // Vega is dollars per vol point: a hundredth of that per 1.00 of volatility.
  const ofMid = mark.source === 'mid';
  if (ofMid && vega !== null && (ask! - bid!) / 2 / (100 * vega) > maximumVolatilityError) return false;
  // The capture's solve knew the forward and the implied price; an older capture did not store them.
  return (ofMid ? line.withinBounds : undefined) ?? isInsideBounds(contract, root, line, mark.price);
}

/**
 * The solves of a contract from its lines in chain captures (ascending): volatility, delta and gamma as stored, the
 * source's or solved, and the mark by the rule as of the time of its quotes. A line without a mark is omitted.
 */
export function contractSolves(
  contract: OptionContract,
  lines: readonly ContractLine[],
  roots: OptionRoots = standardRoots,
): GreeksSolve[] {
  const solves: GreeksSolve[] = [];
  let before: ContractLine | null = null;
  let seen: TradesSeen = { trade: null, previousClose: null };
  // With several sources a later page can have earlier quotes.
  for (const line of lines.toSorted((a, b) => sourceTime(a) - sourceTime(b))) {
    const { bid, ask, iv, delta, gamma } = line;
    const tsMs = sourceTime(line);
    const root = roots.of(contract.root, line.sessionDate);
    seen = tradesSeen(line, before, seen, root.style === 'european');
    before = line;
    // A chain's quotes have its source's time.
    const mark = markOf({ nowMs: tsMs, quote: { bid, ask, tsMs }, ...seen });
    if (mark === null) continue;
    const figures = isSolvable(contract, root, line, mark)
      ? { iv, delta, gamma }
      : { iv: null, delta: null, gamma: null };
    // Rounded, because the midpoint of two doubles has spurious digits.
    solves.push({ tsMs, ...figures, mark: roundTo(mark.price, 6), markSource: mark.source, bid, ask });
  }
  return solves;
}

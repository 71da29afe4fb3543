import { nextTradingDay, previousTradingDay, regularSession } from '../../domain/calendar.ts';
import type { PricedDividend } from '../../domain/chain/capture-inputs.ts';
import type { ChainRow } from '../../domain/chain/chain.ts';
import { lastSession } from '../../domain/chain/option-root.ts';
import type { Dividend } from '../../domain/market/dividends.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { methodologySettings } from '../methodology.ts';
import { type CashDividend, noDividends } from './cash-dividends.ts';
import { type ChainGroup, yearsUntil } from './chain-groups.ts';
import { quoteMid } from './mark.ts';
import { median, pairForward, type QuotedPair, quotedPairs } from './quoted-pairs.ts';

const midOf = ({ bid, ask }: ChainRow) => quoteMid(bid, ask);

/** A coming dividend of a known amount. */
export interface ComingDividend extends Pick<PricedDividend, 'amount' | 'exDate' | 'source'>, CashDividend {}

/** Years from the quotes to the last instant before an ex-date: the close of the trading day before. */
export function yearsBefore(exDate: SessionDate, quotedAt: number): number {
  return yearsUntil(regularSession(previousTradingDay(exDate))!.closeMs, quotedAt);
}

/**
 * The dividends with an ex-date after the quotes that were declared by then, ascending; a ratio is applied to `price`,
 * dollars.
 */
export function comingDividends(dividends: readonly Dividend[], quotedAt: number, price: number): ComingDividend[] {
  const date = exchangeDate(quotedAt);
  const coming: ComingDividend[] = [];
  for (const { exDate, declared, amount, ratio } of dividends) {
    const dollars = amount ?? (ratio ?? 0) * price;
    if (exDate <= date || (declared !== null && declared > date)) continue;
    // After a dividend of the whole price nothing is left to price options on.
    if (!(dollars > 0 && dollars < price)) continue;
    coming.push({ exDate, amount: dollars, source: 'dataset', years: yearsBefore(exDate, quotedAt) });
  }
  return coming;
}

/** The coming dividend implied by an earlier chain on the eve of its ex-date; null = none. */
export function knownInferred(
  groups: Iterable<{ dividend: PricedDividend | null }>,
  quotedAt: number,
): ComingDividend | null {
  const date = exchangeDate(quotedAt);
  for (const { dividend } of groups)
    if (dividend !== null && dividend.source === 'inferred' && dividend.exDate > date)
      return { ...dividend, years: yearsBefore(dividend.exDate, quotedAt) };
  return null;
}

/** The coming dividends with an ex-date before a group's contracts end. */
export function dividendsBefore(
  { expiry }: Pick<ChainGroup, 'expiry'>,
  coming: readonly ComingDividend[],
): readonly ComingDividend[] {
  if (coming.length === 0) return [];
  const last = lastSession(expiry);
  return coming.filter(({ exDate }) => exDate <= last);
}

/** The dividend that a group is priced with, in stored and served form; null without one. */
export function pricedDividend(dividends: readonly ComingDividend[]): PricedDividend | null {
  const first = dividends[0];
  if (first === undefined) return null;
  const amount = dividends.reduce((sum, dividend) => sum + dividend.amount, 0);
  return { amount, exDate: first.exDate, source: first.source };
}

/** Dividends in the form for a tree. */
export function cashOf(dividends: readonly ComingDividend[]): readonly CashDividend[] {
  return dividends.length === 0 ? noDividends : dividends.map(({ years, amount }) => ({ years, amount }));
}

/** The outermost pairs of a side, nearest the money last: those beyond half the reach, at least three. */
function outermost(side: readonly QuotedPair[], money: number): QuotedPair[] {
  const { stepReach, stepPairs } = methodologySettings;
  const away = ({ strike }: QuotedPair) => Math.abs(strike - money) / money;
  const near = side.filter((pair) => away(pair) <= stepReach).sort((a, b) => away(b) - away(a));
  return near.filter((pair, i) => i < stepPairs || away(pair) > 0.5 * stepReach);
}

/**
 * The excess of K + C − P at calls in the money over that at calls out of the money, dollars: the medians of the
 * outermost pairs on either side within 5% of the money, where the other option of the strike is almost worthless. Null
 * if a side has fewer than three, or the step is within two half-spreads of their quotes.
 */
function stepOf(pairs: readonly QuotedPair[], money: number): number | null {
  const { stepPairs } = methodologySettings;
  const below = outermost(
    pairs.filter(({ strike }) => strike < money),
    money,
  );
  const above = outermost(
    pairs.filter(({ strike }) => strike > money),
    money,
  );
  if (below.length < stepPairs || above.length < stepPairs) return null;
  const level = (side: readonly QuotedPair[]) => median(side.map((pair) => pairForward(pair, 1)));
  const step = level(below) - level(above);
  const halfSpread = median([...below, ...above].map((pair) => pair.halfSpread));
  return step > 2 * halfSpread ? step : null;
}

/**
 * The dividend implied by a chain's own quotes on the eve of its ex-date: calls in the money are worth exercising
 * today, so that parity at their strikes gives the price with the dividend, above the money the price without it. Null
 * unless the step is 0.05% to 3% of the price and the first two expiries that outlive the next session agree within
 * 20%. `groups` are American, ascending by expiry; `money` dollars.
 */
export function inferredDividend(
  groups: readonly ChainGroup[],
  rows: readonly ChainRow[],
  { money, quotedAt }: { money: number; quotedAt: number },
): ComingDividend | null {
  const { leastStep, greatestStep, stepAgreement } = methodologySettings;
  const exDate = nextTradingDay(exchangeDate(quotedAt));
  const [first, second] = groups.filter(({ expiry }) => lastSession(expiry) >= exDate);
  const step = (group: ChainGroup) => stepOf(quotedPairs(group, rows, midOf), money);
  const amount = first === undefined || second === undefined ? null : step(first);
  const again = amount === null ? null : step(second!);
  if (amount === null || again === null) return null;
  if (amount < leastStep * money || amount > greatestStep * money) return null;
  if (Math.abs(again - amount) > stepAgreement * amount) return null;
  return { exDate, amount, source: 'inferred', years: yearsBefore(exDate, quotedAt) };
}

import { nextTradingDay, thirdFriday, tradingDayAtOrBefore } from '../../../core/domain/calendar.ts';
import { addDays, type SessionDate } from '../../../core/domain/market-time.ts';
import { sampleDividendYield, sampleRate, sessionVolatility, smile } from './options/option-value.ts';
import type { SamplePrices } from './prices.ts';
import { sessionFrom, splitDate, splitSymbol, splitText } from './split.ts';
import { type SampleSymbol, sampleSymbols } from './universe.ts';

/*
 * Splits, dividends and rates of the simulated market. All of it follows from the date, as prices do: one
 * fund splits 2:1 in June of even years and is consolidated 1:2 in June of odd ones, so that its price stays of one
 * order of size; funds and most stocks pay a quarter of the market's dividend yield four times a year; a curve is known
 * on the first session of each month.
 */

/** The datasets of what happens beside trading. */
export const corporateDatasets = ['splits', 'dividends', 'rates', 'roots', 'volatility-days'] as const;
export type CorporateDataset = (typeof corporateDatasets)[number];

/** A range of dates: those after `after`, up to and including `through`. */
export interface DateRange {
  after: SessionDate;
  through: SessionDate;
}

const yearOf = (date: SessionDate) => Number(date.slice(0, 4));
const isIn = (date: SessionDate, { after, through }: DateRange) => date > after && date <= through;

function yearsOf({ after, through }: DateRange): number[] {
  return Array.from({ length: yearOf(through) - yearOf(after) + 1 }, (_, i) => yearOf(after) + i);
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** The first days of the months in a range. */
function monthsOf(range: DateRange): SessionDate[] {
  return yearsOf(range).flatMap((year) => Array.from({ length: 12 }, (_, i) => `${year}-${twoDigits(i + 1)}-01`));
}

function splitLines(range: DateRange): string[] {
  return yearsOf(range)
    .filter((year) => isIn(splitDate(year), range))
    .map((year) => `${splitSymbol},${splitDate(year)},${splitText(year)},${addDays(splitDate(year), -14)}`);
}

const withoutDividend = new Set('AMD NFLX AMZN TSLA BRK.B COIN GLD TQQQ'.split(' '));
const payers = sampleSymbols.filter(({ symbol, kind }) => kind !== 'index' && !withoutDividend.has(symbol));

/** The ex-date of a ticker's dividend in a month; null = it pays none then. */
function exDateIn(entry: SampleSymbol, month: SessionDate): SessionDate | null {
  const number = Number(month.slice(5, 7));
  if (entry.kind === 'fund')
    return number % 3 === 0 ? tradingDayAtOrBefore(thirdFriday(yearOf(month), number - 1)) : null;
  return number % 3 === 2 ? sessionFrom(addDays(month, 6 + (payers.indexOf(entry) % 12))) : null;
}

function dividendDates(range: DateRange): { entry: SampleSymbol; exDate: SessionDate }[] {
  return monthsOf(range).flatMap((month) =>
    payers.flatMap((entry) => {
      const exDate = exDateIn(entry, month);
      return exDate !== null && isIn(exDate, range) ? [{ entry, exDate }] : [];
    }),
  );
}

function dividendLines(prices: SamplePrices, range: DateRange): string[] {
  return dividendDates(range).map(({ entry, exDate }) => {
    const { priorClose } = prices.of(entry, exDate);
    const amount = Math.max(0.01, Math.round(25 * sampleDividendYield * priorClose) / 100);
    return `${entry.symbol},${exDate},${amount},,regular,${exDate}`;
  });
}

/** Points of a curve: days, and the rate's distance from that of the chains, which list 182 days at most. */
const curve = [
  [30, 0],
  [91, 0],
  [182, 0],
  [365, -0.0015],
  [730, -0.003],
] as const;

function rateLines(range: DateRange): string[] {
  return monthsOf(range)
    .map(sessionFrom)
    .filter((date) => isIn(date, range))
    .flatMap((date) => curve.map(([days, above]) => `${date},${days},${(sampleRate + above).toFixed(4)}`));
}

/** The adjusted roots, in every range; their shares per contract are unknown. */
function rootLines(): string[] {
  const adjusted = sampleSymbols.filter(({ adjustedRoot }) => adjustedRoot !== null);
  return adjusted.map(({ symbol, adjustedRoot }) => `${adjustedRoot},${symbol},american,pm,,adjusted,false,,`);
}

/** Days to maturity of the volatility that is listed by session. */
const volatilityYears = 30 / 365;

/** Volatility at 30 days of every ticker with options, session by session, as the chains' smile has it at the money. */
function volatilityLines({ after, through }: DateRange): string[] {
  const lines: string[] = [];
  for (let date = nextTradingDay(after); date <= through; date = nextTradingDay(date))
    for (const entry of sampleSymbols) {
      const level = smile(sessionVolatility(entry, date), 1, 1, volatilityYears);
      lines.push(`${entry.symbol},${date},${level.toFixed(4)}`);
    }
  return lines;
}

/** True if a dataset has rows of a range. */
export function hasCorporate(dataset: CorporateDataset, range: DateRange): boolean {
  if (dataset === 'dividends') return dividendDates(range).length > 0;
  if (dataset === 'volatility-days') return nextTradingDay(range.after) <= range.through;
  const lines = { splits: splitLines, rates: rateLines, roots: rootLines };
  return lines[dataset](range).length > 0;
}

/** The file of a dataset: its rows of a range. */
export function corporateFile(prices: SamplePrices, dataset: CorporateDataset, range: DateRange): string {
  const files = {
    splits: () => ['symbol,ex_date,ratio,declared', ...splitLines(range)],
    dividends: () => ['symbol,ex_date,amount,ratio,kind,declared', ...dividendLines(prices, range)],
    rates: () => ['date,days,rate', ...rateLines(range)],
    'volatility-days': () => ['symbol,date,iv30', ...volatilityLines(range)],
    roots: () => ['root,underlying,style,settlement,multiplier,deliverable,on_forwards,from,to', ...rootLines()],
  };
  return `${files[dataset]().join('\n')}\n`;
}

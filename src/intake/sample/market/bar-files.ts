import type { BarColumns } from '../../../core/domain/market/bar.ts';
import { exchangeInstant, type SessionDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { type SamplePrices, volumeOf } from './prices.ts';
import { randomFrom, seedOf } from './random.ts';
import { type SampleSymbol, sampleSymbols } from './universe.ts';

/** The columns of the vendor's aggregate files. */
export const barHeader = 'ticker,volume,open,close,high,low,window_start,transactions,vwap\n';

const orBlank = (value: number) => (Number.isNaN(value) ? '' : value);

/** Lines of the bars that are complete at `untilMs`. */
export function barLines(ticker: string, bars: BarColumns, untilMs: number): string {
  let text = '';
  for (let i = 0; i < bars.tsMs.length && bars.tsMs[i]! + minuteMs <= untilMs; i++) {
    const prices = `${bars.open[i]},${bars.close[i]},${bars.high[i]},${bars.low[i]}`;
    text += `${ticker},${bars.volume[i]},${prices},${bars.tsMs[i]}000000,${orBlank(bars.tradeCount[i]!)},${orBlank(bars.vwap[i]!)}\n`;
  }
  return text;
}

/** The minute file of a session, up to an instant; of some tickers, or all. */
export function minuteFile(
  prices: SamplePrices,
  session: SessionDate,
  untilMs: number,
  entries: readonly SampleSymbol[] = sampleSymbols,
): string {
  return barHeader + entries.map((entry) => barLines(entry.symbol, prices.minutes(entry, session), untilMs)).join('');
}

function dayLine(entry: SampleSymbol, session: SessionDate, bars: BarColumns, untilMs: number): string {
  let count = 0;
  while (count < bars.tsMs.length && bars.tsMs[count]! + minuteMs <= untilMs) count++;
  if (count === 0) return '';
  let [volume, traded, trades, high, low] = [0, 0, 0, -Infinity, Infinity];
  for (let i = 0; i < count; i++) {
    volume += bars.volume[i]!;
    traded += bars.volume[i]! * bars.vwap[i]!;
    trades += bars.tradeCount[i]!;
    high = Math.max(high, bars.high[i]!);
    low = Math.min(low, bars.low[i]!);
  }
  const vwap = volume > 0 ? Math.round((traded / volume) * 1e4) / 1e4 : Number.NaN;
  const start = `${exchangeInstant(session)}000000`;
  const prices = `${bars.open[0]},${bars.close[count - 1]},${high},${low}`;
  return `${entry.symbol},${volume},${prices},${start},${orBlank(trades)},${orBlank(vwap)}\n`;
}

/** The day file of a session, up to an instant: what its minutes add up to. */
export function dayFile(prices: SamplePrices, session: SessionDate, untilMs: number): string {
  return (
    barHeader + sampleSymbols.map((entry) => dayLine(entry, session, prices.minutes(entry, session), untilMs)).join('')
  );
}

/** A day bar of a session without minutes: the open and close of its minutes, if it had them, and a plausible range. */
function historyLine(prices: SamplePrices, entry: SampleSymbol, session: SessionDate): string {
  const { open, close } = prices.of(entry, session);
  const random = randomFrom(seedOf('history', entry.symbol, session));
  const daily = entry.volatility / Math.sqrt(252);
  const high = Math.round(Math.max(open, close) * (1 + 0.4 * daily * Math.abs(random.normal())) * 100) / 100;
  const low = Math.round(Math.min(open, close) * (1 - 0.4 * daily * Math.abs(random.normal())) * 100) / 100;
  const volume = Math.round(volumeOf(entry, session) * Math.exp(0.3 * random.normal()));
  const isIndex = entry.kind === 'index';
  const trades = isIndex ? '' : Math.round(volume / 100);
  const vwap = isIndex ? '' : Math.round(((open + close + high + low) / 4) * 1e4) / 1e4;
  return `${entry.symbol},${volume},${open},${close},${high},${low},${exchangeInstant(session)}000000,${trades},${vwap}\n`;
}

/** The day file of sessions without minutes. */
export function dayHistoryFile(prices: SamplePrices, sessions: readonly SessionDate[]): string {
  return (
    barHeader +
    sampleSymbols.map((entry) => sessions.map((session) => historyLine(prices, entry, session)).join('')).join('')
  );
}

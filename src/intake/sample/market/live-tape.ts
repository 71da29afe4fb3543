import { priceUnits } from '../../../core/domain/market/print.ts';
import { exchangeInstant, type SessionDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import type { SampleContract } from './options/option-market.ts';
import { nanosText, sampleOptionTape } from './options/option-tape-file.ts';
import type { SamplePrices } from './prices.ts';
import { randomFrom, seedOf } from './random.ts';
import { listingOf } from './stock-conditions.ts';
import { minutePrints } from './stock-minute.ts';
import { stockSession } from './stock-tape.ts';
import { tickersOfTape } from './stock-tape-file.ts';
import { type TapeShape, tapeEndMs, tapeStartMinute } from './tape-shape.ts';
import { type SampleSymbol, sampleSymbols } from './universe.ts';

// After this long without a trade, the line sends the time, so that events waiting for the next print are sent: soon
// after, and when the longest wait is over.
const silencesMs = [350, 1050];

interface StampedLine {
  tsMs: number;
  tsNanos: number;
  text: string;
}

function timeLine(tsMs: number): string {
  return `{"type":"time","sip_timestamp":"${nanosText(tsMs, 0)}"}\n`;
}

function addContract(lines: StampedLine[], { id, prints, quotes }: SampleContract): void {
  for (const [i, { tsMs, tsNanos, bid, ask }] of quotes.entries()) {
    const stamp = `"sip_timestamp":"${nanosText(tsMs, tsNanos)}","sequence_number":${i + 1}`;
    const text = `{"type":"option_quote",${stamp},"contract":"${id}","bid_price":${bid / 100},"ask_price":${ask / 100}}\n`;
    lines.push({ tsMs, tsNanos, text });
  }
  for (const [i, { tsMs, tsNanos, exchange, cents, size, condition }] of prints.entries()) {
    const stamp = `"sip_timestamp":"${nanosText(tsMs, tsNanos)}","sequence_number":${i + 1}`;
    const trade = `"exchange":${exchange},"price":${cents / 100},"size":${size},"conditions":[${condition}]`;
    lines.push({ tsMs, tsNanos, text: `{"type":"option_print",${stamp},"contract":"${id}",${trade}}\n` });
  }
}

function addStocks(lines: StampedLine[], prices: SamplePrices, session: SessionDate, shape: TapeShape): void {
  for (const { entry, prints } of tickersOfTape(shape)) {
    const { tape } = listingOf(entry);
    for (const { print } of stockSession(prices, entry, session, prints)) {
      const { tsMs, tsNanos, exchange, trf, id, price, size, conditions, correction, sequence } = print;
      const stamp = `"sip_timestamp":"${nanosText(tsMs, tsNanos)}","sequence_number":${sequence}`;
      const venue = `"symbol":"${entry.symbol}","exchange":${exchange},"trf_id":${trf},"id":"${id}","tape":${tape}`;
      const trade = `"price":${price / priceUnits},"size":${size},"conditions":[${conditions}],"correction":${correction}`;
      lines.push({ tsMs, tsNanos, text: `{"type":"stock_print",${stamp},${venue},${trade}}\n` });
    }
  }
}

/** Values of an index per minute: about one a second, as indices are calculated. */
const valuesAMinute = 60;

/** Adds an index whose values agree with its minute bars. */
function addIndex(lines: StampedLine[], prices: SamplePrices, session: SessionDate, entry: SampleSymbol): void {
  const random = randomFrom(seedOf('index values', entry.symbol, session));
  const bars = prices.minutes(entry, session);
  for (let i = 0; i < bars.tsMs.length; i++) {
    const [open, high, low, close] = [bars.open[i]!, bars.high[i]!, bars.low[i]!, bars.close[i]!];
    // Its price path is that of a stock with about this number of prints.
    const values = minutePrints({ open, high, low, close, volume: 1000 * valuesAMinute }, valuesAMinute, random);
    for (const [k, { price }] of values.entries()) {
      const tsMs = bars.tsMs[i]! + Math.floor((minuteMs / values.length) * (k + 0.9 * random.next()));
      const hundredths = Math.round((100 * price) / priceUnits);
      const value = `"value":${hundredths / 100},"sip_timestamp":"${nanosText(tsMs, 0)}"`;
      lines.push({ tsMs, tsNanos: 0, text: `{"type":"index_value","symbol":"${entry.symbol}",${value}}\n` });
    }
  }
}

function addIndices(lines: StampedLine[], prices: SamplePrices, session: SessionDate, { symbols }: TapeShape): void {
  for (const entry of sampleSymbols)
    if (entry.kind === 'index' && (symbols?.includes(entry.symbol) ?? true)) addIndex(lines, prices, session, entry);
}

/**
 * The whole tape of a session, stocks, indices and options, as lines of the live tape (docs/live-tape.md) in order of
 * time. It has the content of the vendor files; a print's number is the position of its line among its ticker's. The
 * same at every call.
 */
export function* liveTapeLines(prices: SamplePrices, session: SessionDate, shape: TapeShape): Generator<string> {
  const endMs = tapeEndMs(session);
  const lines: StampedLine[] = [];
  for (const contract of sampleOptionTape(prices, session, endMs, shape).traded) addContract(lines, contract);
  addStocks(lines, prices, session, shape);
  addIndices(lines, prices, session, shape);
  lines.sort((a, b) => a.tsMs - b.tsMs || a.tsNanos - b.tsNanos);
  let lastMs = exchangeInstant(session, tapeStartMinute);
  yield timeLine(lastMs);
  for (const { tsMs, text } of lines) {
    for (const silence of silencesMs) if (tsMs - lastMs > silence) yield timeLine(lastMs + silence);
    yield text;
    lastMs = tsMs;
  }
  for (const silence of silencesMs) yield timeLine(lastMs + silence);
}

import { regularSession } from '../../../../core/domain/calendar.ts';
import type { SessionDate } from '../../../../core/domain/market-time.ts';
import { minuteMs } from '../../../../platform/runtime/clock.ts';
import type { SamplePrices } from '../prices.ts';
import { randomFrom, seedOf } from '../random.ts';
import { lateCloseMs, type TapeShape } from '../tape-shape.ts';
import { tapeSlots } from '../tape-slots.ts';
import { sampleSymbols } from '../universe.ts';
import { putBackground } from './option-background.ts';
import { type OptionMarket, optionMarket, type SampleContract } from './option-market.ts';
import { type OptionStage, type Plant, plantAll } from './option-plants.ts';

const tradeHeader = 'ticker,conditions,correction,exchange,price,sip_timestamp,size\n';
const quoteHeader =
  'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp\n';

/** Epoch nanoseconds as text, because they exceed a double's precision. */
export function nanosText(tsMs: number, tsNanos: number): string {
  return `${tsMs}${String(tsNanos).padStart(6, '0')}`;
}

const byTime = (a: { tsMs: number; tsNanos: number }, b: { tsMs: number; tsNanos: number }) =>
  a.tsMs - b.tsMs || a.tsNanos - b.tsNanos;

function tradeLines({ id, prints }: SampleContract): string {
  let text = '';
  for (const { condition, exchange, cents, tsMs, tsNanos, size } of prints) {
    text += `${id},${condition},0,${exchange},${cents / 100},${nanosText(tsMs, tsNanos)},${size}\n`;
  }
  return text;
}

function quoteLines({ id, quotes, market }: SampleContract): string {
  const { exchanges } = market;
  let text = '';
  for (const [i, { bid, ask, tsMs, tsNanos }] of quotes.entries()) {
    const askSide = `${exchanges[i % exchanges.length]},${ask / 100},${10 + ((i * 7) % 90)}`;
    const bidSide = `${exchanges[(3 * i) % exchanges.length]},${bid / 100},${10 + ((i * 11) % 90)}`;
    text += `${id},${askSide},${bidSide},${i + 1},${nanosText(tsMs, tsNanos)}\n`;
  }
  return text;
}

/** A session's option tape as vendor files, and as data. */
export interface OptionTapeFiles {
  trades: string;
  quotes: string;
  tape: SampleOptionTape;
}

function marketsOf(prices: SamplePrices, session: SessionDate, shape: TapeShape, slots: OptionStage['slots']) {
  return sampleSymbols
    .filter(({ symbol }) => shape.symbols?.includes(symbol) ?? true)
    .map((entry): OptionMarket => optionMarket(prices, entry, session, slots));
}

/**
 * A session's option tape: its traded contracts in order of their names, the prints and quotes of each in order of
 * time.
 */
export interface SampleOptionTape {
  traded: SampleContract[];
  /** Trades planted in the session, including those after `untilMs`. */
  plants: Plant[];
  /** End of the tape, epoch ms. */
  untilMs: number;
}

/** The option tape of a session up to `untilMs`. It is determined by the session's date and the shape. */
export function sampleOptionTape(
  prices: SamplePrices,
  session: SessionDate,
  untilMs: number,
  shape: TapeShape,
): SampleOptionTape {
  const { openMs, closeMs } = regularSession(session)!;
  const slots = tapeSlots(openMs, (closeMs - openMs) / minuteMs);
  const markets = marketsOf(prices, session, shape, slots);
  const stage: OptionStage = { markets, slots, random: randomFrom(seedOf('option tape', session)) };
  const plants = plantAll(stage, shape.plants);
  putBackground(stage, shape.optionPrints);
  const contracts = markets.flatMap((market) => market.contracts);
  const isOver = ({ overMs }: { overMs: number }) => overMs <= untilMs;
  for (const contract of contracts) {
    contract.prints = contract.prints.filter(isOver).sort(byTime);
    contract.quotes = contract.quotes.filter(isOver).sort(byTime);
  }
  const traded = contracts.filter(({ prints }) => prints.length > 0).sort((a, b) => (a.id < b.id ? -1 : 1));
  return { traded, plants, untilMs };
}

/**
 * The option trades and quotes of a session up to an instant, by contract, then time. They are determined by the
 * session's date and the shape: an earlier instant gives a prefix of the same tape, with simultaneous prints either all
 * present or all absent.
 */
export function optionTapeFile(
  prices: SamplePrices,
  session: SessionDate,
  nowMs: number,
  shape: TapeShape,
): OptionTapeFiles {
  const { closeMs } = regularSession(session)!;
  // Until options have ceased to trade everywhere, a tape may be incomplete, so its file has another name than the
  // complete one.
  const untilMs = nowMs >= closeMs + lateCloseMs ? closeMs : Math.min(nowMs, closeMs - 1);
  const tape = sampleOptionTape(prices, session, untilMs, shape);
  return {
    trades: tradeHeader + tape.traded.map(tradeLines).join(''),
    quotes: quoteHeader + tape.traded.map(quoteLines).join(''),
    tape,
  };
}

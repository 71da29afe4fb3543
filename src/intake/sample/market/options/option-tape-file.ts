import { regularSession } from '../../../../core/domain/calendar.ts';
import type { SessionDate } from '../../../../core/domain/market-time.ts';
import { minuteMs } from '../../../../platform/runtime/clock.ts';
import type { SamplePrices } from '../prices.ts';
import { randomFrom, seedOf } from '../random.ts';
import type { Leg } from '../tape-plan.ts';
import { lateCloseMs, type TapeShape } from '../tape-shape.ts';
import { slotMs, tapeSlots } from '../tape-slots.ts';
import { sampleSymbols } from '../universe.ts';
import { type OptionMarket, optionMarket, type SampleContract } from './option-market.ts';
import {
  cancelLater,
  contractsOf,
  isTaken,
  type OptionStage,
  oneOf,
  type Plant,
  plantAll,
  putQuotes,
  quoteLegs,
} from './option-plants.ts';

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
interface OptionTapeFiles {
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

// Shares of the session's option prints; the rest is divided among the other tickers.
const shares: Record<string, number> = { SPY: 0.17, SPX: 0.12, QQQ: 0.11, TSLA: 0.1, AAPL: 0.08, NDX: 0.03 };
const spreadShare = 0.06;
const cancelShare = 0.003;
// Dollars per print, far below those of an event.
const mostUsd = 45_000;

// Condition ids by frequency, cumulative: ordinary, intermarket sweep, auction, floor, cross, late, extended.
const conditions: readonly (readonly [upTo: number, id: number])[] = [
  [0.58, 209],
  [0.8, 219],
  [0.9, 227],
  [0.94, 231],
  [0.97, 229],
  [0.985, 204],
  [1, 202],
];

/** Number of prints of each market, by position. */
function printsOfMarkets(markets: readonly OptionMarket[], prints: number): number[] {
  const weights = markets.map(({ entry }) => shares[entry.symbol] ?? 0);
  const others = weights.filter((weight) => weight === 0).length;
  const rest = Math.max(0.2, 1 - weights.reduce((sum, weight) => sum + weight, 0));
  const all = weights.map((weight) => (weight === 0 ? rest / others : weight));
  const total = all.reduce((sum, weight) => sum + weight, 0);
  return all.map((weight) => Math.round((prints * weight) / total));
}

function sizeOf(stage: OptionStage, contract: SampleContract, meanSize: number, cents: number): number {
  const drawn = Math.ceil(-meanSize * Math.log(1 - stage.random.next()));
  return Math.min(drawn, Math.floor(mostUsd / cents), contract.left);
}

interface Trade {
  leg: Leg;
  tsMs: number;
  overMs: number;
  exchange: number;
  cents: number;
  size: number;
  condition: number;
}

function put(stage: OptionStage, { leg: { contract }, ...trade }: Trade): void {
  const tsNanos = Math.floor(stage.random.next() * 1e6);
  const print = { contract, ...trade, tsNanos, cancelledMs: Infinity };
  contract.left -= trade.size;
  contract.prints.push(print);
  if (stage.random.next() < cancelShare) cancelLater(print, stage);
}

/** Adds one print, alone in its slot. */
function putSingle(stage: OptionStage, contract: SampleContract, meanSize: number): void {
  const { slots, random } = stage;
  const atMs = slots.take(random, [contract.holder]);
  if (atMs === null) return;
  const { legs, quotedMs, firstMs } = quoteLegs([contract], atMs, random);
  const [leg] = legs as [Leg];
  const drawn = random.next();
  const condition = conditions.find(([upTo]) => drawn < upTo)![1];
  // Two in five at either side of the quote, one between.
  const way = random.next();
  const between = leg.bid + Math.round((leg.ask - leg.bid) * random.next());
  const cents = Math.max(1, way < 0.4 ? leg.ask : way < 0.8 ? leg.bid : between);
  const exchange = oneOf(random, contract.market.exchanges);
  const size = sizeOf(stage, contract, meanSize, cents);
  if (size < 1 || isTaken(contract, exchange, cents, size)) return;
  const overMs = atMs + slotMs;
  putQuotes(legs, quotedMs, overMs, random);
  put(stage, { leg, tsMs: firstMs, overMs, exchange, cents, size, condition });
}

/** Adds a small spread of two strikes. */
function putSpread(stage: OptionStage, market: OptionMarket, meanSize: number): void {
  const { slots, random } = stage;
  const contracts = contractsOf(market, 'vertical', random);
  if (!contracts) return;
  const atMs = slots.take(random, [...contracts.map(({ holder }) => holder), market.holder]);
  if (atMs === null) return;
  const { legs, quotedMs, firstMs } = quoteLegs(contracts, atMs, random);
  const prices = legs.map(({ bid, ask }, i) => Math.max(1, i === 0 ? ask : bid));
  const size = Math.min(...legs.map(({ contract }, i) => sizeOf(stage, contract, meanSize, prices[i]!)));
  const exchange = oneOf(random, market.exchanges);
  const taken = legs.some(({ contract }, i) => isTaken(contract, exchange, prices[i]!, size));
  if (size < 1 || taken) return;
  const overMs = atMs + slotMs;
  putQuotes(legs, quotedMs, overMs, random);
  const condition = market.exchanges.length === 1 ? 246 : 232;
  for (const [i, leg] of legs.entries()) {
    put(stage, { leg, tsMs: firstMs + i, overMs, exchange, cents: prices[i]!, size, condition });
  }
}

/**
 * Adds the background of planted events: about `prints` prints. None of them, and no two together, come near an event's
 * premium. A contract's prints together are at most the volume of its chain.
 */
function putBackground(stage: OptionStage, prints: number): void {
  for (const [index, count] of printsOfMarkets(stage.markets, prints).entries()) {
    const market = stage.markets[index]!;
    const total = market.contracts.reduce((sum, { volume }) => sum + volume ** 0.7, 0);
    const spreads = Math.round((count * spreadShare) / 2);
    const volume = market.contracts.reduce((sum, one) => sum + one.volume, 0);
    for (let i = 0; i < spreads; i++) putSpread(stage, market, Math.max(1, (0.5 * volume) / count));
    for (const contract of market.contracts) {
      const share = (contract.volume ** 0.7 * (count - 2 * spreads)) / total;
      const own = Math.floor(share + stage.random.next());
      for (let i = 0; i < own; i++) putSingle(stage, contract, contract.left / (own - i));
    }
  }
}

import { priceUnits } from '../../../core/domain/market/print.ts';
import { exchangeInstant, type SessionDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { minuteWeight, type SamplePrices } from './prices.ts';
import { type Random, randomFrom, seedOf } from './random.ts';
import { type Execution, executionOf, listingOf } from './stock-conditions.ts';
import { addCorrections, type StockRecord } from './stock-corrections.ts';
import { type MinutePrint, minutePrints } from './stock-minute.ts';
import { extendedMs, tapeStartMinute } from './tape-shape.ts';
import type { SampleSymbol } from './universe.ts';

/** State of generating a ticker's session. */
interface Maker {
  entry: SampleSymbol;
  random: Random;
  records: StockRecord[];
  /** Target share of off-exchange volume, and the volumes so far. */
  share: number;
  volume: number;
  offVolume: number;
  nextId: number;
}

function add(
  maker: Maker,
  atMs: number,
  { price, size }: Pick<MinutePrint, 'price' | 'size'>,
  execution: Execution,
  given: { counts?: boolean; extended?: boolean } = {},
): StockRecord {
  const { exchange, trf, conditions } = execution;
  const stamp = { tsMs: Math.floor(atMs), tsNanos: Math.floor(maker.random.next() * 1e6) };
  const print = { ...stamp, exchange, trf, id: maker.nextId++, price, size, conditions };
  const record = {
    print: { ...print, correction: 0, sequence: 0 },
    execution,
    counts: given.counts ?? true,
    repeats: false,
    extended: given.extended ?? false,
  };
  maker.records.push(record);
  return record;
}

/** Chooses off exchange or on, by the gap to the target share and at random. */
function isOffExchange(maker: Maker, size: number): boolean {
  const missing = maker.share * (maker.volume + size) - maker.offVolume;
  const off = missing > size * maker.random.next();
  maker.volume += size;
  if (off) maker.offVolume += size;
  return off;
}

function addMinute(maker: Maker, startMs: number, prints: readonly MinutePrint[], auction: 'open' | 'close' | null) {
  const listing = listingOf(maker.entry).exchange;
  const step = minuteMs / prints.length;
  for (const [i, print] of prints.entries()) {
    if (print.role === auction) {
      // The auction's print is on the listing exchange, and is the first or the last of all.
      const conditions = auction === 'open' ? [17] : [19];
      const edgeMs = auction === 'open' ? startMs + 5 : startMs + minuteMs - 5;
      maker.volume += print.size;
      add(maker, edgeMs, print, { exchange: listing, trf: 0, conditions, category: 'regular_way' });
      continue;
    }
    const atMs = startMs + step * (i + 0.98 * maker.random.next());
    const off = isOffExchange(maker, print.size);
    // Exchanges trade in whole cents.
    const price = off ? print.price : Math.round(print.price / 100) * 100;
    add(maker, atMs, { price, size: print.size }, executionOf(print.role, off, maker.random));
  }
}

/** Adds the listing exchange's official price, which is not an execution. */
function addOfficial(maker: Maker, atMs: number, dollars: number, condition: number) {
  const execution: Execution = {
    exchange: listingOf(maker.entry).exchange,
    trf: 0,
    conditions: [condition],
    category: 'other',
  };
  const price = Math.round(dollars * priceUnits);
  add(maker, atMs, { price, size: 100 }, execution, { counts: false });
}

/** Adds trading before the open and after the close: prints that set no bar's price. */
function addExtended(maker: Maker, fromMs: number, toMs: number, dollars: number, count: number, shares: number) {
  for (let i = 0; i < count; i++) {
    const { random } = maker;
    const atMs = fromMs + ((i + random.next()) * (toMs - fromMs)) / count;
    const price = Math.round(dollars * (1 + 0.002 * (random.next() - 0.5)) * 100) * 100;
    const size = Math.max(1, Math.round((-shares * Math.log(1 - random.next())) / count));
    const execution = executionOf('ordinary', isOffExchange(maker, size), random);
    const small = size < 100;
    const late = execution.trf > 0 && random.next() < 0.15;
    const conditions = late ? [2, 12] : small ? [12, 37] : [12];
    add(
      maker,
      atMs,
      { price, size },
      { ...execution, conditions, category: late ? 'average_price' : 'form_t' },
      { extended: true },
    );
  }
}

/**
 * The tape of a ticker's session, which reproduces its minute bars to the share and the cent. `perMinute` is the
 * approximate number of prints per minute; 30 to 40 per cent of the volume is off exchange. From 08:00 and until two
 * hours after the close there is a little trading too.
 */
export function stockSession(
  prices: SamplePrices,
  entry: SampleSymbol,
  session: SessionDate,
  perMinute: number,
): StockRecord[] {
  const random = randomFrom(seedOf('stock tape', entry.symbol, session));
  const share = 0.32 + 0.06 * random.next();
  const maker: Maker = { entry, random, records: [], share, volume: 0, offVolume: 0, nextId: 1 };
  const bars = prices.minutes(entry, session);
  const minutes = bars.tsMs.length;
  const [openMs, closeMs] = [bars.tsMs[0]!, bars.tsMs[minutes - 1]! + minuteMs];
  const [open, close] = [bars.open[0]!, bars.close[minutes - 1]!];
  const extended = Math.ceil(perMinute);
  addExtended(
    maker,
    exchangeInstant(session, tapeStartMinute),
    openMs - minuteMs,
    open,
    2 * extended,
    entry.dailyVolume * 0.002,
  );
  addOfficial(maker, openMs + 4, open, 16);
  for (let i = 0; i < minutes; i++) {
    const bar = {
      open: bars.open[i]!,
      high: bars.high[i]!,
      low: bars.low[i]!,
      close: bars.close[i]!,
      volume: bars.volume[i]!,
    };
    const count = Math.round(perMinute * Math.sqrt(minuteWeight(i, minutes)) * (0.6 + 0.8 * random.next()));
    addMinute(
      maker,
      bars.tsMs[i]!,
      minutePrints(bar, count, random),
      i === 0 ? 'open' : i === minutes - 1 ? 'close' : null,
    );
  }
  addOfficial(maker, closeMs + 1000, close, 15);
  addExtended(maker, closeMs + 5000, closeMs + extendedMs, close, 3 * extended, entry.dailyVolume * 0.006);
  addCorrections(maker.records, random);
  const { records } = maker;
  records.sort((a, b) => a.print.tsMs - b.print.tsMs || a.print.tsNanos - b.print.tsNanos);
  let sequence = 0;
  // A repeated line has the same number.
  for (const { print } of records) if (print.sequence === 0) print.sequence = ++sequence;
  return records;
}

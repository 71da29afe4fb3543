// A simulated option trades file in a vendor's format: gzip CSV by contract, then time. Written once per size, and
// reused.
import { createWriteStream, existsSync, mkdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { type Random, randomFrom } from '../src/intake/sample/market/random.ts';
import { type BenchUnderlying, benchMarket, pick, tapeSession } from './tape-market.ts';

const openMs = exchangeInstant(tapeSession, 570);
const sessionMicros = 390 * 60 * 1e6;
const header = 'ticker,conditions,correction,exchange,price,sip_timestamp,size\n';
const exchanges = [300, 301, 302, 303, 304, 307, 308, 309, 312, 313, 316, 318, 319, 320, 322, 323];

// Condition ids by frequency, cumulative: ordinary, sweep order, auction, cross, floor, late.
const conditions: readonly (readonly [upTo: number, id: number])[] = [
  [0.6, 209],
  [0.82, 219],
  [0.94, 227],
  [0.97, 229],
  [0.99, 231],
  [1, 202],
];
// Shares of what trades together: spreads, large spreads, sweeps, large blocks; and of prints that are taken back.
const shares = { spread: 0.12, largeSpread: 0.002, sweep: 0.0025, block: 0.003, cancel: 0.002 };

/** Prints of one underlying, as columns. */
interface Prints {
  count: number;
  contract: Int32Array;
  micros: Float64Array;
  cents: Int32Array;
  size: Int32Array;
  exchange: Int16Array;
  condition: Int16Array;
}

function oneOf<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random.next() * from.length)]!;
}

/** Microseconds after the open: busiest after it and before the close. */
function instant(random: Random): number {
  const part = random.next();
  const drawn = random.next();
  return Math.floor(sessionMicros * 0.9999 * (part < 0.3 ? drawn * drawn : part < 0.5 ? 1 - drawn * drawn : drawn));
}

/** Roughly what a contract is worth, cents: a price of the right size is enough here. */
function worth(underlying: BenchUnderlying, contract: number, random: Random): number {
  const { isCall, strike, years } = underlying.contracts[contract]!;
  const spot = underlying.price * (1 + 0.004 * random.normal());
  const width = underlying.volatility * Math.sqrt(years) * spot;
  const away = Math.abs(spot - strike) / width;
  const dollars = Math.max(0, isCall ? spot - strike : strike - spot) + 0.4 * width * Math.exp(-1.2 * away);
  return Math.max(1, dollars < 3 ? Math.round(dollars * 100) : 5 * Math.round(dollars * 20));
}

/** Contracts: mostly one or a few, seldom many, less of what is dear. */
function smallSize(cents: number, random: Random): number {
  const mean = Math.min(9, 1 + 1500 / cents);
  return Math.ceil(-mean * Math.log(1 - random.next()) * (random.next() < 0.03 ? 8 : 1));
}

/** Number of contracts that together are worth `dollars`. */
const sizeWorth = (dollars: number, cents: number) => Math.max(1, Math.ceil(dollars / cents));

function drawPrints(underlying: BenchUnderlying, wanted: number, random: Random): Prints {
  const room = wanted + 16;
  const prints: Prints = {
    count: 0,
    contract: new Int32Array(room),
    micros: new Float64Array(room),
    cents: new Int32Array(room),
    size: new Int32Array(room),
    exchange: new Int16Array(room),
    condition: new Int16Array(room),
  };
  function put(contract: number, micros: number, cents: number, size: number, exchange: number, condition: number) {
    const i = prints.count++;
    prints.contract[i] = contract;
    prints.micros[i] = micros;
    prints.cents[i] = cents;
    prints.size[i] = size;
    prints.exchange[i] = exchange;
    prints.condition[i] = condition;
  }
  function putSpread(large: boolean) {
    const [micros, exchange] = [instant(random), oneOf(random, exchanges)];
    const legs = [pick(underlying, random), pick(underlying, random)];
    const cents = legs.map((leg) => worth(underlying, leg, random));
    const dollars = 120_000 + 300_000 * random.next();
    const size = large ? sizeWorth(dollars, Math.max(...cents)) : smallSize(Math.max(...cents), random);
    for (const [i, leg] of legs.entries()) put(leg, micros + 700 * i, cents[i]!, size, exchange, 232);
  }
  function putSweep() {
    const contract = pick(underlying, random);
    const [start, cents, count] = [instant(random), worth(underlying, contract, random), 3 + random.next() * 6];
    const dollars = (60_000 + 200_000 * random.next()) / count;
    for (let i = 0; i < count; i++) {
      const size = sizeWorth(dollars * (0.8 + 0.6 * random.next()), cents);
      put(contract, start + 9000 * i, cents, size, exchanges[(7 * i) % exchanges.length]!, 219);
    }
  }
  function putSingle(large: boolean) {
    const contract = pick(underlying, random);
    const cents = worth(underlying, contract, random);
    const drawn = random.next();
    const condition = conditions.find(([upTo]) => drawn < upTo)![1];
    const size = large ? sizeWorth(110_000 + 400_000 * random.next(), cents) : smallSize(cents, random);
    const [micros, exchange] = [instant(random), oneOf(random, exchanges)];
    put(contract, micros, cents, size, exchange, condition);
    if (random.next() < shares.cancel) put(contract, micros + 3e6 * random.next(), cents, size, exchange, 201);
  }
  while (prints.count < wanted) {
    const drawn = random.next();
    if (drawn < shares.spread) putSpread(false);
    else if (drawn < shares.spread + shares.largeSpread) putSpread(true);
    else if (drawn < shares.spread + shares.largeSpread + shares.sweep) putSweep();
    else putSingle(random.next() < shares.block);
  }
  prints.count = wanted;
  return prints;
}

/** Places of the prints by contract, then time. */
function order({ count, contract, micros }: Prints, contracts: number): { places: Uint32Array; ends: Uint32Array } {
  const ends = new Uint32Array(contracts + 1);
  for (let i = 0; i < count; i++) ends[contract[i]! + 1]!++;
  for (let i = 0; i < contracts; i++) ends[i + 1]! += ends[i]!;
  const next = ends.slice();
  const places = new Uint32Array(count);
  for (let i = 0; i < count; i++) places[next[contract[i]!]!++] = i;
  for (let i = 0; i < contracts; i++) places.subarray(ends[i]!, ends[i + 1]!).sort((a, b) => micros[a]! - micros[b]!);
  return { places, ends };
}

function* lines(prints: number): Generator<string> {
  const random = randomFrom(20_261_119);
  yield header;
  const underlyings = benchMarket(random);
  let [share, before] = [0, 0];
  for (const underlying of underlyings) {
    // Rounded so that the parts add up to exactly what is wanted.
    share += underlying.share;
    const upTo = underlying === underlyings.at(-1) ? prints : Math.round(prints * share);
    const drawn = drawPrints(underlying, upTo - before, random);
    before = upTo;
    const { places, ends } = order(drawn, underlying.contracts.length);
    for (const [i, { id }] of underlying.contracts.entries()) {
      let text = '';
      for (const at of places.subarray(ends[i]!, ends[i + 1]!)) {
        const micros = Math.floor(drawn.micros[at]!);
        const nanos = String((micros % 1000) * 1000 + (at % 1000)).padStart(6, '0');
        const stamp = `${openMs + Math.floor(micros / 1000)}${nanos}`;
        text += `${id},${drawn.condition[at]},0,${drawn.exchange[at]},${drawn.cents[at]! / 100},${stamp},${drawn.size[at]}\n`;
      }
      if (text) yield text;
    }
  }
}

/** The path of a file with this many prints, which is written on first use. */
export async function tapeFile(prints: number): Promise<string> {
  const folder = join(tmpdir(), 'tapegraph-bench-tapes');
  const path = join(folder, `option-trades-${prints}.csv.gz`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  console.log(`  writing ${path}`);
  const part = `${path}.${process.pid}`;
  await pipeline(Readable.from(lines(prints)), createGzip({ level: 6 }), createWriteStream(part));
  renameSync(part, path);
  return path;
}

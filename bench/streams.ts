import { setTimeout as delay } from 'node:timers/promises';
import { toBarColumns } from '../src/core/domain/market/bar.ts';
import { addDays, exchangeDate, exchangeInstant } from '../src/core/domain/market-time.ts';
import { writeBars } from '../src/store/market/bar-blocks.ts';
import { saveLiveQuotes } from '../src/store/market/live-quotes.ts';
import { saveSymbols } from '../src/store/market/symbols.ts';
import { inTransaction } from '../src/store/rows/transaction.ts';
import { type Ground, openGround } from './ground.ts';
import { type ReadingOrder, readStreams } from './stream-readers.ts';

/** Number of prices sent in a round, and their interval, ms. */
const told = 30;
const everyMs = 250;

const clock = () => performance.timeOrigin + performance.now();
const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;

/** Time from a price's commit to its arrival at the readers, ms, and the cost. */
interface Latency {
  p50Ms: number;
  p99Ms: number;
  /** The last reader's, of the worst price. */
  maxMs: number;
  /** The last reader's, of the middle price. */
  lastMs: number;
  /** CPU of the gateway's process a price, the writing of it included. */
  cpuMs: number;
}

async function commit({ store, now }: Ground, spot: number): Promise<void> {
  await inTransaction(store, async (tx) => {
    const eventTsMs = now();
    const quote = {
      symbol: 'SA',
      sessionDate: exchangeDate(eventTsMs),
      spot,
      eventTsMs,
      volume: 100,
      officialClose: null,
    };
    await saveLiveQuotes(tx, [quote]);
  });
}

let price = 1000;

async function measure(ground: Ground, order: ReadingOrder): Promise<Latency> {
  const readers = await readStreams(order);
  await delay(500);
  const latencies: number[] = [];
  const last: number[] = [];
  const cpu = process.cpuUsage();
  for (let i = 0; i < told; i++) {
    const spot = ++price;
    const all = readers.all(spot);
    await commit(ground, spot);
    const committedMs = clock();
    const { atMs } = await all;
    const after = atMs.map((each) => each - committedMs);
    latencies.push(...after);
    last.push(Math.max(...after));
    await delay(everyMs);
  }
  const { user, system } = process.cpuUsage(cpu);
  readers.stop();
  latencies.sort((a, b) => a - b);
  last.sort((a, b) => a - b);
  return {
    p50Ms: at(latencies, 0.5),
    p99Ms: at(latencies, 0.99),
    maxMs: last.at(-1)!,
    lastMs: at(last, 0.5),
    cpuMs: (user + system) / 1000 / told,
  };
}

function report(name: string, readers: number, { p50Ms, p99Ms, lastMs, maxMs, cpuMs }: Latency): void {
  console.log(
    `${name}, ${readers} readers: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, last reader ${lastMs.toFixed(1)} ms (worst ${maxMs.toFixed(1)}), ${cpuMs.toFixed(1)} ms of CPU a price`,
  );
}

const subscription = 'subscription { quotes(symbols: ["SA"]) { symbol spot changePct volume eventTsMs } }';

/** From a price's commit to its readers: one, a hundred and a thousand on one process, by REST and GraphQL. */
export async function streams(): Promise<void> {
  const ground = await openGround(exchangeInstant('2026-11-20', 11 * 60), { MAX_STREAMS: '10000' });
  try {
    const { store, gateway, key } = ground;
    const day = addDays('2026-11-20', -1);
    const bar = {
      tsMs: exchangeInstant(day),
      open: 1,
      high: 1,
      low: 1,
      close: 1,
      volume: 1,
      vwap: null,
      tradeCount: null,
    };
    await inTransaction(store, async (tx) => {
      await saveSymbols(tx, [benchSymbol]);
      await writeBars(tx, '1d', [{ symbol: 'SA', bars: toBarColumns([bar]) }]);
    });
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
    const doors: Record<string, Omit<ReadingOrder, 'readers'>> = {
      '/v2/stream': { url: `${gateway.url}/v2/stream?topics=quotes:SA`, method: 'GET', headers },
      '/graphql': {
        url: `${gateway.url}/graphql`,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ query: subscription }),
      },
    };
    const overSockets = { ...doors['/graphql']!, method: 'WS' as const };
    // The others read as many streams at the same time; the latency is the WebSockets' own.
    const others = await readStreams({ ...doors['/v2/stream']!, readers: 1000 });
    report('WebSockets beside 1,000 of /v2/stream', 1000, await measure(ground, { ...overSockets, readers: 1000 }));
    others.stop();
    doors.WebSockets = overSockets;
    for (const [name, order] of Object.entries(doors)) {
      for (const readers of [1, 100, 1000]) {
        report(name, readers, await measure(ground, { ...order, readers }));
      }
    }
  } finally {
    await ground.close();
  }
}

const benchSymbol = {
  symbol: 'SA',
  name: 'Bench',
  class: 'equity' as const,
  registered: true,
  windowDays: 60,
  tenorFrame: 'weekly' as const,
  minTier: 'free' as const,
  requiresAttestation: false,
  sector: null,
  instrumentType: 'common_equity' as const,
};

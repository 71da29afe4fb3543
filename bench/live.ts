import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../src/intake/ingest/files/lists/starter-registry.ts';
import { type Ground, openGround } from './ground.ts';
import { type FeedOrder, markEveryMs, markPrice, markSize } from './live-feed.ts';
import type { FollowerEnd } from './live-follower.ts';
import { type Arrivals, type Readers, readStreams } from './stream-readers.ts';

/** A minute at a busy rate, and five at that of a whole market's options. */
const tapes = [
  { printsPerSecond: 5000, seconds: 60 },
  { printsPerSecond: 20_000, seconds: 300 },
];
const contracts = 10_000;
/** Number of readers of each topic. */
const readers = 50;
/** Marks ignored at the beginning, until all readers have received an event. */
const firstMarks = 8;

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;

/** When every mark was with the readers after it was sent, ms: with itself or with a later one. */
function delays(arrivals: readonly Arrivals[], markOf: (value: number) => number, sentMs: (mark: number) => number) {
  const seen = arrivals.map(({ spot, atMs }) => ({ mark: markOf(spot), atMs })).sort((a, b) => a.mark - b.mark);
  const found: number[] = [];
  let next = firstMarks;
  for (const { mark, atMs } of seen)
    for (; next <= mark; next++) for (const each of atMs) found.push(each - sentMs(next));
  return { marks: next - firstMarks, sorted: found.sort((a, b) => a - b) };
}

function report(what: string, { marks, sorted }: ReturnType<typeof delays>): void {
  const ms = (share: number) => `${at(sorted, share).toFixed(0)} ms`;
  console.log(`${what}: ${marks} marks, p50 ${ms(0.5)}, p99 ${ms(0.99)}, worst ${ms(1)}`);
}

interface Followed {
  /** When the tape began, epoch ms of the market's clock. */
  startMs: number;
  sent: number;
  end: FollowerEnd;
}

/** Follows a tape in a process of its own, to its end. */
async function followed(dataDir: string, order: FeedOrder): Promise<Followed> {
  const follower = fork(fileURLToPath(new URL('./live-follower.ts', import.meta.url)), [dataDir]);
  const said: Partial<FollowerEnd> & { startMs?: number; sent?: number } = {};
  follower.on('message', (message: object) => Object.assign(said, message));
  follower.send(order);
  await once(follower, 'exit');
  const { startMs, sent, ...end } = said;
  if (end.commits === undefined) throw new Error('the follower ended before its tape');
  return { startMs: startMs!, sent: sent!, end: end as FollowerEnd };
}

async function readersOf({ gateway, key }: Ground, topic: string, sought: string): Promise<[Readers, Arrivals[]]> {
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
  const url = `${gateway.url}/v2/stream?topics=${topic}`;
  const opened = await readStreams({ url, method: 'GET', headers, readers, key: sought });
  const seen: Arrivals[] = [];
  opened.each((one) => seen.push(one));
  return [opened, seen];
}

async function measure({ printsPerSecond, seconds }: (typeof tapes)[number]): Promise<void> {
  const ground = await openGround(exchangeInstant('2026-11-19', 600), { MAX_STREAMS: '1000' });
  try {
    await ensureStarterRegistry(ground.store, ground.now);
    // Readers receive events once the tape has begun.
    const opening = Promise.all([
      readersOf(ground, 'quotes:SPY', 'spot'),
      readersOf(ground, 'large-trades:SPY:900000', 'total_size'),
    ]);
    await delay(3000);
    const aheadMs = ground.now() - Date.now();
    const cpu = process.cpuUsage();
    const { startMs, sent, end } = await followed(ground.dataDir, { printsPerSecond, seconds, contracts, aheadMs });
    const [[quotes, prices], [trades, blocks]] = await opening;
    await delay(500);
    const { user, system } = process.cpuUsage(cpu);
    for (const one of [quotes, trades]) one.stop();
    const sentMs = (mark: number) => startMs - aheadMs + mark * markEveryMs;
    const share = (ms: number) => `${((100 * ms) / (1000 * seconds)).toFixed(0)} % of a core`;
    console.log(
      `a live tape, ${printsPerSecond} prints/s of ${contracts} contracts for ${seconds} s: ` +
        `${sent} lines sent, ${end.lines} taken, ${end.badLines} bad, ${end.commits} commits`,
    );
    const priceMark = (price: number) => Math.round((price - markPrice(0)) * 100);
    report(`  SPY's price, ${readers} readers`, delays(prices, priceMark, sentMs));
    report(
      `  a large trade, ${readers} readers`,
      delays(blocks, (size) => size - markSize(0), sentMs),
    );
    const { _sum: solves } = await ground.store.prisma.greeksMinute.aggregate({ _sum: { count: true } });
    console.log(
      `  follower: ${share(end.cpuMs)}, ${end.peakMb.toFixed(0)} MB at most; gateway: ${share((user + system) / 1000)}; ${solves.count} solves`,
    );
  } finally {
    await ground.close();
  }
}

/** A live tape at a steady rate: when its prints are seen by readers of two topics, and what that takes. */
export async function live(): Promise<void> {
  for (const each of tapes) await measure(each);
}

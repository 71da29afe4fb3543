// `tapegraph follow` on a clock of its own, fed by a process of its own: what `live.ts` measures.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { follow } from '../src/intake/ingest/tail/follow.ts';
import { liveCommitEveryMs } from '../src/intake/ingest/tail/live-session.ts';
import { openStore } from '../src/store/rows/connection.ts';
import type { FeedOrder } from './live-feed.ts';

/** Final report of a follower. */
export interface FollowerEnd {
  commits: number;
  lines: number;
  badLines: number;
  /** The follower's CPU, ms. */
  cpuMs: number;
  peakMb: number;
}

async function run(dataDir: string, order: FeedOrder): Promise<void> {
  const store = await openStore({ databaseUrl: process.env.DATABASE_URL ?? null, dataDir });
  const feed = fork(fileURLToPath(new URL('./live-feed.ts', import.meta.url)), ['--feed'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  feed.on('message', (message: object) => process.send!(message));
  const before = process.cpuUsage();
  feed.send(order);
  const { commits, lines, badLines } = await follow(store, feed.stdout!, {
    source: 'bench',
    fromStart: false,
    everyMs: liveCommitEveryMs,
    gammaSource: 'solve',
    rate: 0.045,
    now: () => Date.now() + order.aheadMs,
    stop: new AbortController().signal,
    onBadLine: ({ reason }) => console.error(reason),
  });
  const { user, system } = process.cpuUsage(before);
  const peakMb = process.resourceUsage().maxRSS / 1024;
  process.send!({ commits, lines, badLines, cpuMs: (user + system) / 1000, peakMb } satisfies FollowerEnd);
  await store.close();
  process.disconnect();
}

if (process.argv[2] !== undefined) process.once('message', (order) => void run(process.argv[2]!, order as FeedOrder));

import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { windows } from './bars-page.ts';
import { dashboardQuery } from './dashboard.ts';
import { session } from './gex-history.ts';
import type { Ground } from './ground.ts';
import { type LoadOrder, load } from './load.ts';
import { cpuOf, type Served, served } from './served.ts';

const rounds = 5;
/** So many that the system spreads them evenly. */
const connections = 64;
const requests = 2000;

const settings = { RATE_PRO: '1000000', LOG_LEVEL: 'silent' };

/** Requests to send: addresses, and bodies that are never repeated. */
function orders(credential: string): Record<string, (url: string, round: number) => LoadOrder> {
  const headers = { authorization: `Bearer ${credential}` };
  const pages = windows(2 * rounds * requests);
  const [from, to] = [exchangeInstant(session, 570), exchangeInstant(session, 960)];
  const common = { connections, durationMs: 60_000 };
  return {
    'pages of 1,000 bars, never seen before': (url, round) => ({
      ...common,
      headers,
      requests,
      urls: pages.slice(round * requests, (round + 1) * requests).map((path) => url + path),
    }),
    'dashboards of 25 symbols, no two alike': (url, round) => ({
      ...common,
      requests: requests / 10,
      method: 'POST',
      urls: [`${url}/graphql`],
      headers: { ...headers, 'content-type': 'application/json' },
      bodies: Array.from({ length: requests / 10 }, (_, i) =>
        JSON.stringify({
          query: dashboardQuery,
          variables: { from: String(from - round * requests - i), to: String(to) },
        }),
      ),
    }),
  };
}

/** Requests of a second in which the busiest worker's core is full, by the CPU time that each took for its part. */
async function fullRate(server: Served, order: LoadOrder): Promise<number> {
  const pids = server.workers;
  const before = pids.map(cpuOf);
  await load(order);
  const busiestMs = Math.max(...pids.map((pid, i) => cpuOf(pid) - before[i]!));
  return (1000 * order.requests!) / busiestMs;
}

const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Compares one worker with two, alternately: the gain of a second worker if each has a core of its own. */
export async function workers({ dataDir, access }: Ground): Promise<void> {
  // The servers' clock is not the ground's.
  const credential = await access.sessions.create('bench', 30 * 86_400_000);
  const [one, two] = await Promise.all([
    served(dataDir, settings, ['--workers', '1']),
    served(dataDir, settings, ['--workers', '2']),
  ]);
  try {
    for (const [what, order] of Object.entries(orders(credential))) {
      const ratios: number[] = [];
      // The first round warms both.
      for (let round = 0; round <= rounds; round++) {
        const ofOne = await fullRate(one, order(one.url, round));
        const ofTwo = await fullRate(two, order(two.url, round));
        if (round > 0) ratios.push(ofTwo / ofOne);
      }
      console.log(
        `${what}: two workers take ${middle(ratios).toFixed(2)}× what one takes (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`,
      );
    }
  } finally {
    for (const { child, exit } of [one, two]) {
      child.kill('SIGTERM');
      await exit;
    }
  }
}

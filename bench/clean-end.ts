import { setTimeout as delay } from 'node:timers/promises';
import { type BusyRequests, type ClientKind, startClients } from '../test/support/busy-clients.ts';
import { readEvents, subscribe } from '../test/support/event-reader.ts';
import { openGround } from './ground.ts';
import { killedWorkers, startsAndCrashes } from './restarts.ts';
import { type Served, served, worst } from './served.ts';

/** Times each server is stopped. */
const runs = Number(process.env.CLEAN_END_RUNS ?? 20);
/** Streams that are open when a server is stopped, half of them REST's, half the graph's. */
const streams = 8;
/** Measurements to run: `stops`, `workers`, `starts`, comma-separated. */
const parts = (process.env.CLEAN_END_PARTS ?? 'stops,workers,starts').split(',');

const loads: Record<string, ClientKind[]> = {
  '16 keep-alive': Array<ClientKind>(16).fill('keep-alive'),
  mixed: (['keep-alive', 'new', 'pipelining', 'slow-reader', 'slow-body'] as const).flatMap((kind) =>
    Array<ClientKind>(kind === 'keep-alive' ? 6 : 3).fill(kind),
  ),
};

/**
 * Opens the streams. The returned function resolves with the end of the last stream, ms by performance.now(); Infinity
 * if one ended without the reason.
 */
async function openStreams(url: string, key: string): Promise<() => Promise<number>> {
  const query = 'subscription { quotes(symbols: ["SPY"]) { spot } }';
  const headers = { authorization: `Bearer ${key}` };
  const readers = await Promise.all(
    Array.from({ length: streams }, (_, i) =>
      i % 2 === 0 ? subscribe(url, key, query) : readEvents(`${url}/v2/stream?topics=quotes:SPY`, { headers }),
    ),
  );
  const ends = Promise.all(readers.map(({ over }) => over.then(() => performance.now())));
  return async () => {
    const told = (reader: (typeof readers)[number]) => /shutdown/.test(JSON.stringify(reader.events));
    const lastMs = Math.max(...(await ends));
    return readers.every(told) ? lastMs : Number.POSITIVE_INFINITY;
  };
}

/** Stops a server under busy clients; what they met, and how long streams and the server took to end, ms. */
async function stopOnce(kinds: ClientKind[], requests: Omit<BusyRequests, 'url'>, key: string, server: Served) {
  const { child, exit, url } = server;
  const streamsEnded = await openStreams(url, key);
  const clients = startClients(kinds, { ...requests, url });
  await delay(500 + Math.random() * 300);
  const startedMs = performance.now();
  child.kill('SIGTERM');
  void delay(200).then(clients.closingFrom);
  const streamsMs = (await streamsEnded()) - startedMs;
  await exit;
  const tookMs = performance.now() - startedMs;
  await Promise.race([clients.ended, delay(20_000)]);
  clients.stop();
  return { met: clients.met, streamsMs, tookMs, code: child.exitCode };
}

/** SIGTERM under load: resets and cut answers, and how long it takes. */
async function stops(): Promise<void> {
  const ground = await openGround(Date.now());
  const { dataDir, key } = ground;
  const requests = {
    headers: { authorization: `Bearer ${key}` },
    small: [
      { path: '/v2/symbols' },
      { path: '/graphql', body: JSON.stringify({ query: '{ registry { symbol name } }' }) },
      { path: '/healthz' },
    ],
    large: '/v2/openapi.json',
  };
  try {
    for (const [load, kinds] of Object.entries(loads))
      for (const workers of [1, 2])
        for (const drainMs of [0, 2000]) {
          const env = { DRAIN_DELAY_MS: String(drainMs), RATE_PRO: '1000000', LOG_LEVEL: 'warn' };
          const broken: Record<string, number> = {};
          const took: number[] = [];
          const streamsTook: number[] = [];
          let [answered, refused, notLast, badExits] = [0, 0, 0, 0];
          for (let run = 0; run < runs; run++) {
            const server = await served(dataDir, env, ['--workers', String(workers)]);
            const { met, streamsMs, tookMs, code } = await stopOnce(kinds, requests, key, server);
            for (const each of met.broken) broken[each] = (broken[each] ?? 0) + 1;
            took.push(tookMs);
            streamsTook.push(streamsMs);
            answered += met.answered;
            refused += met.refused;
            notLast += met.kept;
            if (code !== 0) badExits++;
          }
          console.log(
            `${load}, ${workers} process(es), drain ${drainMs} ms, ${runs} stops: ${answered} answered, ${refused} refused by the closed port,`,
            `${notLast} answers in the drain without close, ${badExits} bad exits; streams ended after ${worst(streamsTook)}, the server after ${worst(took)}; broken:`,
            broken,
          );
        }
  } finally {
    await ground.close();
  }
}

/** Measures stops, killed workers and starts; `parts` selects among them. */
export async function cleanEnd(): Promise<void> {
  const measurements = { stops, workers: killedWorkers, starts: startsAndCrashes };
  for (const [name, measure] of Object.entries(measurements)) if (parts.includes(name)) await measure();
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BusyRequests, type ClientKind, startClients } from '../test/support/busy-clients.ts';
import { openGround } from './ground.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Times each server is stopped. */
const runs = Number(process.env.CLEAN_END_RUNS ?? 20);

const loads: Record<string, ClientKind[]> = {
  '16 keep-alive': Array<ClientKind>(16).fill('keep-alive'),
  mixed: (['keep-alive', 'new', 'pipelining', 'slow-reader', 'slow-body'] as const).flatMap((kind) =>
    Array<ClientKind>(kind === 'keep-alive' ? 6 : 3).fill(kind),
  ),
};

async function served(dataDir: string, env: Record<string, string>, workers: number) {
  const child: ChildProcess = spawn(
    process.execPath,
    [main, 'serve', '--port', '0', '--json', '--workers', String(workers)],
    {
      env: { PATH: process.env.PATH, TAPEGRAPH_DATA: dataDir, ...env } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exit = once(child, 'exit');
  const [first] = await Promise.race([
    once(child.stdout!, 'data'),
    exit.then(() => Promise.reject(new Error('it ended'))),
  ]);
  return { child, exit, url: JSON.parse(String(first)).url as string };
}

/** Stops a server under busy clients; what they met. */
async function stopOnce(
  kinds: ClientKind[],
  requests: Omit<BusyRequests, 'url'>,
  start: () => ReturnType<typeof served>,
) {
  const { child, exit, url } = await start();
  const clients = startClients(kinds, { ...requests, url });
  await delay(500 + Math.random() * 300);
  const startedMs = performance.now();
  child.kill('SIGTERM');
  void delay(200).then(clients.closingFrom);
  await exit;
  const tookMs = performance.now() - startedMs;
  await Promise.race([clients.ended, delay(20_000)]);
  clients.stop();
  return { met: clients.met, tookMs, code: child.exitCode };
}

/** SIGTERM under load: resets and cut answers, and how long it takes. */
export async function cleanEnd(): Promise<void> {
  const ground = await openGround(Date.now());
  const { dataDir } = ground;
  const requests = {
    headers: { authorization: `Bearer ${ground.key}` },
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
          const broken: number[] = [];
          const seen: Record<string, number> = {};
          const took: number[] = [];
          let [answered, kept, codes] = [0, 0, 0];
          for (let run = 0; run < runs; run++) {
            const { met, tookMs, code } = await stopOnce(kinds, requests, () => served(dataDir, env, workers));
            broken.push(met.broken.length);
            for (const each of met.broken) seen[each] = (seen[each] ?? 0) + 1;
            took.push(tookMs);
            answered += met.answered;
            kept += met.kept;
            if (code !== 0) codes++;
          }
          took.sort((a, b) => a - b);
          console.log(
            `${load}, ${workers} process(es), drain ${drainMs} ms: broken ${broken.reduce((a, b) => a + b, 0)} in ${runs} runs (${broken.join(' ')}) of ${answered} answers, ${kept} without close, ${codes} bad exits, took ${Math.round(took[runs >> 1]!)} ms (most ${Math.round(took.at(-1)!)})`,
            seen,
          );
        }
  } finally {
    await ground.close();
  }
}

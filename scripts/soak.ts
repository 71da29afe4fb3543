// `npm run soak -- --minutes 30`: a gateway with workers on a PostgreSQL and a Redis of its own, under mixed load,
// while database, Redis and workers are cut and killed. Acknowledged writes are verified at the end. Exit code 1 =
// something was lost or duplicated.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { exchangeDate } from '../src/core/domain/market-time.ts';
import { randomOf } from '../test/support/random.ts';
import { command, type OwnGateway, type Settings, startGateway } from './own-gateway.ts';
import { type Asked, ask, makeTally, type Tally } from './soak/ask.ts';
import { faultsOf, followWorkers } from './soak/faults.ts';
import {
  importWrites,
  newTradeWrites,
  tradeWrites,
  type Verdict,
  type WriteLoad,
  watchlistWrites,
} from './soak/ledger.ts';
import { freePort, makePostgres, makeRedis } from './soak/own-servers.ts';
import { dashboardRequest, followStream, restRequest, type StreamReader } from './soak/reads.ts';
import { type ProcessReport, watchProcesses } from './soak/watch.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    /** Seconds from one fault to the next; 0 = none. */
    faults: { type: 'string', default: '45' },
    data: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const today = exchangeDate(Date.now());
/** In the names of all records, so that those of an earlier run in the same folder are not taken for this one's. */
const run = Date.now().toString(36);
const accounts = ['soak-a', 'soak-b', 'soak-c', 'soak-d'];
/** Answers this long after a fault are counted apart from the undisturbed ones. */
const recoveryMs = 10_000;

interface Client {
  account: string;
  key: string;
  session: string;
}

async function makeClients(settings: Settings): Promise<Client[]> {
  const clients: Client[] = [];
  for (const account of accounts) {
    await command(
      settings,
      'account',
      'set',
      account,
      '--api-tier',
      'pro',
      '--site-tier',
      'pro',
      '--classification',
      'non_professional',
    );
    clients.push({
      account,
      key: String((await command(settings, 'key', 'create', '--account', account)).key),
      session: String((await command(settings, 'session', 'create', '--account', account, '--expires-in', '7d')).token),
    });
  }
  return clients;
}

/** Does `step` again and again with a pause, until the time is over. */
async function keepDoing(untilMs: number, pauseMs: number, step: () => Promise<void>): Promise<void> {
  while (performance.now() < untilMs) {
    await step();
    await delay(pauseMs);
  }
}

interface Load {
  done: Promise<unknown>;
  writes: WriteLoad[];
  streams: StreamReader[];
}

/**
 * Starts every client: dashboards and REST pages that are read, streams that are followed, records that are written.
 */
function startLoad(url: string, clients: readonly Client[], tally: Tally, untilMs: number): Load {
  const random = randomOf(Number(values.seed));
  const reading = (credential: string, next: () => Asked) => async () => {
    const asked = next();
    tally.record(asked.kind, await ask(url, credential, asked));
  };
  const writes = clients.flatMap(({ account, key, session }) => [
    watchlistWrites({ url, credential: session, tally, name: `${account}-w${run}` }),
    tradeWrites({ url, credential: key, tally, name: `${account}-t${run}` }),
    importWrites({ url, credential: session, tally, name: `${account}-m${run}` }),
    newTradeWrites({ url, credential: key, tally, name: `${account}-p${run}` }),
  ]);
  const streams = clients.flatMap(({ key }) => ['SPY', 'QQQ'].map((symbol) => followStream(url, key, symbol, tally)));
  const running = [
    ...clients.flatMap(({ key, session }) => [
      keepDoing(
        untilMs,
        150,
        reading(session, () => dashboardRequest(random)),
      ),
      keepDoing(
        untilMs,
        100,
        reading(key, () => restRequest(random, today)),
      ),
      keepDoing(
        untilMs,
        100,
        reading(session, () => restRequest(random, today)),
      ),
    ]),
    ...writes.map((load, i) => keepDoing(untilMs, i % 4 === 2 ? 2000 : 400, () => load.write())),
  ];
  return { done: Promise.all(running), writes, streams };
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const percent = ({ served, sent }: { served: number; sent: number }) => `${((100 * served) / sent).toFixed(3)} %`;

function latencyText(ms: readonly number[]): string {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (part: number) => `${(sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1)} ms`;
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, worst ${at(1)}`;
}

function printProcesses(reports: readonly ProcessReport[]): void {
  for (const { pid, minutes: lived, peakBytes, endBytes, slope, loopP99, alive } of reports) {
    const growth = slope === null ? 'too short for a slope' : `${(slope / 1e6).toFixed(2)} MB a minute`;
    const loop = loopP99
      ? `event-loop p99 ${(1000 * loopP99.median).toFixed(1)} ms in the middle, ${(1000 * loopP99.most).toFixed(0)} ms at most`
      : '';
    const held = alive ? `; alive in the heap ${mb(alive.first)} at first, ${mb(alive.last)} in the end` : '';
    console.log(
      `worker     ${pid}, ${lived.toFixed(1)} min: ${mb(endBytes)} at the end, ${mb(peakBytes)} at most, ${growth}; ${loop}${held}`,
    );
  }
}

function printAnswers(tally: Tally, faults: ReadonlyMap<string, number>): void {
  console.log(`faults     ${[...faults].map(([name, times]) => `${times}× ${name}`).join(', ') || 'none'}`);
  console.log(
    `requests   ${tally.total.sent}, answered without 5xx or cut ${percent(tally.total)}; outside ${recoveryMs / 1000} s after a fault ${percent(tally.undisturbed)}`,
  );
  console.log(`latency    ${latencyText(tally.latencies)}; outside faults ${latencyText(tally.undisturbed.ms)}`);
  for (const [kind, times] of [...tally.answers].sort()) console.log(`  ${String(times).padStart(8)}  ${kind}`);
}

/** Prints the verdicts; true if nothing was lost or doubled. */
function printVerdicts(verdicts: readonly Verdict[]): boolean {
  const sum = (of: (verdict: Verdict) => number) => verdicts.reduce((total, verdict) => total + of(verdict), 0);
  const [lost, doubled] = [verdicts.flatMap((verdict) => verdict.lost), verdicts.flatMap((verdict) => verdict.doubled)];
  console.log(
    `writes     ${sum((v) => v.acknowledged)} acknowledged, ${sum((v) => v.unknown)} without an answer; lost ${lost.length}, doubled ${doubled.length}`,
  );
  for (const each of [...lost, ...doubled].slice(0, 20)) console.log(`  FOUND ${each}`);
  return lost.length === 0 && doubled.length === 0;
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    const ready = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return;
    await delay(500);
  }
  throw new Error('the gateway is not ready a minute after the last fault');
}

async function soak(gateway: OwnGateway, settings: Settings, metricsPort: number, servers: Servers): Promise<boolean> {
  const clients = await makeClients(settings);
  const workers = followWorkers(gateway);
  const tally = makeTally();
  const untilMs = performance.now() + minutes * 60_000;
  const watched = watchProcesses(() => workers.pids(), metricsPort, Math.min(5, minutes / 4));
  const load = startLoad(gateway.url, clients, tally, untilMs);
  const faults = faultsOf(servers.postgres, servers.redis, workers);
  const random = randomOf(Number(values.seed) + 1);
  const happened = new Map<string, number>();
  const gapMs = Number(values.faults) * 1000;
  while (gapMs > 0 && performance.now() + gapMs + recoveryMs < untilMs) {
    await delay(gapMs);
    const fault = random.pick(faults);
    tally.faultBegins();
    await fault.run();
    tally.faultEnds(recoveryMs);
    happened.set(fault.name, (happened.get(fault.name) ?? 0) + 1);
    process.stderr.write(`${new Date().toISOString()} ${fault.name}\n`);
  }
  await load.done;
  for (const stream of load.streams) stream.stop();
  await untilReady(gateway.url);
  const verdicts = await Promise.all(load.writes.map((writes) => writes.check()));
  printAnswers(tally, happened);
  const events = load.streams.reduce((total, { counts }) => total + counts.events, 0);
  console.log(
    `streams    ${load.streams.length}, opened ${load.streams.reduce((total, { counts }) => total + counts.opened, 0)} times, ${events} events`,
  );
  printProcesses(watched.stop());
  return printVerdicts(verdicts);
}

interface Servers {
  postgres: Awaited<ReturnType<typeof makePostgres>>;
  redis: Awaited<ReturnType<typeof makeRedis>>;
}

const data = values.data ?? (await mkdtemp(join(tmpdir(), 'tapegraph-soak-')));
const servers: Servers = { postgres: await makePostgres(data), redis: await makeRedis(data) };
await Promise.all([servers.postgres.start(), servers.redis.start()]);
const metricsPort = await freePort();
const settings: Settings = {
  TAPEGRAPH_DATA: data,
  DATABASE_URL: servers.postgres.url,
  REDIS_URL: servers.redis.url,
  SESSION_SECRET: 'a secret of the soak alone, long enough for HS256',
  LOG_LEVEL: 'warn',
  METRICS_PORT: String(metricsPort),
  RATE_PRO: '1000000',
};
const serve = ['--workers', values.workers, '--sample', '--always-open'];
const gateway = await startGateway(settings, serve, join(data, 'gateway.log'));
try {
  process.exitCode = (await soak(gateway, settings, metricsPort, servers)) ? 0 : 1;
} finally {
  await gateway.stop();
  await Promise.all([servers.postgres.stop(), servers.redis.kill()]);
  if (values.data === undefined) await rm(data, { recursive: true, force: true });
}

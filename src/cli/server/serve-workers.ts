import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { serveLimits } from '../../access/limits/limits-by-message.ts';
import type { Clock } from '../../runtime/clock.ts';
import { heapOptions } from '../../runtime/memory-plan.ts';
import { beforeSuddenEnd } from '../../runtime/sudden-end.ts';
import { lineLog } from '../line-log.ts';
import { type Gateway, shutdownMs, untilInterrupted, warnOfOthers } from './gateway.ts';
import { cannotListen } from './listen.ts';
import { alwaysOpen, bringSample, startLiveSample } from './sample.ts';
import { type Closer, closeAll } from './shutdown.ts';
import type { WorkerTask } from './worker.ts';
import { startWorkerPool } from './worker-pool.ts';

/** Connections to the database that all workers may have together, as far as each can do with its part of them. */
const connectionsInAll = 64;
const fewestConnections = 4;
const mostConnections = 16;

/** Several processes that serve on one port. */
export interface OpenedPool {
  address: AddressInfo;
  /** Process ids of those that answer requests. */
  workers: number[];
  key: string | null;
  now: Clock;
}

/** The port that the workers will share: the one asked for if it is free, or one that is. */
async function sharedPort({ port, host }: { port: number; host: string }): Promise<number> {
  const probe = createServer();
  probe.listen({ port, host, exclusive: true });
  await once(probe, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw cannotListen(error, { port, host });
  });
  const { port: found } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return found;
}

/** Does once what the workers need done: the store is opened and brought up to date, and the sample market brought. */
async function prepare({ terminal, config, options, clock, log }: Gateway, closers: Closer[]) {
  const [{ openStore }, { ensureStarterRegistry }, { openAccess }] = await Promise.all([
    import('../../store/engine/connection.ts'),
    import('../../ingest/files/starter-registry.ts'),
    import('../../access/open-access.ts'),
  ]);
  const line = lineLog(log);
  const { databaseUrl, dataDir } = config;
  const store = await openStore({ databaseUrl, dataDir, log: line, stop: terminal.interrupted });
  closers.push({ name: 'the store', close: () => store.close() });
  const now = options.alwaysOpen ? await alwaysOpen(store, clock) : clock;
  await ensureStarterRegistry(store, now);
  await warnOfOthers(store, config, log);
  if (!options.sample) return { now, sample: null };
  const access = await openAccess({ store, config: { ...config, redisUrl: null }, now, log: line });
  const into = { terminal, config, store, access, now, log, shape: options.sampleShape };
  const sample = await bringSample(into).finally(() => access.close());
  if (sample) closers.push(sample.closer);
  return { now, sample };
}

/**
 * Serves with `count` processes until this one is asked to end; then each drains. This one answers no request: it
 * shares out connections, counts limits for all, and starts another worker when one ends. Throws when they cannot
 * begin, or end as soon as they start again and again.
 */
export async function runWorkers(
  gateway: Gateway,
  count: number,
  onReady: (opened: OpenedPool) => void,
): Promise<void> {
  const { terminal, config, endedBarsOnly, log, memory } = gateway;
  const { interrupted } = terminal;
  const closers: Closer[] = [];
  const endMs = config.drainDelayMs + shutdownMs;
  let endedWell = true;
  interrupted.addEventListener('abort', () => terminal.endWithin?.(endMs + 3000), { once: true });
  try {
    const port = await sharedPort(config);
    const { now, sample } = await prepare(gateway, closers);
    const key = sample?.key ?? null;
    const poolSize = Math.max(fewestConnections, Math.min(mostConnections, Math.floor(connectionsInAll / count)));
    const clockAheadMs = Math.round(now() - terminal.now());
    const task = { config: { ...config, port }, clockAheadMs, endedBarsOnly, key, poolSize, memory };
    const tasks = Array.from({ length: count }, (_, index): WorkerTask => {
      const { metricsPort } = config;
      // Each worker has its own metrics, on a port of its own.
      return { ...task, config: { ...task.config, metricsPort: metricsPort && metricsPort + index } };
    });
    // Who chose the heap's size for all of Node means the workers too.
    const chosen = /--max[-_]old[-_]space[-_]size/.test(terminal.env.NODE_OPTIONS ?? '');
    const program = fileURLToPath(new URL('../../worker.ts', import.meta.url));
    const pool = startWorkerPool({
      program,
      options: chosen ? [] : heapOptions(memory),
      tasks,
      spare: gateway.options.spareWorker ?? true,
      limits: serveLimits(config.rates),
      log: lineLog(log),
    });
    let stopped: Promise<boolean> | null = null;
    const begin = () => {
      stopped = pool.stop(endMs + 1000);
    };
    const close = async () => {
      endedWell = (await stopped) ?? true;
    };
    // Asked to stop first: they drain while the sample market ends.
    closers.push({ name: 'the workers', begin, close });
    beforeSuddenEnd(async () => pool.kill());
    const interruption = untilInterrupted(terminal);
    const atWork = await Promise.race([pool.ready, interruption.then(() => null)]);
    if (atWork && (await Promise.race([Promise.resolve(sample?.latest).then(() => true), interruption]))) {
      onReady({ address: atWork[0]!.address, workers: atWork.map(({ pid }) => pid), key, now });
      if (sample) closers.push(startLiveSample({ terminal, config, now, log }, sample.whole));
    }
    await Promise.race([interruption, pool.givenUp]);
    log.info('stopping');
  } catch (error) {
    if (!interrupted.aborted) throw error;
  } finally {
    for (const { begin } of closers) begin?.();
    const left = await closeAll(closers, endMs + 2000, () => performance.now());
    for (const { name, reason } of left) log.warn({ reason }, `not finished: ${name}`);
  }
  if (!endedWell) throw new Error('not every worker stopped cleanly');
}

import { lookup } from 'node:dns/promises';
import * as net from 'node:net';
import { type AddressInfo, isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import { getSystemErrorName } from 'node:util';
import type { Logger } from 'pino';
import type { LimitsServer } from '../../access/limits/limits-by-message.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Rates } from '../../platform/config/tiers.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { heapOptions, type MemoryPlan } from '../../platform/runtime/memory-plan.ts';
import { beforeSuddenEnd } from '../../platform/runtime/sudden-end.ts';
import { type Terminal, untilInterrupted } from '../io/terminal.ts';
import { lineLog } from '../line-log.ts';
import { cannotListen, type ListenAt } from './listen.ts';
import type { BoundSocket } from './pool-process.ts';
import type { RoutesFolder } from './routes-folder.ts';
import { shutdownMs } from './shutdown.ts';
import type { Found, WorkerTask } from './worker.ts';
import { type PoolEnd, type PoolOptions, startWorkerPool } from './worker-pool.ts';

/** Maximum number of database connections of all workers together, as long as each can work with its share. */
const connectionsInAll = 64;
const fewestConnections = 4;
const mostConnections = 16;

/** Time for workers to end at a second signal, ms: less than this process has. */
const suddenEndMs = 450;

/** A server to run: the processes that answer requests, and this one, which starts them. */
export interface ServeOrder {
  terminal: Terminal;
  config: Config;
  options: { sample?: boolean; alwaysOpen?: boolean };
  /** True if the clock was set to another time: bars are shown only once they end. */
  endedBarsOnly: boolean;
  /** The requested clock of the server, which `alwaysOpen` may set forward. */
  clock: Clock;
  log: Logger;
  /** Number of processes that answer requests. */
  count: number;
  /** True if one more is started ahead, to replace one that ends. */
  spare: boolean;
  /** Memory of each of them. */
  memory: MemoryPlan;
  /** The operator's routes, and their reading again; null = there are none. */
  routes: RoutesFolder | null;
}

/** Processes that serve one port. */
export interface OpenedPool {
  address: AddressInfo;
  /** Process ids of the workers. */
  workers: number[];
  /** The sample market's; null without one. */
  key: string | null;
  now: Clock;
}

/** Tasks of the workers: the first, the lead, prepares the store for all, and loads the sample market. */
function tasksOf(order: ServeOrder, port: number) {
  const { terminal, config, options, endedBarsOnly, clock, count, memory, routes } = order;
  const poolSize = Math.max(fewestConnections, Math.min(mostConnections, Math.floor(connectionsInAll / count)));
  const startedAheadMs = Math.round(clock() - terminal.now());
  const { sample = false, alwaysOpen = false } = options;
  return (index: number, found: Found | null): WorkerTask => {
    // Each worker has its own metrics, on its own port.
    const metricsPort = config.metricsPort && config.metricsPort + index;
    const { key, clockAheadMs } = found ?? { key: null, clockAheadMs: startedAheadMs };
    // The clock is set forward once: the next lead continues with it.
    const lead = { sample, alwaysOpen: alwaysOpen && found === null, isFirst: found === null };
    return {
      config: { ...config, port, metricsPort },
      clockAheadMs,
      endedBarsOnly,
      poolSize,
      memory,
      isOneOfMany: count > 1,
      part: index === 0 ? lead : { key },
      routes: routes?.files ?? null,
    };
  };
}

/** Node's options for a worker; without a heap size if one is set for all of Node. */
function optionsOf({ terminal, memory }: ServeOrder): string[] {
  const given = [...process.execArgv, terminal.env.NODE_OPTIONS ?? ''].join(' ');
  return /--max[-_]old[-_]space[-_]size/.test(given) ? [] : heapOptions(memory);
}

/** The counts for all workers. Their code is loaded while the first worker starts. */
function limitsLater(rates: Rates): LimitsServer {
  let counts: Promise<LimitsServer> | null = null;
  const counting = () => {
    counts ??= import('../../access/limits/limits-by-message.ts').then(({ serveLimits }) => serveLimits(rates));
    return counts;
  };
  setImmediate(counting);
  return {
    answer: async (asker, question, reply) => (await counting()).answer(asker, question, reply),
    forget: (asker) => void counting().then(({ forget }) => forget(asker)),
  };
}

function startWorkers(
  order: ServeOrder,
  { port, socket }: { port: number; socket: PoolOptions<never, never>['socket'] },
) {
  const { config, count, spare, log } = order;
  const pool = startWorkerPool<WorkerTask, Found>({
    program: fileURLToPath(new URL('../../worker.ts', import.meta.url)),
    options: optionsOf(order),
    count,
    taskOf: tasksOf(order, port),
    socket,
    spare,
    limits: limitsLater(config.rates),
    log: lineLog(log),
  });
  beforeSuddenEnd(() => pool.end(suddenEndMs));
  return pool;
}

/** Ends an embedded database whose only users were workers that have ended. */
async function stopUnusedDatabase({ databaseUrl, dataDir }: Config, log: Logger): Promise<void> {
  if (databaseUrl !== null) return;
  const { stopIfUnused } = await import('../../store/embedded/embedded-server.ts');
  await stopIfUnused(dataDir).catch((error: Error) => log.warn({ err: error }, 'not finished: the embedded database'));
}

/**
 * Serves with `count` processes until this one is asked to end; then each drains. This process answers no request and
 * opens no store: it holds the port, counts limits for all, and replaces workers that end. Throws if they cannot start,
 * or repeatedly end right after the start.
 */
export async function runWorkers(order: ServeOrder, onReady: (opened: OpenedPool) => void): Promise<void> {
  const { terminal, config, count, log } = order;
  const { interrupted } = terminal;
  const endMs = config.drainDelayMs + shutdownMs;
  interrupted.addEventListener('abort', () => terminal.endWithin?.(endMs + 3000), { once: true });
  const bound = count === 1 ? await bindSocket(config) : { port: await sharedPort(config), socket: null };
  const pool = startWorkers(order, bound);
  const { routes } = order;
  if (routes) terminal.onReload?.(() => void routes.reload((files) => pool.change({ routes: files }), log));
  const interruption = untilInterrupted(terminal);
  let end: PoolEnd;
  try {
    const opened = await Promise.race([pool.ready, pool.givenUp, interruption]);
    if (opened) {
      const { workers, found } = opened;
      const now = () => terminal.now() + found.clockAheadMs;
      onReady({ address: workers[0]!.address, workers: workers.map(({ pid }) => pid), key: found.key, now });
    }
    await Promise.race([pool.givenUp, interruption]);
  } finally {
    end = await pool.stop(endMs + 1000);
    if (end.anyAborted) await stopUnusedDatabase(config, log);
  }
  if (!end.cleanly) throw new Error('not every worker stopped cleanly');
}

/** Node's internal API for a bound socket that does not listen; a negative number is a system error. */
interface BindingNet {
  _createServerHandle(address: string, port: number, addressType: 4 | 6, fd: number, flags: number): Handle | number;
}

type Handle = BoundSocket & { getsockname(out: Partial<AddressInfo>): number };

function throwIfFailed(code: number, at: ListenAt): void {
  if (code >= 0) return;
  const name = getSystemErrorName(code);
  throw cannotListen(Object.assign(new Error(`bind ${name} ${at.host}:${at.port}`), { code: name }), at);
}

/**
 * Binds a socket to the port, for a process that will listen on it. The holder of the socket keeps the port:
 * connections that arrive while no process accepts them wait in the system's queue. A `net.Server` would accept them
 * here. Node has no public call for a socket that does not.
 */
async function bindSocket(at: ListenAt): Promise<{ port: number; socket: BoundSocket }> {
  const { address } = await lookup(at.host).catch((error: NodeJS.ErrnoException) => {
    throw cannotListen(error, at);
  });
  const addressType = isIP(address) === 6 ? 6 : 4;
  const socket = (net as unknown as BindingNet)._createServerHandle(address, at.port, addressType, -1, 0);
  if (typeof socket === 'number') {
    throwIfFailed(socket, at);
    throw new Error(`${at.host} cannot be bound`);
  }
  const name: Partial<AddressInfo> = {};
  // The system reports a port in use here at the latest.
  throwIfFailed(socket.getsockname(name), at);
  return { port: name.port!, socket };
}

/** Finds the port that several workers will open, each with its own socket: the requested one if it is free. */
async function sharedPort(at: ListenAt): Promise<number> {
  const { port, socket } = await bindSocket(at);
  socket.close();
  return port;
}

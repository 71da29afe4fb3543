import { setFlagsFromString } from 'node:v8';
import { isAboutLimits, type LimitsAnswer, limitsByMessage } from '../../access/limits/limits-by-message.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { idleGlanceMs, idleLookMs, idleMemory, type MemoryPlan } from '../../platform/runtime/memory-plan.ts';
import type { RouteFiles } from '../../rest/own/route-files.ts';
import type { CompiledContract } from '../../rest/route-table.ts';
import type { OwnRoutesSource } from '../../server.ts';
import { failureText } from '../io/command-result.ts';
import type { Terminal } from '../io/terminal.ts';
import { logOf } from '../line-log.ts';
import { type FollowerPart, type LeadPart, runGateway } from './gateway.ts';
import { loadGateway } from './load-gateway.ts';
import type { OrderMessage, WorkerMessage } from './pool-process.ts';

/** Task of a worker. */
export interface WorkerTask {
  config: Config;
  /** Offset of the server's clock from the machine's, ms. */
  clockAheadMs: number;
  /** True to show bars only once they end. */
  endedBarsOnly: boolean;
  /** Maximum number of database connections. */
  poolSize: number;
  memory: MemoryPlan;
  /** True if other workers serve the port too. */
  isOneOfMany: boolean;
  part: LeadPart | FollowerPart;
  /** The operator's routes; null = none. */
  routes: RouteFiles | null;
}

/** The lead's findings, for the workers that start after it. */
export interface Found {
  /** The sample market's key; null without one. */
  key: string | null;
  /** Offset of the server's clock from the machine's, ms. */
  clockAheadMs: number;
}

/** The channel between a worker and its parent process. */
export interface Line {
  send(message: object): void;
  onMessage(listener: (message: OrderMessage<WorkerTask> | LimitsAnswer, socket?: object) => void): void;
  /** Adds a listener for the end of the parent process. */
  onLost(listener: () => void): void;
}

/** The process of a worker. */
export interface WorkerProcess {
  pid: number;
  /** Its number among the workers, for the log. */
  number: number;
  terminal: Omit<Terminal, 'interrupted'>;
  /** Aborted when a signal asks it to end. */
  interrupted: AbortController;
  /** CPU time that it has taken, ms. */
  cpuMs: () => number;
  /** Ends immediately, after releasing what others depend on. */
  end: () => void;
}

/** The operator's routes of a task, which a message of the parent process replaces. */
function ownRoutesOf({ routes: files }: WorkerTask, line: Line): OwnRoutesSource | null {
  if (files === null) return null;
  const taken = Promise.withResolvers<(files: RouteFiles) => void>();
  line.onMessage((message) => {
    if (!('order' in message) || message.order !== 'change') return;
    const { routes } = message.change;
    // Messages are taken in their order, also those that come before the server serves.
    void taken.promise.then((take) => {
      let problem: string | null = null;
      try {
        if (routes) take(routes);
      } catch (error) {
        problem = failureText(error);
      }
      line.send({ worker: 'changed', problem });
    });
  });
  return { files, onReplace: taken.resolve };
}

type Say = (message: WorkerMessage<Found>) => void;

/** Loads the modules of a task, and compiles what does not depend on its input. */
async function prepare({ config }: WorkerTask): Promise<CompiledContract | undefined> {
  const { compileContract, loadPrisma, loadTableFormats } = await loadGateway();
  await loadTableFormats();
  await loadPrisma();
  // A traced contract is compiled with its traces.
  return config.traces === null ? compileContract(config) : undefined;
}

async function serve({ task, contract, socket }: Given, line: Line, process: WorkerProcess) {
  const { number, terminal, interrupted } = process;
  const { config, clockAheadMs, isOneOfMany, endedBarsOnly, poolSize, memory, part } = task;
  const idle = idleMemory({ cpuMs: () => process.cpuMs(), setFlag: setFlagsFromString });
  setInterval(idle.look, idleLookMs).unref();
  setInterval(idle.glance, idleGlanceMs).unref();
  const limits = limitsByMessage(config.rates, line.send);
  line.onMessage((message) => isAboutLimits(message) && limits.hear(message));
  line.onLost(limits.lost);
  const ownRoutes = ownRoutesOf(task, line);
  const clock: Clock = () => terminal.now() + clockAheadMs;
  const log = logOf(config, terminal.stderr);
  const say: Say = (message) => line.send(message);
  await runGateway(
    {
      terminal: { ...terminal, interrupted: interrupted.signal },
      log: isOneOfMany ? log.child({ worker: number }) : log,
      port: { shared: isOneOfMany, socket },
      config,
      clock,
      endedBarsOnly,
      memory,
      part,
      limits,
      poolSize,
      contract,
      ownRoutes,
    },
    {
      onListening({ listening: { address }, key, now }) {
        const found = { key, clockAheadMs: Math.round(now() - terminal.now()) };
        say({ worker: 'listening', address, found });
      },
      onReady: () => say({ worker: 'ready' }),
    },
  );
}

/** A worker's task, and the contract compiled ahead for it. */
interface Given {
  task: WorkerTask;
  contract: CompiledContract | undefined;
  /** The socket to listen on; absent: its own. */
  socket: object | undefined;
}

/** Reports that this process waits, and prepares when ordered to; null = it must end. */
function untilGiven(line: Line, { interrupted, end }: WorkerProcess): Promise<Given | null> {
  const say: Say = (message) => line.send(message);
  let contract: Promise<CompiledContract | undefined> = Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const { signal } = interrupted;
    signal.addEventListener('abort', () => resolve(null), { once: true });
    if (signal.aborted) resolve(null);
    line.onMessage((message, socket) => {
      if (!('order' in message)) return;
      const { order } = message;
      if (order === 'stop') interrupted.abort();
      else if (order === 'end') end();
      else if (order === 'prepare') {
        contract = prepare(message.task);
        contract.then(() => say({ worker: 'prepared' }), reject);
      } else if (order === 'work')
        contract.then((compiled) => resolve({ task: message.task, contract: compiled, socket }), reject);
    });
    say({ worker: 'waiting' });
  });
}

/**
 * Requests a task and runs it until stopped, or until the parent process has ended: then too, requests in flight finish
 * and counts are written. Returns true if it ended without a failure.
 */
export async function runWorker(line: Line, process: WorkerProcess): Promise<boolean> {
  line.onLost(() => process.interrupted.abort());
  try {
    const given = await untilGiven(line, process);
    if (given !== null) await serve(given, line, process);
    return true;
  } catch (error) {
    const say: Say = (message) => line.send(message);
    say({ worker: 'failed', why: failureText(error), stack: error instanceof Error ? error.stack : undefined });
    return false;
  }
}

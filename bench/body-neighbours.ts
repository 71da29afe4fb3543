import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { percentile } from './body-costs.ts';
import type { LoadCommand, LoadReport, Sent } from './fairness-load.ts';
import type { Served } from './sample-server.ts';

const rounds = Number(process.env.BODY_ROUNDS ?? 5);
const phaseMs = 4000;
const median = (values: readonly number[]) => percentile(values, 0.5);
const canPin = process.platform === 'linux' && availableParallelism() > 1;

/** A client's process, on the second core; the server's main thread has the first. */
function client(file: string, priority: number, ...args: string[]): ChildProcess {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args);
  if (canPin) execFileSync('taskset', ['-a', '-p', '-c', '1', String(child.pid)], { stdio: 'ignore' });
  if (priority > 0 || process.getuid?.() === 0) setPriority(child.pid!, priority);
  return child;
}

/** Puts a process with its threads and children before others of the machine, for which the server is not to blame. */
function prefer(pid: number): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    setPriority(Number(thread), -15);
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
    for (const child of children.split(' ').filter(Boolean)) prefer(Number(child));
  }
}

/** Tells a process what to do; resolves with what it reports when that is done. */
async function tell<T>(child: ChildProcess, command: object): Promise<T> {
  child.send(command);
  const [report] = await once(child, 'message');
  return report as T;
}

/** Requests of a light client. */
function lightRequests({ url, lightToken }: Served): Sent[] {
  const headers = { authorization: `Bearer ${lightToken}`, 'x-measured': '1' };
  const get = (path: string): Sent => ({ url: url + path, method: 'GET', headers });
  const graph = (query: string): Sent => ({
    url: `${url}/graphql`,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return [
    get('/v2/symbols/SPY/spot'),
    graph('{ symbol(symbol: "AAPL") { quote { spot changePct } spot { price ts } } }'),
    get('/v2/quotes?symbols=SPY,QQQ,AAPL'),
    get('/v2/symbols/SPY'),
  ];
}

/** Waiting time of a light client, p99: the median of the rounds. */
export interface Waits {
  ms: number;
  /** The same in CPU time of the server, whichever request it spends it on. */
  cpuMs: number;
}

/** Waiting time of a light client beside two senders, and alone. */
export interface Beside {
  alone: Waits;
  beside: Waits;
  /** Median of the rounds' ratios. */
  ratio: number;
  /** Answers that the senders had in all rounds. */
  answers: number;
}

/** Measures a light client's p99 alone and beside two senders of a shape, in turn. */
export async function besideSenders(server: Served, shape: string): Promise<Beside> {
  if (canPin) execFileSync('taskset', ['-p', '-c', '0', String(server.child.pid)], { stdio: 'ignore' });
  prefer(server.child.pid!);
  const light = client('./fairness-load.ts', -15, '--clients');
  const senders = client('./body-senders.ts', 15, server.url, ...server.senders);
  const command: LoadCommand = {
    do: 'measure',
    requests: lightRequests(server),
    connections: 2,
    pauseMs: 5,
    durationMs: phaseMs,
  };
  const p99 = async (): Promise<Waits> => {
    await server.state();
    const { latenciesMs } = await tell<LoadReport>(light, command);
    return { ms: percentile(latenciesMs, 0.99), cpuMs: percentile((await server.state()).measuredMs, 0.99) };
  };
  const [alone, beside]: [Waits[], Waits[]] = [[], []];
  let answers = 0;
  await p99();
  for (let round = 0; round < rounds; round++) {
    alone.push(await p99());
    await tell(senders, { press: shape });
    await delay(500);
    beside.push(await p99());
    answers += await tell<number>(senders, { press: null });
  }
  for (const child of [light, senders]) child.kill();
  const middle = (waits: readonly Waits[]): Waits => ({
    ms: median(waits.map(({ ms }) => ms)),
    cpuMs: median(waits.map(({ cpuMs }) => cpuMs)),
  });
  const ratio = median(beside.map(({ ms }, i) => ms / alone[i]!.ms));
  return { alone: middle(alone), beside: middle(beside), ratio, answers };
}

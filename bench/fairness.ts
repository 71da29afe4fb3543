import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { defaultMemory, heapOptions } from '../src/platform/runtime/memory-plan.ts';
import { days } from './bars-page.ts';
import type { LoadCommand, LoadReport, Sent } from './fairness-load.ts';

const rounds = 5;
const phaseMs = 4000;

interface Credentials {
  key: string;
  session: string;
}

/** Message of the server's process when it is ready. */
interface Served {
  url: string;
  light: Credentials;
  heavy: Credentials[];
  symbols: string[];
  session: string;
}

/** A process of this measurement, on one core where there are several. */
async function start(file: string, core: number, ...args: string[]): Promise<ChildProcess> {
  // The server has the heap that the launcher gives it.
  const execArgv =
    file === './fairness-server.ts' ? [...process.execArgv, ...heapOptions(defaultMemory)] : process.execArgv;
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { execArgv });
  child.once('exit', (code) => {
    if (code) throw new Error(`${file} ended with ${code}`);
  });
  if (file === './fairness-load.ts' && canPin) {
    execFileSync('taskset', ['-a', '-p', '-c', String(core), String(child.pid)], { stdio: 'ignore' });
  }
  return child;
}

const canPin = process.platform === 'linux' && availableParallelism() > 1;

async function tell(child: ChildProcess, command: LoadCommand): Promise<LoadReport> {
  child.send(command);
  const [report] = await once(child, 'message');
  return report as LoadReport;
}

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

function get(url: string, credential: string): Sent {
  return { url, method: 'GET', headers: bearer(credential) };
}

function ask(url: string, credential: string, query: string): Sent {
  const headers = { ...bearer(credential), 'content-type': 'application/json' };
  return { url: `${url}/graphql`, method: 'POST', headers, body: JSON.stringify({ query }) };
}

/** Requests of a small dashboard. */
function lightRequests({ url, light: { session } }: Served): Sent[] {
  return [
    get(`${url}/v2/symbols/SA/spot`, session),
    ask(url, session, '{ symbol(symbol: "SB") { quote { spot changePct } spot { price ts } } }'),
    get(`${url}/v2/quotes?symbols=SA,SB,SC`, session),
    get(
      `${url}/v2/stocks/SC/bars?from=${exchangeInstant(days[3]!, 570)}&to=${exchangeInstant(days[3]!, 600)}`,
      session,
    ),
  ];
}

const barFields = 'tsMs open high low close volume vwap tradeCount';

/**
 * The largest documents that are answered: two pages of 50,000 bars, which nearly fill the ceiling of values, and a
 * session of captures.
 */
function heavyDocuments(served: Served, { session }: Credentials): Sent[] {
  const page = (alias: string, symbol: string) =>
    `${alias}: symbol(symbol: "${symbol}") { bars(from: "${days[0]}", to: "2026-11-20", limit: 50000) { rows { ${barFields} } } }`;
  const bars = `{ ${served.symbols
    .slice(0, 2)
    .map((symbol, i) => page(`a${i}`, symbol))
    .join(' ')} }`;
  const captures = `{ symbol(symbol: "SA") { gex { history(date: "${served.session}") { captures { capturedAt strikes { strike gex callOi putOi deltaAdj gex0dte gexShares } } } } } }`;
  return [ask(served.url, session, bars), ask(served.url, session, captures)];
}

/** Pages of 1,000 bars, each another. */
function barPages({ url, symbols }: Served, { key }: Credentials): Sent[] {
  return Array.from({ length: 3000 }, (_, i) => {
    const day = Math.floor(i / symbols.length) % (days.length - 3);
    const minute = Math.floor(i / (symbols.length * (days.length - 3))) % 160;
    const from = exchangeInstant(days[day]!, 570 + minute);
    const to = exchangeInstant(days[day + 2]!, 790 + minute);
    return get(`${url}/v2/stocks/${symbols[i % symbols.length]}/bars?from=${from}&to=${to}`, key);
  });
}

const at = (values: number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;
const median = (values: number[]) => at(values, 0.5);

/** Most memory the server's process has had, MB. */
function peakMb(server: ChildProcess): number {
  if (process.platform !== 'linux') return Number.NaN;
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))!;
  return Number(kilobytes) / 1024;
}

interface Neighbours {
  name: string;
  begin: LoadCommand;
}

function neighboursOf(served: Served): Neighbours[] {
  const { hostname: host, port } = new URL(served.url);
  const pressed = (requests: (of: Credentials) => Sent[]) =>
    served.heavy.map((of) => ({ requests: requests(of), connections: 2 }));
  return [
    {
      name: 'two clients with the heaviest documents',
      begin: { do: 'press', clients: pressed((of) => heavyDocuments(served, of)) },
    },
    {
      name: 'two clients with pages of 1,000 bars',
      begin: { do: 'press', clients: pressed((of) => barPages(served, of)) },
    },
    { name: '5,000 idle and 500 slow sockets', begin: { do: 'hold', host, port: Number(port), idle: 5000, slow: 500 } },
  ];
}

/** Measures the waiting time of a small client beside others, and alone: phases in turn, in the same run. */
export async function fairness(): Promise<void> {
  const server = await start('./fairness-server.ts', 0, ...(canPin ? ['0'] : []));
  const [served] = (await once(server, 'message')) as [Served];
  const light = await start('./fairness-load.ts', 1, '--clients');
  const others = await start('./fairness-load.ts', 1, '--clients');
  // The light client must not wait for its own core, which is not the server's doing: its neighbours' client runs
  // there, and the database and the collector's threads do at times.
  setPriority(others.pid!, 15);
  if (process.getuid?.() === 0) setPriority(light.pid!, -15);
  const measure = (durationMs: number) =>
    tell(light, { do: 'measure', requests: lightRequests(served), connections: 2, pauseMs: 5, durationMs });
  await measure(2000);
  for (const { name, begin } of neighboursOf(served)) {
    const alone: number[] = [];
    const beside: number[] = [];
    const done = { answers: 0, refused: 0, bytes: 0, sockets: 0 };
    for (let round = 0; round < rounds; round++) {
      alone.push(at((await measure(phaseMs)).latenciesMs, 0.99));
      const { sockets } = await tell(others, begin);
      await delay(500);
      beside.push(at((await measure(phaseMs)).latenciesMs, 0.99));
      const { answers, refused, bytes } = await tell(others, { do: 'stop' });
      done.answers += answers;
      done.refused += refused;
      done.bytes += bytes;
      done.sockets = sockets;
    }
    const ratio = median(beside.map((ms, i) => ms / alone[i]!));
    const ms = (values: number[]) =>
      `${median(values).toFixed(1)} ms (${values.map((value) => value.toFixed(0)).join(', ')})`;
    const streams = done.sockets ? `, ${done.sockets} sockets` : '';
    console.log(
      `beside ${name}: p99 ${ms(beside)}, alone ${ms(alone)}: ${ratio.toFixed(2)}×\n` +
        `    they had ${done.answers} answers, ${(done.bytes / 1e6).toFixed(0)} MB, ${done.refused} refused${streams}; ` +
        `the server's most memory ${peakMb(server).toFixed(0)} MB`,
    );
  }
  for (const child of [light, others]) child.kill();
  server.send('end');
  await once(server, 'exit');
}

import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { watchLoop } from '../test/support/loop-watch.ts';

// Loaded into a server's process (`--import`): tells over a socket what the process takes, since the system's own
// figures come in hundredths of a second, and collects garbage where that is asked for (`--expose-gc`).

/** State of a process as reported by its probe. */
export interface ProcessState {
  /** CPU time of all its threads, ms. */
  cpuMs: number;
  /** Bytes: resident; V8's heap, and what of it is in use; buffers. */
  rss: number;
  heapTotal: number;
  heapUsed: number;
  arrayBuffers: number;
  /** V8's external memory, buffers included. */
  external: number;
  /** Most CPU time that the main thread spent in one iteration of the event loop since `watch`, ms; 0 = not watched. */
  longestTurnMs: number;
  /** CPU time of the process during each request with `x-measured` since the last query, ms. */
  measuredMs: number[];
}

interface Exchange {
  request: IncomingMessage;
}

/** Queries of a probe: the state, the state after a garbage collection, and the same from now on. */
export type Asked = 'state' | 'collect' | 'watch';

let watched: (() => number) | null = null;
let measuredMs: number[] = [];

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Measures requests with `x-measured` by CPU time, which other processes of the machine do not change. */
function measureRequests(): void {
  const began = new WeakMap<object, number>();
  const isMeasured = (message: unknown) => (message as Exchange).request.headers['x-measured'] !== undefined;
  subscribe('http.server.request.start', (message) => {
    if (isMeasured(message)) began.set((message as Exchange).request, cpuMs());
  });
  subscribe('http.server.response.finish', (message) => {
    if (isMeasured(message)) measuredMs.push(cpuMs() - began.get((message as Exchange).request)!);
  });
}

function state(): ProcessState {
  const { rss, heapTotal, heapUsed, arrayBuffers, external } = process.memoryUsage();
  const longestTurnMs = watched?.() ?? 0;
  watched = null;
  const found = { cpuMs: cpuMs(), rss, heapTotal, heapUsed, arrayBuffers, external, longestTurnMs, measuredMs };
  measuredMs = [];
  return found;
}

function answer(asked: Asked): ProcessState {
  if (asked === 'collect') void globalThis.gc!();
  const found = state();
  if (asked === 'watch') watched = watchLoop();
  return found;
}

const path = process.env.PROCESS_PROBE;
// The launcher, and the processes that start and serve the worker, load it too.
if (path !== undefined && process.argv[1]!.endsWith('/src/worker.ts')) {
  const server = createServer((socket) => {
    socket.on('data', (asked) => socket.write(`${JSON.stringify(answer(String(asked) as Asked))}\n`));
    socket.on('error', () => socket.destroy());
  });
  server.listen(path).unref();
  measureRequests();
}

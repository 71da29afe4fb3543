import { fork } from 'node:child_process';
import http from 'node:http';
import { fileURLToPath } from 'node:url';

/** Result of one round of load. */
export interface LoadResult {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  bytes: number;
}

export interface LoadOrder {
  /** Loopback addresses requested in rotation. */
  urls: string[];
  method?: 'GET' | 'POST';
  bodies?: string[];
  headers: Record<string, string>;
  connections: number;
  /** Ends after this many ms, or when `requests` are done. */
  durationMs: number;
  requests?: number;
}

/** Sends bounded load to a server on loopback from a process of its own, so that measuring costs the server nothing. */
export function load(order: LoadOrder): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--generate']);
    child.once('message', (result) => resolve(result as LoadResult));
    child.once('exit', (code) => code && reject(new Error(`the load generator ended with ${code}`)));
    child.send(order);
  });
}

function ask(agent: http.Agent, url: string, order: LoadOrder, body: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent, method: order.method ?? 'GET', headers: order.headers }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${url} answered ${response.statusCode}`)),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function generate(order: LoadOrder): Promise<LoadResult> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: order.connections });
  const latencies: number[] = [];
  let next = 0;
  let bytes = 0;
  const start = performance.now();
  const until = start + order.durationMs;
  async function connection(): Promise<void> {
    while (performance.now() < until && next < (order.requests ?? Infinity)) {
      const index = next++;
      const began = performance.now();
      bytes = await ask(
        agent,
        order.urls[index % order.urls.length]!,
        order,
        order.bodies?.[index % order.bodies.length],
      );
      latencies.push(performance.now() - began);
    }
  }
  await Promise.all(Array.from({ length: order.connections }, connection));
  const seconds = (performance.now() - start) / 1000;
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return { requestsPerSecond: latencies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), bytes };
}

if (process.argv[2] === '--generate') {
  process.once('message', (order) => {
    void generate(order as LoadOrder).then((result) => process.send!(result, () => process.exit(0)));
  });
}

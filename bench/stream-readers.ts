import { fork } from 'node:child_process';
import http from 'node:http';
import { fileURLToPath } from 'node:url';

/** Streams to be read. */
export interface ReadingOrder {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** Streams read at the same time, each on a connection of its own. */
  readers: number;
}

/** What came of one event: when each reader had it, epoch ms with fractions. */
export interface Arrivals {
  spot: number;
  atMs: number[];
}

/** Readers of streams in a process of their own. */
export interface Readers {
  /** Resolves when every reader has had the price `spot`. */
  all(spot: number): Promise<Arrivals>;
  stop(): void;
}

/** Opens the streams; resolves when each has been told something. */
export async function readStreams(order: ReadingOrder): Promise<Readers> {
  const child = fork(fileURLToPath(import.meta.url), ['--read']);
  const waiting = new Map<number, (arrivals: Arrivals) => void>();
  const opened = Promise.withResolvers<void>();
  child.on('message', (message: Arrivals | 'open') => {
    if (message === 'open') opened.resolve();
    else waiting.get(message.spot)?.(message);
  });
  child.once('exit', (code) => code && opened.reject(new Error(`the readers ended with ${code}`)));
  child.send(order);
  await opened.promise;
  return {
    all: (spot) => new Promise((resolve) => waiting.set(spot, resolve)),
    stop: () => void child.kill(),
  };
}

const clock = () => performance.timeOrigin + performance.now();

function read(order: ReadingOrder): void {
  const arrivals = new Map<number, number[]>();
  let begun = 0;
  const took = (spot: number, atMs: number) => {
    const times = arrivals.get(spot) ?? [];
    arrivals.set(spot, times);
    if (times.push(atMs) === order.readers) process.send!({ spot, atMs: times });
  };
  for (let i = 0; i < order.readers; i++) {
    let first = true;
    const { method, headers } = order;
    const request = http.request(order.url, { method, headers, agent: false }, (response) => {
      if (response.statusCode !== 200) throw new Error(`a stream answered ${response.statusCode}`);
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        const atMs = clock();
        for (const [, spot] of text.matchAll(/"spot":([\d.]+)/g)) {
          if (first) {
            first = false;
            if (++begun === order.readers) process.send!('open');
          } else took(Number(spot), atMs);
        }
      });
    });
    request.end(order.body);
  }
}

if (process.argv.includes('--read')) process.once('message', (order) => read(order as ReadingOrder));

import { fork } from 'node:child_process';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';

/** Streams to be read. */
export interface ReadingOrder {
  url: string;
  /** `WS`: a WebSocket by graphql-transport-ws, over which `body` is what is subscribed to. */
  method: 'GET' | 'POST' | 'WS';
  headers: Record<string, string>;
  body?: string;
  /** Streams read at the same time, each on a connection of its own. */
  readers: number;
  /** The key of the number to find in events; `spot` if absent. */
  key?: string;
}

/** Arrival times of one event: when each reader received it, epoch ms with fractions. */
export interface Arrivals {
  spot: number;
  atMs: number[];
}

/** Readers of streams in a process of their own. */
export interface Readers {
  /** Resolves when every reader has had the price `spot`. */
  all(spot: number): Promise<Arrivals>;
  /** Calls with all that every reader has had. */
  each(listener: (arrivals: Arrivals) => void): void;
  stop(): void;
}

/** Opens the streams; resolves when each has received an event. */
export async function readStreams(order: ReadingOrder): Promise<Readers> {
  const child = fork(fileURLToPath(import.meta.url), ['--read']);
  const waiting = new Map<number, (arrivals: Arrivals) => void>();
  const listeners: ((arrivals: Arrivals) => void)[] = [];
  const opened = Promise.withResolvers<void>();
  child.on('message', (message: Arrivals | 'open') => {
    if (message === 'open') opened.resolve();
    else {
      waiting.get(message.spot)?.(message);
      listeners.forEach((listener) => void listener(message));
    }
  });
  child.once('exit', (code) => code && opened.reject(new Error(`the readers ended with ${code}`)));
  child.send(order);
  await opened.promise;
  return {
    all: (spot) => new Promise((resolve) => waiting.set(spot, resolve)),
    each: (listener) => void listeners.push(listener),
    stop: () => void child.kill(),
  };
}

const clock = () => performance.timeOrigin + performance.now();

/** Subscribes over a WebSocket of its own. */
function readSocket({ url, headers, body }: ReadingOrder, onText: (text: string) => void): void {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws');
  const send = (message: object) => socket.send(JSON.stringify(message));
  socket.on('open', () => send({ type: 'connection_init', payload: { authorization: headers.authorization } }));
  socket.on('message', (data) => {
    const text = String(data);
    if (text === '{"type":"connection_ack"}') send({ id: '1', type: 'subscribe', payload: JSON.parse(body!) });
    else onText(text);
  });
  socket.on('close', (code, reason) => {
    throw new Error(`a WebSocket was closed: ${code} ${reason}`);
  });
}

function read(order: ReadingOrder): void {
  const arrivals = new Map<number, number[]>();
  const pattern = new RegExp(`"${order.key ?? 'spot'}":([\\d.]+)`, 'g');
  let begun = 0;
  const took = (spot: number, atMs: number) => {
    const times = arrivals.get(spot) ?? [];
    arrivals.set(spot, times);
    if (times.push(atMs) === order.readers) process.send!({ spot, atMs: times });
  };
  for (let i = 0; i < order.readers; i++) {
    let first = true;
    const { method, headers } = order;
    const onText = (text: string) => {
      const atMs = clock();
      for (const [, spot] of text.matchAll(pattern)) {
        if (first) {
          first = false;
          if (++begun === order.readers) process.send!('open');
        } else took(Number(spot), atMs);
      }
    };
    if (method === 'WS') {
      readSocket(order, onText);
      continue;
    }
    const request = http.request(order.url, { method, headers, agent: false }, (response) => {
      if (response.statusCode !== 200) throw new Error(`a stream answered ${response.statusCode}`);
      response.setEncoding('utf8');
      response.on('data', onText);
    });
    request.end(order.body);
  }
}

if (process.argv.includes('--read')) process.once('message', (order) => read(order as ReadingOrder));

import http from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A request as a client sends it over and over. */
export interface Sent {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
}

/** Commands to a client process. */
export type LoadCommand =
  /** Asks for so long, a little after each answer, and tells how long each took. */
  | { do: 'measure'; requests: Sent[]; connections: number; pauseMs: number; durationMs: number }
  /**
   * Sends requests without pause until stopped. Requests over the rate are repeated after the answer's `Retry-After`.
   */
  | { do: 'press'; clients: { requests: Sent[]; connections: number }[] }
  /** Opens connections over many loopback addresses: some say nothing, some send their headers a byte a second. */
  | { do: 'hold'; host: string; port: number; idle: number; slow: number }
  | { do: 'stop' };

/** Report of a client process. */
export interface LoadReport {
  latenciesMs: number[];
  answers: number;
  refused: number;
  bytes: number;
  sockets: number;
}

const report: LoadReport = { latenciesMs: [], answers: 0, refused: 0, bytes: 0, sockets: 0 };
let pressing = false;
const held = new Set<net.Socket>();

function ask(agent: http.Agent, { url, method, headers, body }: Sent): Promise<{ status: number; retryMs: number }> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent, method, headers }, (response) => {
      response.on('data', (chunk: Buffer) => {
        report.bytes += chunk.length;
      });
      response.on('error', reject);
      response.on('end', () => {
        const after = Number(response.headers['retry-after'] ?? 0);
        resolve({ status: response.statusCode ?? 0, retryMs: after * 1000 });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function measure(command: Extract<LoadCommand, { do: 'measure' }>): Promise<void> {
  const { requests, connections, pauseMs, durationMs } = command;
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + durationMs;
  let next = 0;
  const connection = async () => {
    while (performance.now() < until) {
      const sent = requests[next++ % requests.length]!;
      const began = performance.now();
      const { status } = await ask(agent, sent);
      if (status !== 200) throw new Error(`${sent.url} answered ${status}`);
      report.latenciesMs.push(performance.now() - began);
      report.answers++;
      await delay(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  agent.destroy();
}

async function press(requests: Sent[], connections: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  let next = 0;
  const connection = async () => {
    while (pressing) {
      const { status, retryMs } = await ask(agent, requests[next++ % requests.length]!).catch(() => ({
        status: 0,
        retryMs: 0,
      }));
      if (status === 200) report.answers++;
      else {
        report.refused++;
        await delay(Math.max(20, retryMs));
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  agent.destroy();
}

/** Opens a connection from one of the loopback addresses. */
function open(host: string, port: number, index: number, slow: boolean): void {
  const localAddress = `127.0.${1 + (index % 100)}.${1 + Math.floor(index / 100)}`;
  const socket = net.connect({ host, port, localAddress });
  held.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => held.delete(socket));
  if (!slow) return;
  const head = 'GET /v2/symbols/SA/spot HTTP/1.1\r\nHost: localhost\r\nX-Slow: ';
  let sent = 0;
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    socket.write(head[sent++] ?? 'x');
  }, 1000);
}

async function hold(command: Extract<LoadCommand, { do: 'hold' }>): Promise<void> {
  const { host, port, idle, slow } = command;
  for (let i = 0; i < idle + slow; i++) {
    open(host, port, i, i >= idle);
    if (i % 100 === 99) await delay(10);
  }
  await delay(500);
  report.sockets = held.size;
}

const tell = () => {
  process.send!({ ...report });
  Object.assign(report, { latenciesMs: [], answers: 0, refused: 0, bytes: 0, sockets: 0 });
};

if (process.argv[2] === '--clients') {
  let pressed: Promise<unknown> = Promise.resolve();
  process.on('message', async (command: LoadCommand) => {
    if (command.do === 'measure') {
      await measure(command);
      tell();
    } else if (command.do === 'hold') {
      await hold(command);
      tell();
    } else if (command.do === 'press') {
      pressing = true;
      pressed = Promise.all(command.clients.map(({ requests, connections }) => press(requests, connections)));
      process.send!({ ...report });
    } else {
      pressing = false;
      for (const socket of held) socket.destroy();
      await pressed;
      tell();
    }
  });
}

import { once } from 'node:events';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Use of connections by a client. */
export type ClientKind = 'keep-alive' | 'new' | 'pipelining' | 'slow-reader' | 'slow-body';

/** Results of busy clients. */
export interface Met {
  answered: number;
  /** Number of these with `Connection: close`. */
  last: number;
  /**
   * Answers without `Connection: close` to requests sent after `closingFrom` was called, on connections without a later
   * request.
   */
  kept: number;
  /** Rejected connections: the port is closed. */
  refused: number;
  /** Requests behind an answer with `Connection: close`: HTTP has the client send them again. */
  passedOver: number;
  /** Resets, answers that were cut, connections closed without an answer; each by kind of client and what it saw. */
  broken: string[];
}

/** Clients that send requests without pause until their connections are rejected. */
export interface BusyClients {
  met: Met;
  /** Requires `Connection: close` in every answer from now on. */
  closingFrom(): void;
  /** Resolves when every client was rejected. */
  ended: Promise<void>;
  /** Ends the clients that are left. */
  stop(): void;
}

/** Requests of the clients. */
export interface BusyRequests {
  url: string;
  /** Headers of every request: the credential. */
  headers: Record<string, string>;
  /** Requests whose answers are small. */
  small: readonly SmallRequest[];
  /** An address whose answer is large. */
  large: string;
}

interface SmallRequest {
  path: string;
  /** A JSON body: the request is a POST. */
  body?: string;
}

type Outcome = 'answered' | 'refused' | 'broken';

interface Client {
  kind: ClientKind;
  requests: BusyRequests;
  met: Met;
  mustClose: () => boolean;
  stopped: AbortSignal;
}

function failed({ kind, met, stopped }: Client, error: NodeJS.ErrnoException, connected: boolean): Outcome {
  if (stopped.aborted) return 'refused';
  // A full backlog is a time-out of the system's, long after the port has closed.
  if (!connected && (error.code === 'ECONNREFUSED' || error.code === 'ETIMEDOUT')) {
    met.refused++;
    return 'refused';
  }
  met.broken.push(`${kind}: ${error.code ?? error.message}`);
  return 'broken';
}

function answered({ met }: Client, connection: string | undefined, sentWhileClosing: boolean): void {
  met.answered++;
  if (connection === 'close') met.last++;
  else if (sentWhileClosing) met.kept++;
}

async function readSlowly(response: http.IncomingMessage): Promise<void> {
  for await (const _ of response) await delay(10);
}

/** Sends one request by `agent` and reads its answer. */
function ask(client: Client, agent: http.Agent | false, n: number): Promise<Outcome> {
  const { kind, requests, mustClose } = client;
  const small = requests.small[n % requests.small.length]!;
  const path = kind === 'slow-reader' ? requests.large : small.path;
  const body = kind === 'slow-reader' ? undefined : small.body;
  const headers = { ...requests.headers, ...(body && { 'content-type': 'application/json' }) };
  return new Promise((resolve) => {
    let connected = false;
    const closing = mustClose();
    const options = { agent, method: body ? 'POST' : 'GET', headers, highWaterMark: 16_384 };
    const request = http.request(`${requests.url}${path}`, options, async (response) => {
      try {
        if (kind === 'slow-reader') await readSlowly(response);
        else for await (const _ of response);
        answered(client, response.headers.connection, closing);
        resolve('answered');
      } catch (error) {
        resolve(failed(client, error as Error, true));
      }
    });
    request.on('socket', (socket) => {
      if (!socket.connecting) connected = true;
      else socket.once('connect', () => (connected = true));
    });
    request.on('error', (error) => resolve(failed(client, error, connected)));
    client.stopped.addEventListener('abort', () => request.destroy(), { once: true });
    if (body && kind === 'slow-body') {
      request.write(body.slice(0, body.length / 2));
      void delay(20).then(() => request.end(body.slice(body.length / 2)));
    } else request.end(body);
  });
}

/** Reads answers with a length from a raw connection. */
async function* answersOn(socket: Socket): AsyncGenerator<{ connection: string | undefined }> {
  let text = Buffer.alloc(0);
  for await (const chunk of socket) {
    text = Buffer.concat([text, chunk as Buffer]);
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) break;
      const head = text.subarray(0, end).toString('latin1');
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
      if (text.length < end + 4 + length) break;
      text = text.subarray(end + 4 + length);
      yield { connection: /\r\nconnection: ([\w-]+)/i.exec(head)?.[1]?.toLowerCase() };
    }
  }
  if (text.length > 0) throw Object.assign(new Error('cut'), { code: 'CUT' });
}

const depth = 3;

/** Three requests at once on a connection, again and again, until it is closed. */
async function pipeline(client: Client, n: number): Promise<Outcome> {
  const { requests, met, mustClose, stopped } = client;
  const { hostname, port } = new URL(requests.url);
  const socket = connect({ host: hostname, port: Number(port), signal: stopped });
  socket.on('error', () => {});
  let connected = false;
  try {
    await once(socket, 'connect');
    connected = true;
    const path = requests.small.find(({ body }) => body === undefined)!.path;
    const lines = Object.entries({ host: 'x', ...requests.headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    const batch = `GET ${path}?n=${n} HTTP/1.1\r\n${lines.join('')}\r\n`.repeat(depth);
    let waiting = depth;
    let closing = mustClose();
    socket.write(batch);
    for await (const { connection } of answersOn(socket)) {
      waiting--;
      answered(client, connection, closing && waiting === 0);
      if (connection === 'close') {
        met.passedOver += waiting;
        socket.destroy();
        return 'answered';
      }
      if (waiting > 0) continue;
      waiting = depth;
      closing = mustClose();
      socket.write(batch);
    }
    throw Object.assign(new Error('closed without an answer'), { code: 'UNANSWERED' });
  } catch (error) {
    return failed(client, error as Error, connected);
  } finally {
    socket.destroy();
  }
}

async function beBusy(client: Client): Promise<void> {
  const { kind, stopped } = client;
  const agent = kind === 'new' ? false : new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let n = 0; !stopped.aborted; n++) {
    const outcome = await (kind === 'pipelining' ? pipeline(client, n) : ask(client, agent, n));
    if (outcome === 'refused') break;
  }
  if (agent) agent.destroy();
}

/** Starts a client for each of `kinds`. */
export function startClients(kinds: readonly ClientKind[], requests: BusyRequests): BusyClients {
  const met: Met = { answered: 0, last: 0, kept: 0, refused: 0, passedOver: 0, broken: [] };
  const stop = new AbortController();
  let closing = false;
  const clients = kinds.map((kind) => beBusy({ kind, requests, met, mustClose: () => closing, stopped: stop.signal }));
  return {
    met,
    closingFrom() {
      closing = true;
    },
    ended: Promise.all(clients).then(() => {}),
    stop: () => stop.abort(),
  };
}

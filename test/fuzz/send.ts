import http from 'node:http';
import { connect } from 'node:net';
import type { FuzzRequest } from './request.ts';
import { type Talked, talkedWith } from './socket-talk.ts';
import type { Target } from './target.ts';

/** The answer to a request. */
export interface Came {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** At most the first `keptBytes` of the body. */
  text: string;
  /** The body was longer than `text`, or was left while it went on. */
  cut: boolean;
  /** Milliseconds until the answer was whole; of a stream, until its headers were there. */
  ms: number;
  /** Answer of a server over a WebSocket: `text` is its text messages, `status` the code of its close frame, or 101. */
  talked?: Talked;
}

const keptBytes = 2_000_000;
/** Time that an event stream is listened to, ms. */
const listenMs = 80;
/** Silence after which raw bytes are taken as answered. */
const silenceMs = 150;

/** Sends raw bytes, and gives what came until the connection closed or was silent. */
function sendRaw(url: string, bytes: Buffer, hangUpMs?: number): Promise<Came> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => {
      socket.write(bytes);
      if (hangUpMs !== undefined) setTimeout(() => socket.destroy(), hangUpMs);
    });
    let text = '';
    socket.setTimeout(silenceMs, () => socket.destroy());
    socket.setEncoding('latin1').on('data', (data) => {
      if (text.length < keptBytes) text += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
      resolve({ status, headers: {}, text, cut: true, ms: 0 });
    });
  });
}

function received(
  response: http.IncomingMessage,
  started: number,
  done: (came: Came) => void,
  failed: (error: Error) => void,
): void {
  const { statusCode: status = 0, headers } = response;
  const isStream = /event-stream/.test(headers['content-type'] ?? '');
  const firstMs = performance.now() - started;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let ended = false;
  const end = (cut: boolean) => {
    if (ended) return;
    ended = true;
    done({
      status,
      headers,
      text: Buffer.concat(chunks).toString(),
      cut: cut || bytes > keptBytes,
      ms: isStream ? firstMs : performance.now() - started,
    });
  };
  response.on('data', (chunk: Buffer) => {
    if (bytes < keptBytes) chunks.push(chunk);
    bytes += chunk.length;
  });
  response.on('end', () => end(false));
  response.on('error', (error) => (ended ? undefined : failed(error)));
  if (isStream) {
    setTimeout(() => {
      end(true);
      response.destroy();
    }, listenMs);
  }
}

/** Null = the client left before an answer came, as the request asked. */
export type Sent = Came | null;

/** Sends requests to a target over connections that are kept. */
export interface Sender {
  send(request: FuzzRequest): Promise<Sent>;
  close(): void;
}

function headersOf(
  { credentials }: Target,
  { headers, credential, body }: FuzzRequest,
): Record<string, string | number> {
  const authorization = credential === null ? {} : { authorization: `Bearer ${credentials[credential]!.text}` };
  return { ...authorization, ...headers, ...(body ? { 'content-length': body.length } : {}) };
}

/** A sender with at most `connections` connections; no answer within `patienceMs` is an error. */
export function openSender(target: Target, connections: number, patienceMs: number): Sender {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const url = new URL(target.url);
  function exchange(request: FuzzRequest): Promise<Sent> {
    return new Promise((resolve, reject) => {
      const started = performance.now();
      const { method, path, hangUpMs } = request;
      const sent = http.request({
        hostname: url.hostname,
        port: url.port,
        method,
        path,
        agent,
        headers: headersOf(target, request),
      });
      const patience = setTimeout(() => sent.destroy(new Error(`no answer in ${patienceMs} ms`)), patienceMs);
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          clearTimeout(patience);
          settle(value);
        };
      sent.on('response', (response) => received(response, started, settled(resolve), settled(reject)));
      // Node's client hands an upgraded connection over; the answer is all that counts here.
      sent.on('upgrade', ({ statusCode = 0, headers }, socket) => {
        socket.destroy();
        settled(resolve)({ status: statusCode, headers, text: '', cut: true, ms: 0 });
      });
      sent.on(
        'error',
        settled((error: Error) => (hangUpMs === undefined ? reject(error) : resolve(null))),
      );
      if (hangUpMs !== undefined) {
        setTimeout(() => {
          sent.destroy();
          settled(resolve)(null);
        }, hangUpMs);
      }
      sent.end(request.body);
    });
  }
  return {
    send(request) {
      const credential = request.credential === null ? 'none' : target.credentials[request.credential]!.text;
      if (request.socket) return talkedWith(target.url, request, credential, patienceMs);
      if (!request.bytes) return exchange(request);
      const bytes = Buffer.from(request.bytes.toString('latin1').replaceAll('{credential}', credential), 'latin1');
      return sendRaw(target.url, bytes, request.hangUpMs);
    },
    close: () => agent.destroy(),
  };
}

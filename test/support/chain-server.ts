import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Answers one request of a chain source. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A source of chains on this machine. */
export interface ChainServer {
  /** The URL at which `answer` is given. */
  serve(name: string, answer: Answer): string;
  /** The URL of any name. */
  url(name: string): string;
  /** Requests by name, in order. */
  requests: { name: string; headers: IncomingMessage['headers'] }[];
  /** Requests that are not answered whole yet. */
  open(): number;
}

/** A server of chains for a single test; what hangs is ended with it. */
export async function chainServer(): Promise<ChainServer> {
  const answers = new Map<string, Answer>();
  const requests: ChainServer['requests'] = [];
  let open = 0;
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url!.slice(1));
    requests.push({ name, headers: request.headers });
    open++;
    response.on('close', () => open--);
    const answer = answers.get(name);
    if (answer) answer(request, response);
    else response.writeHead(404).end('no such chain');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = (name: string) =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/${encodeURIComponent(name)}`;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url,
    requests,
    open: () => open,
    serve(name, answer) {
      answers.set(name, answer);
      return url(name);
    },
  };
}

/** Answers with a body and an ETag, or 304 if the client has it. */
export function tagged(body: Buffer | string, etag: string, headers: Record<string, string> = {}): Answer {
  return (request, response) => {
    if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag, 'content-type': 'application/json', ...headers }).end(body);
  };
}

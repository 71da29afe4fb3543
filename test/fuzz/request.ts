import type { Random } from '../support/random.ts';
import { type SocketScript, scriptBytes } from './socket-script.ts';

/** Who a request is sent as: a name of the target's credentials; null sends none. */
export type CredentialName = string | null;

/** Kind of request; answers are judged and counted by it. */
export type RequestKind = 'rest' | 'graph' | 'stream' | 'mcp' | 'page' | 'raw' | 'socket';

/** One generated request. */
export interface FuzzRequest {
  kind: RequestKind;
  method: string;
  /** Path and query as they are sent. */
  path: string;
  headers: Record<string, string>;
  credential: CredentialName;
  body?: Buffer;
  /** Sent byte by byte as they are, instead of all of the above but the credential. */
  bytes?: Buffer;
  /** A conversation over a WebSocket, instead of all of the above but the credential. */
  socket?: SocketScript;
  /** The client closes its connection this many ms after it has sent the request. */
  hangUpMs?: number;
  /** The symbol whose data the whole answer is made of; null = of none, or not known. */
  about: string | null;
}

/** Source of generated requests. */
export interface Grammar {
  random: Random;
  /** The date that the target's market ends with. */
  today: string;
  /** Also documents that multiply: much work for few bytes. */
  heavy: boolean;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Bytes as an argument of `printf %b`: what is no visible ASCII is written in octal. */
function printfText(bytes: Buffer): string {
  const plain = (byte: number) => byte >= 0x20 && byte < 0x7f && byte !== 0x5c;
  return quoted(
    [...bytes]
      .map((byte) => (plain(byte) ? String.fromCharCode(byte) : `\\0${byte.toString(8).padStart(3, '0')}`))
      .join(''),
  );
}

/** The request as a shell command; a credential is written as its name in angle brackets. */
export function curlOf(url: string, request: FuzzRequest): string {
  const { method, path, headers, body, credential } = request;
  const { hostname, port } = new URL(url);
  const bytes = request.socket ? scriptBytes(request.socket) : request.bytes;
  if (bytes) return `printf %b ${printfText(bytes)} | nc -q1 ${hostname} ${port}`;
  const sent = { ...(credential === null ? {} : { authorization: `Bearer <${credential}>` }), ...headers };
  const parts = [
    ...(body ? [`printf %b ${printfText(body)} |`] : []),
    'curl -isS --path-as-is',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...Object.entries(sent).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body ? ['--data-binary @-'] : []),
    quoted(url + path),
  ];
  return parts.join(' ');
}

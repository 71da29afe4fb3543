import type { Random } from '../support/random.ts';
import type { FuzzRequest } from './request.ts';

const json = (length: number | string) => `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
const put = 'PUT /v2/watchlists/x HTTP/1.1\r\n';
const get = 'GET /v2/symbols/SPY HTTP/1.1\r\n';
const handshake = (path: string) =>
  `GET ${path} HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Bytes that no HTTP client sends, by what is wrong with them. `auth` is a host and a credential, as header lines. */
export const rawRequests: Readonly<Record<string, (auth: string) => Buffer | string>> = {
  'nothing of HTTP': () => 'hello\r\n\r\n',
  'random bytes': () => Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7919) % 256)),
  'TLS to a plain port': () => Buffer.from('16030100c8010000c40303', 'hex'),
  'an HTTP/2 preface': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an unknown method': (auth) => `BREW /v2/quotes HTTP/1.1\r\n${auth}\r\n`,
  CONNECT: (auth) => `CONNECT example.com:443 HTTP/1.1\r\n${auth}\r\n`,
  'another version': (auth) => `GET /v2/quotes HTTP/9.9\r\n${auth}\r\n`,
  'no version': () => 'GET /v2/quotes\r\n\r\n',
  'HTTP/1.0 without a host': () => 'GET /v2/symbols/SPY HTTP/1.0\r\n\r\n',
  'no host': () => `${get}\r\n`,
  'two hosts': (auth) => `${get}Host: a\r\n${auth}\r\n`,
  'the whole address': (auth) => `GET http://other.example.com/v2/symbols/SPY HTTP/1.1\r\n${auth}\r\n`,
  'an asterisk': (auth) => `OPTIONS * HTTP/1.1\r\n${auth}\r\n`,
  'no slash': (auth) => `GET v2/symbols/SPY HTTP/1.1\r\n${auth}\r\n`,
  'two slashes and a port': (auth) => `GET //x:99999/v2 HTTP/1.1\r\n${auth}\r\n`,
  'bytes above ASCII in the path': (auth) => Buffer.from(`GET /v2/symbols/\xff\xfe HTTP/1.1\r\n${auth}\r\n`, 'latin1'),
  'NUL in the path': (auth) => `GET /v2/symbols/S\0Y HTTP/1.1\r\n${auth}\r\n`,
  'a space in the path': (auth) => `GET /v2/symbols/S Y HTTP/1.1\r\n${auth}\r\n`,
  'a path of 20,000 characters': (auth) => `GET /v2/symbols/${'A'.repeat(20_000)} HTTP/1.1\r\n${auth}\r\n`,
  'headers of 100 KB': (auth) => `${get}${auth}X: ${'a'.repeat(100_000)}\r\n\r\n`,
  '3,000 headers': (auth) => `${get}${auth}${'A: b\r\n'.repeat(3000)}\r\n`,
  'a folded header': (auth) => `${get}${auth}X: a\r\n b\r\n\r\n`,
  'a blank before the colon': (auth) => `${get}${auth}X-Y : a\r\n\r\n`,
  'bare line feeds': (auth) => `${get}${auth}\r\n`.replaceAll('\r', ''),
  'NUL in a header': (auth) => `${get}${auth}X: a\0b\r\n\r\n`,
  'two credentials': (auth) => `${get}${auth}Authorization: Bearer x\r\n\r\n`,
  'two lengths': (auth) => `${put}${auth}${json(2)}Content-Length: 3\r\n\r\n{}`,
  'a length and chunks': (auth) => `${put}${auth}${json(2)}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'a negative length': (auth) => `${put}${auth}${json(-1)}\r\n{}`,
  'a length beyond all bounds': (auth) => `${put}${auth}${json('9'.repeat(30))}\r\n{}`,
  'a body that ends early': (auth) => `${put}${auth}${json(1000)}\r\n{"name":`,
  'a chunk that is none': (auth) =>
    `${put}${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
  'a chunk extension without end': (auth) =>
    `${put}${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2;${'a'.repeat(40_000)}`,
  'chunks of a coding nobody knows': (auth) =>
    `${put}${auth}Content-Type: application/json\r\nTransfer-Encoding: x\r\n\r\n{}`,
  'a body with GET': (auth) => `${get}${auth}${json(2)}\r\n{}`,
  'an upgrade': (auth) => `GET /graphql HTTP/1.1\r\n${auth}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  'a WebSocket and bytes that are no frames': (auth) =>
    latin1(`${handshake('/v2/ws')}${auth}\r\n\xff\xff\xff\xff garbage`),
  'a WebSocket and frames without a mask': (auth) =>
    latin1(`${handshake('/graphql')}${auth}\r\n\x81\x02{}\x82\x01\x00`),
  'a WebSocket and half a frame': (auth) => latin1(`${handshake('/v2/ws')}${auth}\r\n\x81\xfe`),
  'a WebSocket elsewhere': (auth) => `${handshake('/v2/quotes')}${auth}\r\n`,
  'an upgrade to HTTP/2': (auth) =>
    `${get}${auth}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
  'a body that is expected first': (auth) => `${put}${auth}${json(2)}Expect: 100-continue\r\n\r\n{}`,
  'an expectation nobody knows': (auth) => `${put}${auth}${json(2)}Expect: tea\r\n\r\n{}`,
  'two requests at once': (auth) => `${get}${auth}\r\nGET /v2/none HTTP/1.1\r\n${auth}\r\n`,
  'a hundred requests at once': (auth) => `${get}${auth}\r\n`.repeat(100),
  'half a request': (auth) => `${get}${auth}`,
};

/** One of them, whole, or with a byte changed or its end missing. */
export function rawRequest(random: Random): FuzzRequest {
  const auth = 'Host: x\r\nAuthorization: Bearer {credential}\r\n';
  const made = Buffer.from(random.pick(Object.values(rawRequests))(auth));
  if (random.once(3)) made[random.below(made.length)] = random.below(256);
  const bytes = random.once(6) ? made.subarray(0, random.below(made.length)) : made;
  return { kind: 'raw', method: '', path: '', headers: {}, credential: null, bytes, about: null };
}

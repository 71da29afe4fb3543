import { gzipSync } from 'node:zlib';
import type { Random } from '../support/random.ts';
import { contentTypes, someHeaders } from './headers.ts';
import type { FuzzRequest } from './request.ts';
import { hostileBody, hostilePiece } from './values.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];

const encoded = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/** A path with one thing about it changed. */
const paths: ((random: Random, path: string) => string)[] = [
  (random, path) => {
    const at = 1 + random.below(path.length);
    return path.slice(0, at) + hostilePiece(random) + path.slice(at + random.below(4));
  },
  (random, path) => path.slice(0, 1 + random.below(path.length)),
  (_, path) => path.toUpperCase(),
  (_, path) => `${path.split('?')[0]}/`,
  (_, path) => `/${path}`,
  (_, path) => path.replace(/^\/(\w+)/, (_all, first: string) => `/${encoded(first)}`),
  (_, path) => path.replace(/=([^&]+)/, (_all, value: string) => `=${encoded(value)}`),
  (_, path) => path.replaceAll('%', '%25'),
  (_, path) => path.replace('?', '/../x?'),
  (random, path) =>
    `/${random.pick(['v2', 'V2', 'v2/v2', '', 'gex', 'graphql', 'mcp', 'healthz'])}/${path.split('/').at(-1)}`,
  (random, path) =>
    path + random.pick(['?', '&', '&&&==', '#x', ';a=b', '?a[b][c]=1', '&'.repeat(3000), '&x=1'.repeat(1500)]),
  (_, path) => path.replace(/(\w+)=([^&]*)/, '$1=$2&$1=$2'),
  (_, path) => path.replace(/(\w+)=([^&]*)/, '$1='),
];

/** A body with one thing about it changed. */
const bodies: ((random: Random, body: Buffer) => Buffer)[] = [
  (random, body) => {
    const changed = Buffer.from(body);
    for (let i = 0; i <= random.below(3); i++)
      if (changed.length > 0) changed[random.below(changed.length)]! ^= 1 << random.below(8);
    return changed;
  },
  (random, body) => body.subarray(0, random.below(body.length + 1)),
  (_, body) => Buffer.concat([body, body]),
  (random, body) => Buffer.concat([body, Buffer.alloc(random.pick([70_000, 1_100_000]), ' ')]),
  (random, body) => {
    const at = random.below(body.length + 1);
    return Buffer.concat([
      body.subarray(0, at),
      Buffer.from(random.pick(['\0', '\ufeff', '\\ud800', '\\u0000', '"', '\xff'])),
      body.subarray(at),
    ]);
  },
  (random, body) =>
    Buffer.from(
      body.toString('latin1').replace(/\d+/, random.pick(['9'.repeat(400), '1e999', '-0', '01', '9007199254740993'])),
      'latin1',
    ),
  (random, body) =>
    Buffer.from(
      body.toString().replace(/"([^"]*)"/, `"${random.pick(['\\ud800', '\\u0000', 'x'.repeat(70_000), '\\u202e'])}"`),
    ),
  (_, body) => gzipSync(body),
  (random) => hostileBody(random),
];

/** A body or a message with one thing about it changed. */
export const mutatedBytes = (random: Random, bytes: Buffer): Buffer => random.pick(bodies)(random, bytes);

function mutatedBody(random: Random, request: FuzzRequest): FuzzRequest {
  if (!request.body)
    return {
      ...request,
      body: hostileBody(random),
      headers: { ...request.headers, 'content-type': random.pick(contentTypes) },
    };
  return { ...request, body: mutatedBytes(random, request.body) };
}

const mutations: ((random: Random, request: FuzzRequest) => FuzzRequest)[] = [
  (random, request) => ({ ...request, path: random.pick(paths)(random, request.path), about: null }),
  (random, request) => ({ ...request, path: random.pick(paths)(random, request.path), about: null }),
  mutatedBody,
  mutatedBody,
  (random, request) => ({ ...request, headers: { ...request.headers, ...someHeaders(random) } }),
  (random, request) => ({ ...request, headers: { ...request.headers, ...someHeaders(random) } }),
  (random, request) => ({ ...request, headers: { ...request.headers, 'content-type': random.pick(contentTypes) } }),
  (random, request) => ({ ...request, method: random.pick(methods) }),
  (random, request) => ({ ...request, hangUpMs: random.below(20) }),
];

/** Percent-encodes characters that Node's client would not send, so that they reach the server. */
function sendable(request: FuzzRequest): FuzzRequest {
  const path = request.path.replace(/[^\x21-\x7e]/gu, (character) => encoded(character));
  const { body, ...rest } = request;
  const withoutBody = request.method === 'TRACE' || request.method === 'HEAD';
  return { ...rest, path: path.startsWith('/') ? path : `/${path}`, ...(body && !withoutBody ? { body } : {}) };
}

/**
 * A request with one or two things about it changed: path, parameters, headers, method, body, or the client leaves
 * early.
 */
export function mutated(random: Random, request: FuzzRequest): FuzzRequest {
  let changed = random.pick(mutations)(random, request);
  if (random.once(3)) changed = random.pick(mutations)(random, changed);
  return sendable(changed);
}

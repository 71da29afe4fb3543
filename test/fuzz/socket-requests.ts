import type { GraphQLSchema } from 'graphql';
import type { Random } from '../support/random.ts';
import { closeFrame, maskOf, refusedFrames, unfinishedFrames } from './broken-frames.ts';
import type { FuzzRequest, Grammar } from './request.ts';
import { opcodes } from './socket-frames.ts';
import { authMessage, channelMessage, graphMessage, initMessage, type SocketMessage } from './socket-messages.ts';
import type { SocketEnding, SocketScript, SocketStep } from './socket-script.ts';
import { hostileBody } from './values.ts';

const usualHandshake = {
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Headers that make a handshake a wrong or an unusual one. */
const otherHeaders: readonly Readonly<Record<string, string>>[] = [
  { 'sec-websocket-version': '8' },
  { 'sec-websocket-version': '99' },
  { 'sec-websocket-key': 'short' },
  { 'sec-websocket-key': '' },
  { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits=99' },
  { 'sec-websocket-protocol': 'graphql-ws' },
  { 'sec-websocket-protocol': 'graphql-ws, graphql-transport-ws, x' },
  { 'sec-websocket-protocol': ',,,' },
  { 'sec-websocket-protocol': '' },
  { origin: 'https://evil.example.com' },
  { authorization: 'Bearer x' },
  { upgrade: 'h2c' },
  { 'content-length': '5' },
];

function handshakeOf(random: Random, endpoint: SocketScript['endpoint']): string {
  const path = endpoint === 'channel' ? '/v2/ws' : '/graphql';
  const headers = {
    host: 'x',
    connection: 'Upgrade',
    upgrade: 'websocket',
    ...usualHandshake,
    ...(endpoint === 'graph' && { 'sec-websocket-protocol': 'graphql-transport-ws' }),
    ...(random.once(20) && { authorization: 'Bearer {credential}' }),
    ...(random.once(12) && random.pick(otherHeaders)),
  };
  const method = random.once(60) ? random.pick(['POST', 'HEAD', 'OPTIONS']) : 'GET';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path}${random.once(30) ? '?ticket=x' : ''} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function stepOf(random: Random, text: string | Buffer): SocketStep {
  const opcode = random.once(30) ? opcodes.bytes : opcodes.text;
  return {
    does: 'send',
    opcode,
    payload: Buffer.from(text),
    pieces: random.once(8) ? 2 + random.below(5) : 1,
    mask: maskOf(random),
  };
}

/** Control frames and bytes that are sent between messages. */
function between(random: Random): SocketStep[] {
  if (random.once(12))
    return [
      {
        does: 'send',
        opcode: random.pick([opcodes.ping, opcodes.pong]),
        payload: Buffer.alloc(random.below(126)),
        pieces: 1,
        mask: maskOf(random),
      },
    ];
  if (random.once(25))
    return [
      {
        does: 'send',
        opcode: random.pick([opcodes.text, opcodes.bytes]),
        payload: hostileBody(random),
        pieces: 1,
        mask: maskOf(random),
      },
    ];
  return [];
}

/** The same message many times: more subscriptions than there may be, or more messages. */
function flood({ random }: Grammar, endpoint: SocketScript['endpoint']): SocketMessage[] {
  const count = random.pick([20, 105, 1010]);
  const text = (at: number) => {
    if (count > 200) return JSON.stringify(endpoint === 'channel' ? { op: 'pong', t: at } : { type: 'pong' });
    return endpoint === 'channel'
      ? JSON.stringify({ op: 'sub', id: at, topic: 'spot', symbol: 'SPY' })
      : JSON.stringify({
          id: `f${at}`,
          type: 'subscribe',
          payload: { query: 'subscription { quotes(symbols: ["SPY"]) { spot } }' },
        });
  };
  return Array.from({ length: count }, (_, at) => ({ text: text(at) }));
}

function endingOf(random: Random): { steps: SocketStep[]; ending: SocketEnding } {
  const kind = random.below(20);
  if (kind < 12) return { steps: [], ending: 'asked' };
  if (kind < 15) return { steps: [{ does: 'bytes', bytes: refusedFrames(random) }], ending: 'refused' };
  if (kind < 17)
    return { steps: [{ does: 'bytes', bytes: unfinishedFrames(random) }], ending: random.pick(['ended', 'left']) };
  if (kind < 19) return { steps: [{ does: 'bytes', bytes: closeFrame(random) }], ending: 'closed' };
  return { steps: [], ending: random.pick(['ended', 'left']) };
}

function messagesOf(grammar: Grammar, schema: GraphQLSchema, endpoint: SocketScript['endpoint']): SocketMessage[] {
  const { random } = grammar;
  if (random.once(40)) return flood(grammar, endpoint);
  const count = random.below(random.once(10) ? 30 : 6);
  return Array.from({ length: count }, (_, at) =>
    endpoint === 'channel' ? channelMessage(grammar) : graphMessage(grammar, schema, at),
  );
}

/**
 * A conversation over one of the WebSockets: a handshake, the message that identifies the client, others, and an end.
 */
export function socketRequest(grammar: Grammar, schema: GraphQLSchema): FuzzRequest {
  const { random } = grammar;
  const endpoint = random.pick(['channel', 'graph'] as const);
  const first = endpoint === 'channel' ? authMessage(grammar) : initMessage(grammar);
  const messages = messagesOf(grammar, schema, endpoint);
  const opening: SocketStep[] = random.once(15)
    ? []
    : [stepOf(random, first.text), ...(random.once(15) ? [] : [{ does: 'wait' } as const])];
  const steps = messages.flatMap(({ text }) => [stepOf(random, text), ...between(random)]);
  const end = endingOf(random);
  const ended = new Set(messages.flatMap(({ text }) => /"id":"(\w+)","type":"complete"/.exec(String(text))?.[1] ?? []));
  const socket: SocketScript = {
    endpoint,
    handshake: handshakeOf(random, endpoint),
    ticket: random.once(12) ? random.pick(['used', 'none']) : 'new',
    steps: [...opening, ...steps, ...end.steps],
    ending: end.ending,
    queries: messages.flatMap(({ query }) => (query === undefined || ended.has(query) ? [] : [query])),
    about: Object.fromEntries(messages.flatMap(({ query, about }) => (query && about ? [[query, about]] : []))),
  };
  const path = endpoint === 'channel' ? '/v2/ws' : '/graphql';
  return { kind: 'socket', method: 'GET', path, headers: {}, credential: null, socket, about: null };
}

import type { GraphQLSchema } from 'graphql';
import { timeframes } from '../../src/core/domain/market/bar.ts';
import { type SocketTopic, socketTopics, topicOptions } from '../../src/rest/socket/control.ts';
import type { Random } from '../support/random.ts';
import { documentOf, envelopeOf, restrictedDocument } from './graph-requests.ts';
import { mutatedBytes } from './mutate.ts';
import type { Grammar } from './request.ts';
import { hostileJson, plausible } from './values.ts';

/** A text that a client sends, and what is expected of it. */
export interface SocketMessage {
  text: string | Buffer;
  /** The id of a query that is answered to its end. */
  query?: string;
  /** The symbol that the answer to a query is made of. */
  about?: string;
}

type Message = Record<string, unknown>;

/** A value nested so deeply that what recurses over it may fail. */
const deep = (random: Random) => {
  const depth = random.pick([20, 2000, 15_000, 200_000]);
  return random.once(2)
    ? `${'['.repeat(depth)}${']'.repeat(depth)}`
    : `${'{"a":'.repeat(depth / 4)}1${'}'.repeat(depth / 4)}`;
};

/** A message as JSON, one of its fields another value now and then; the bytes are mutated now and then. */
function written(random: Random, message: Message): string | Buffer {
  const field = random.pick(Object.keys(message));
  if (random.once(25)) return JSON.stringify({ ...message, [field]: '@deep' }).replace('"@deep"', () => deep(random));
  const sent = random.once(12) ? { ...message, [field]: hostileJson(random) } : message;
  const text = JSON.stringify(sent);
  return random.once(20) ? mutatedBytes(random, Buffer.from(text)) : text;
}

const idOf = (random: Random) => random.pick(['a', 'b', 'c', 'toString', '__proto__', 1, 2, 0, -1]);

/** Options of a subscription: right for its topic as a rule, else for another, or wrong. */
function subscriptionOptions({ random, today }: Grammar, topic: unknown): Message {
  const options: Record<string, () => unknown> = {
    want: () => random.pick(['bars', 'trades,mid', ['bars'], ['quote', 'bars'], [], ['x'], 'bars,bars,bars,bars,bars']),
    timeframe: () => random.pick([...timeframes, '2m', '']),
    expiry: () => plausible(random, 'date', today),
    strike_gte: () => random.pick([0, 590_000, '600000', -1, 2 ** 31, Number.MAX_SAFE_INTEGER, 1.5]),
    strike_lte: () => random.pick([0, 610_000, '999999999999999', 2 ** 40]),
    since: () => random.pick([Number(plausible(random, 'epoch', today)), 0, 8.64e15 + 1, Number.MAX_SAFE_INTEGER, '1']),
    expiries: () => random.pick([3, 'all', [], [plausible(random, 'date', today)], plausible(random, 'date', today)]),
    by_expiry: () => random.once(2),
    component: () => 'net',
  };
  const own: readonly string[] = topicOptions[topic as SocketTopic] ?? [];
  const names = Object.keys(options).filter((name) => random.once(own.includes(name) ? 3 : 60));
  return Object.fromEntries(names.map((name) => [name, random.once(10) ? hostileJson(random) : options[name]!()]));
}

const subscription = (grammar: Grammar): Message => {
  const { random, today } = grammar;
  const topic = random.once(20) ? hostileJson(random, 1) : random.pick(socketTopics);
  const symbol = plausible(random, 'ticker', today);
  return { op: 'sub', id: idOf(random), topic, symbol, ...subscriptionOptions(grammar, topic) };
};

/** The first message to `/v2/ws`: right as a rule. */
export function authMessage({ random }: Grammar): SocketMessage {
  const right = { op: 'auth', ticket: '{ticket}', proto: 3, encoding: 'protobuf' };
  if (!random.once(6)) return { text: JSON.stringify(right) };
  const wrong = random.pick<Message>([
    { ...right, ticket: 'x'.repeat(43) },
    { ...right, ticket: hostileJson(random, 1) },
    { ...right, proto: random.pick([2, '3', null]) },
    { ...right, encoding: 'json' },
    { op: 'auth' },
  ]);
  return { text: written(random, wrong) };
}

/** A message to `/v2/ws`. */
export function channelMessage(grammar: Grammar): SocketMessage {
  const { random } = grammar;
  const kind = random.below(20);
  if (kind < 11) return { text: written(random, subscription(grammar)) };
  if (kind < 14) return { text: written(random, { op: 'unsub', id: idOf(random) }) };
  if (kind < 16)
    return { text: written(random, { op: random.pick(['ping', 'pong', 'none', '']), t: hostileJson(random) }) };
  if (kind < 17) return { text: written(random, { op: 'auth', ticket: '{ticket}', proto: 3, encoding: 'protobuf' }) };
  return { text: JSON.stringify(hostileJson(random)) };
}

/** The payload of `connection_init`: a credential under one of its names, as a rule. */
function initPayload({ random }: Grammar): unknown {
  const bearer = 'Bearer {credential}';
  if (!random.once(3)) return { Authorization: bearer };
  return random.pick<unknown>([
    { authorization: bearer },
    { headers: { Authorization: bearer } },
    { 'X-API-Key': '{credential}' },
    { apiKey: '{credential}', Authorization: '' },
    { Authorization: hostileJson(random, 1) },
    hostileJson(random),
    {},
  ]);
}

/** The first message to `/graphql`: right as a rule. */
export function initMessage(grammar: Grammar): SocketMessage {
  const { random } = grammar;
  const message = { type: 'connection_init', payload: initPayload(grammar) };
  return { text: random.once(8) ? written(random, message) : JSON.stringify(message) };
}

/** An operation of `graphql-transport-ws`, whose id is its own unless it is drawn from a few. */
function operation(grammar: Grammar, schema: GraphQLSchema, number: number): SocketMessage {
  const { random } = grammar;
  const id = random.once(6) ? String(idOf(random)) : `o${number}`;
  if (random.once(6)) {
    const { about, document } = restrictedDocument(grammar, schema);
    const own = `o${number}`;
    return {
      text: JSON.stringify({ id: own, type: 'subscribe', payload: { query: document.text } }),
      query: own,
      about,
    };
  }
  const document = documentOf(grammar, schema, random.once(2) ? ['subscription'] : ['query', 'query', 'mutation']);
  const payload = envelopeOf(grammar, document);
  const text = written(random, { id, type: 'subscribe', payload });
  const isPlain = typeof text === 'string' && text === JSON.stringify({ id, type: 'subscribe', payload });
  return isPlain && document.operation !== 'subscription' ? { text, query: id } : { text };
}

/** A message to `/graphql`; `number` counts those of the connection. */
export function graphMessage(grammar: Grammar, schema: GraphQLSchema, number: number): SocketMessage {
  const { random } = grammar;
  const kind = random.below(30);
  if (kind < 20) return operation(grammar, schema, number);
  if (kind < 24)
    return { text: written(random, { id: random.pick(['a', 'none', 'o0', 'o1', '__proto__']), type: 'complete' }) };
  if (kind < 27)
    return { text: written(random, { type: random.pick(['ping', 'pong']), payload: hostileJson(random) }) };
  if (kind < 28) return initMessage(grammar);
  if (kind < 29)
    return {
      text: written(random, { id: 'a', type: random.pick(['next', 'error', 'connection_ack', 'x']), payload: [] }),
    };
  return { text: JSON.stringify(hostileJson(random)) };
}

import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { type Timeframe, timeframes } from '../../core/domain/market/bar.ts';
import { parseTicker } from '../../core/domain/market/ticker.ts';
import { parseDate, parseRequestedInstant, type SessionDate } from '../../core/domain/market-time.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { numberText } from '../../platform/wire/printed-value.ts';

/** The topics of the streaming channel. */
export const socketTopics = ['stocks', 'spot', 'index', 'gex', 'chain'] as const;
export type SocketTopic = (typeof socketTopics)[number];

/** Kinds of updates that a client may request of `stocks`. */
const wants = ['trades', 'mid', 'bars', 'quote'] as const;

/** A client's id for a subscription. */
export type SubscriptionId = string | number;

/** A requested subscription. */
export interface AskedSubscription {
  topic: SocketTopic;
  symbol: string;
  /** Requested kinds of `stocks`; null = all available kinds. */
  want: string[] | null;
  timeframe: Timeframe;
  expiry: SessionDate | null;
  strikeGte: number | null;
  strikeLte: number | null;
  /** Requested expiries of `gex`; null = all. */
  expiries: SessionDate[] | null;
  /** Epoch ms; null = from now on. */
  sinceMs: number | null;
}

export type ControlMessage = Readonly<Record<string, unknown>>;

/** Reads a text frame: a JSON object with `op`. Throws 400. */
export function readControl(text: string): ControlMessage {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalidParameter('op', 'expected a JSON object, got text that is no JSON');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw invalidParameter('op', 'expected a JSON object');
  return json as ControlMessage;
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 40) ?? 'nothing';

/** The id of a message about a subscription. Throws 400. */
export function readId({ id }: ControlMessage): SubscriptionId {
  if ((typeof id === 'string' && id.length > 0 && id.length <= 200) || Number.isSafeInteger(id))
    return id as SubscriptionId;
  throw invalidParameter('id', `expected text of 1 to 200 characters or a whole number, got ${shown(id)}`);
}

function optional<T>(message: ControlMessage, name: string, read: (value: unknown) => T): T | null {
  const value = message[name];
  return value === undefined || value === null ? null : read(value);
}

function oneOf<const V extends readonly string[]>(values: V, name: string) {
  return (value: unknown): V[number] => {
    if (values.includes(value as string)) return value as V[number];
    throw invalidParameter(name, `expected one of ${values.join(', ')}, got ${shown(value)}`);
  };
}

function wholeNumber(name: string) {
  return (value: unknown): number => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number;
    throw invalidParameter(name, `expected a whole number, got ${shown(value)}`);
  };
}

/** Epoch milliseconds, any number of digits, as at other endpoints. */
function sinceOf(value: unknown): number {
  const text = typeof value === 'number' ? numberText(value) : value;
  if (typeof text === 'string' && /^\d+$/.test(text)) return parseRequestedInstant(text, 'UTC', 'since').ms;
  throw invalidParameter('since', `expected epoch milliseconds, got ${shown(value)}`);
}

function dateOf(value: unknown): SessionDate {
  if (typeof value !== 'string') throw invalidParameter('expiry', `expected YYYY-MM-DD, got ${shown(value)}`);
  return parseDate(value, 'expiry');
}

function wantOf(value: unknown): string[] {
  const list = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(list) || list.length === 0 || list.length > wants.length)
    throw invalidParameter('want', `expected one or more of ${wants.join(', ')}, got ${shown(value)}`);
  return list.map(oneOf(wants, 'want'));
}

function expiriesOf(value: unknown): SessionDate[] {
  const list = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(list) || list.length === 0 || !list.every((each) => typeof each === 'string'))
    throw invalidParameter('expiries', `expected dates YYYY-MM-DD or "all", got ${shown(value)}`);
  return list.map((each) => parseDate(each.trim(), 'expiries'));
}

/** Options that no topic supports, and the reason. */
const unserved = {
  by_expiry: 'the frames have net rows; send expiries to get the net rows of some of them',
  component: 'the frames have the net of calls and puts',
} as const;

const optionNames = ['want', 'timeframe', 'expiry', 'strike_gte', 'strike_lte', 'expiries', 'since'] as const;
type OptionName = (typeof optionNames)[number];

/** The options of each topic. Any other is rejected, because it would have no effect. */
export const topicOptions: Readonly<Record<SocketTopic, readonly OptionName[]>> = {
  stocks: ['want', 'timeframe', 'since'],
  spot: ['since'],
  index: ['since'],
  gex: ['expiries', 'since'],
  chain: ['expiry', 'strike_gte', 'strike_lte', 'since'],
};

/** Values of an option that have no effect, besides null. */
const nothing: Readonly<Record<string, readonly unknown[]>> = {
  expiries: ['', 'all'],
  by_expiry: ['', false],
  component: [''],
};

/** The options of a message that have an effect. */
function optionsOf(message: ControlMessage): ControlMessage {
  const names = [...optionNames, ...Object.keys(unserved)];
  const sent = names.filter((name) => message[name] != null && !nothing[name]?.includes(message[name]));
  return Object.fromEntries(sent.map((name) => [name, message[name]]));
}

/** Reads `sub`. Throws 400 naming the field. */
export function readSubscription(message: ControlMessage): AskedSubscription {
  const topic = oneOf(socketTopics, 'topic')(message.topic);
  if (typeof message.symbol !== 'string')
    throw invalidParameter('symbol', `expected a ticker, got ${shown(message.symbol)}`);
  const symbol = parseTicker(message.symbol, 'symbol');
  const sent = optionsOf(message);
  for (const name of Object.keys(sent)) {
    if (Object.hasOwn(unserved, name)) throw invalidParameter(name, unserved[name as keyof typeof unserved]);
    if (!topicOptions[topic].includes(name as OptionName))
      throw invalidParameter(name, `the topic ${topic} does not take it`);
  }
  return {
    topic,
    symbol,
    want: optional(sent, 'want', wantOf),
    timeframe: optional(sent, 'timeframe', oneOf(timeframes, 'timeframe')) ?? '1m',
    expiry: optional(sent, 'expiry', dateOf),
    strikeGte: optional(sent, 'strike_gte', wholeNumber('strike_gte')),
    strikeLte: optional(sent, 'strike_lte', wholeNumber('strike_lte')),
    expiries: optional(sent, 'expiries', expiriesOf),
    sinceMs: optional(sent, 'since', sinceOf),
  };
}

/** The schema of the frames, served verbatim. */
export const streamProtocolSource = readFileSync(
  new URL('../../../proto/stream-protocol.proto', import.meta.url),
  'utf8',
);

const { root } = protobuf.parse(streamProtocolSource);

/** Addresses of the schema; the second is that of clients written for other gateways of this interface. */
export const streamProtocolPaths = ['/v2/stream-protocol.proto', '/v2/ws-protocol.proto'];

/** The schema as a JSON descriptor of protobufjs. */
export const streamProtocolDescriptor = JSON.stringify(root.toJSON());

const frameType = root.lookupType('tapegraph.stream.v2.Frame');

type Fields = Record<string, unknown>;

/** One update of a symbol as the fields of a frame: `{spot: {tsMs, priceScaled}}`. */
export type Update = Readonly<Record<string, Fields>>;

const limits = { sint32: 0x7fffffff, uint32: 0xffffffff };

/** Dollars × 10,000; unset when unknown or over the type's range. */
export function scaled(dollars: number | null): number | undefined {
  if (dollars === null) return undefined;
  const value = Math.round(dollars * 10_000);
  return Math.abs(value) <= limits.sint32 ? value : undefined;
}

/** A count as uint32; unset when unknown or over the type's range. */
export function uint32(count: number | null): number | undefined {
  return count !== null && count <= limits.uint32 ? count : undefined;
}

/** A count as int32; unset when unknown or over the type's range. */
export function int32(count: number | null): number | undefined {
  return count !== null && count <= limits.sint32 ? count : undefined;
}

/** A value for an optional field: unset if unknown. */
export const known = <T>(value: T | null): T | undefined => value ?? undefined;

/** The bytes of a frame. */
export function encodeFrame(symbol: string, update: Update): Uint8Array {
  return frameType.encode({ symbol, ...update }).finish();
}

import type { Json, TestApp } from './app.ts';
import { type EventReader, readEvents, subscribe } from './event-reader.ts';
import { talk } from './web-socket.ts';

/** Why the server ended a stream; `code` is null where the endpoint sends only the text. */
export interface StreamReason {
  code: string | null;
  message: string;
}

/** A client that follows a symbol. */
export interface Followed {
  /** The prices that came, in dollars: of bars, their closes. */
  prices(): number[];
  /** Why it was ended; null while it lasts. */
  ended(): StreamReason | null;
  leave(): void;
}

/** The followed data of a symbol, in the terms of each endpoint. */
interface Subject {
  /** Topic of `/v2/stream`, and the name of its events. */
  topic: 'quotes' | 'bars';
  query(symbol: string): string;
  /** The price in the data of either. */
  priceOf(data: Json): number;
  /** The topic of `/v2/ws`, and the numbers of its frame's price: of the message, and of the field in it. */
  channel: { topic: string; message: number; price: number };
}

const subjects: Readonly<Record<'quotes' | 'bars', Subject>> = {
  quotes: {
    topic: 'quotes',
    query: (symbol) => `subscription { quotes(symbols: ["${symbol}"]) { symbol spot } }`,
    priceOf: ({ spot }) => spot,
    channel: { topic: 'spot', message: 15, price: 2 },
  },
  bars: {
    topic: 'bars',
    query: (symbol) => `subscription { bars(symbol: "${symbol}") { close } }`,
    priceOf: ({ close }) => close,
    channel: { topic: 'stocks', message: 13, price: 5 },
  },
};

type Follow = (app: TestApp, credential: string, symbol: string, subject: Subject) => Promise<Followed>;

const reasonOf = ({ message, extensions }: Json): StreamReason => ({ code: extensions.code, message });

const streamOf: Follow = async ({ url }, credential, symbol, { topic, priceOf }) => {
  const headers = { authorization: `Bearer ${credential}` };
  const reader = await readEvents(`${url}/v2/stream?topics=${topic}:${symbol}`, { headers });
  const of = (name: string) => reader.events.filter(({ event }) => event === name).map(({ data }) => data);
  return {
    prices: () => of(topic).map(priceOf),
    ended: () => of('end').map(({ error: { code, message } }) => ({ code, message }))[0] ?? null,
    leave: reader.leave,
  };
};

function graphEvents(reader: EventReader, { topic, priceOf }: Subject, answerOf: (data: Json) => Json): Followed {
  const answers = () => reader.events.filter(({ event }) => event === 'next').map(({ data }) => answerOf(data));
  return {
    prices: () => answers().flatMap(({ data }) => (data ? [priceOf(data[topic])] : [])),
    ended: () => answers().flatMap(({ errors }) => (errors ? errors.map(reasonOf) : []))[0] ?? null,
    leave: reader.leave,
  };
}

/** `graphql-transport-ws`: what is over is the operation, or the connection. */
const graphSocket: Follow = async ({ url }, credential, symbol, { topic, query, priceOf }) => {
  const talking = talk(`${url}/graphql`, ['graphql-transport-ws']);
  await talking.open;
  talking.send({ type: 'connection_init', payload: { Authorization: `Bearer ${credential}` } });
  // Nobody may subscribe before the answer.
  talking.socket.once('message', () =>
    talking.send({ type: 'subscribe', id: 'one', payload: { query: query(symbol) } }),
  );
  let closed: StreamReason | null = null;
  void talking.closed.then(({ reason }) => {
    closed = { code: null, message: reason };
  });
  return {
    prices: () => talking.said.flatMap(({ type, payload }) => (type === 'next' ? [priceOf(payload.data[topic])] : [])),
    ended: () =>
      talking.said.filter(({ type }) => type === 'error').map((said) => reasonOf(said.payload[0]))[0] ?? closed,
    leave: () => talking.socket.terminate(),
  };
};

const channelSocket: Follow = async (app, credential, symbol, { channel }) => {
  const { body } = await app.send('POST', '/v2/stream/ticket', { credential });
  const talking = talk(`${app.url}/v2/ws`);
  await talking.open;
  talking.send({ op: 'auth', ticket: body.data.ticket, proto: 3, encoding: 'protobuf' });
  talking.send({ op: 'sub', id: 1, topic: channel.topic, symbol });
  return {
    prices: () => talking.bytes.flatMap((frame) => priceIn(frame, channel)),
    ended: () =>
      talking.said.filter(({ op }) => op === 'bye').map(({ code, message }) => ({ code, message }))[0] ?? null,
    leave: () => talking.socket.terminate(),
  };
};

/** The price in a frame, zigzag, read by the wire format and the contract's numbers alone. */
function priceIn(frame: Buffer, { message, price: field }: Subject['channel']): number[] {
  const found = fieldsOf(frame).get(message);
  const price = found instanceof Buffer ? fieldsOf(found).get(field) : undefined;
  return typeof price === 'bigint' ? [Number((price >> 1n) ^ -(price & 1n)) / 10_000] : [];
}

/** A message's fields by number: varints as numbers, the others as bytes. */
function fieldsOf(bytes: Buffer): Map<number, bigint | Buffer> {
  const fields = new Map<number, bigint | Buffer>();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const piece = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    fields.set(tag >> 3, kind === 0 ? varint() : piece(kind === 1 ? 8 : kind === 5 ? 4 : Number(varint())));
  }
  return fields;
}

const endpoints: Readonly<Record<string, Follow>> = {
  '/v2/stream': streamOf,
  '/graphql by event stream': async ({ url }, credential, symbol, subject) =>
    graphEvents(await subscribe(url, credential, subject.query(symbol)), subject, (data) => data),
  '/graphql by WebSocket': graphSocket,
  '/v2/ws': channelSocket,
};

type FollowSymbol = (app: TestApp, credential: string, symbol: string) => Promise<Followed>;
const following = (subject: Subject): Readonly<Record<string, FollowSymbol>> =>
  Object.fromEntries(
    Object.entries(endpoints).map(([name, follow]): [string, FollowSymbol] => [
      name,
      (app, credential, symbol) => follow(app, credential, symbol, subject),
    ]),
  );

/** Every endpoint that sends live data, each as a client of it follows a quote. */
export const streamEndpoints = following(subjects.quotes);

/** The same endpoints, each as a client of it follows minute bars. */
export const barStreamEndpoints = following(subjects.bars);

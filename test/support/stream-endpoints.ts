import type { Json, TestApp } from './app.ts';
import { type EventReader, readEvents, subscribe } from './event-reader.ts';
import { talk } from './web-socket.ts';

/** Why the server ended a stream; `code` is null where the endpoint sends only the text. */
export interface StreamReason {
  code: string | null;
  message: string;
}

/** A client that follows the quote of a symbol. */
export interface FollowedQuote {
  /** The prices that came, in dollars. */
  prices(): number[];
  /** Why it was ended; null while it lasts. */
  ended(): StreamReason | null;
  leave(): void;
}

type Follow = (app: TestApp, credential: string, symbol: string) => Promise<FollowedQuote>;

const quoteOf = (symbol: string) => `subscription { quotes(symbols: ["${symbol}"]) { symbol spot } }`;
const reasonOf = ({ message, extensions }: Json): StreamReason => ({ code: extensions.code, message });

async function streamOf({ url }: TestApp, credential: string, symbol: string): Promise<FollowedQuote> {
  const headers = { authorization: `Bearer ${credential}` };
  const reader = await readEvents(`${url}/v2/stream?topics=quotes:${symbol}`, { headers });
  const of = (name: string) => reader.events.filter(({ event }) => event === name).map(({ data }) => data);
  return {
    prices: () => of('quotes').map(({ spot }) => spot),
    ended: () => of('end').map(({ error: { code, message } }) => ({ code, message }))[0] ?? null,
    leave: reader.leave,
  };
}

function graphEvents(reader: EventReader, answerOf: (data: Json) => Json): FollowedQuote {
  const answers = () => reader.events.filter(({ event }) => event === 'next').map(({ data }) => answerOf(data));
  return {
    prices: () => answers().flatMap(({ data }) => (data ? [data.quotes.spot] : [])),
    ended: () => answers().flatMap(({ errors }) => (errors ? errors.map(reasonOf) : []))[0] ?? null,
    leave: reader.leave,
  };
}

async function operationsOf({ url }: TestApp, credential: string, symbol: string): Promise<FollowedQuote> {
  const operations = [{ query: quoteOf(symbol), extensions: { operationId: 'one' } }];
  const reader = await readEvents(`${url}/graphql/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify({ operations }),
  });
  return graphEvents(reader, ({ payload }) => payload);
}

/** `graphql-transport-ws`: what is over is the operation, or the connection. */
async function graphSocket({ url }: TestApp, credential: string, symbol: string): Promise<FollowedQuote> {
  const talking = talk(`${url}/graphql`, ['graphql-transport-ws']);
  await talking.open;
  talking.send({ type: 'connection_init', payload: { Authorization: `Bearer ${credential}` } });
  // Nobody may subscribe before the answer.
  talking.socket.once('message', () =>
    talking.send({ type: 'subscribe', id: 'one', payload: { query: quoteOf(symbol) } }),
  );
  let closed: StreamReason | null = null;
  void talking.closed.then(({ reason }) => {
    closed = { code: null, message: reason };
  });
  return {
    prices: () => talking.said.flatMap(({ type, payload }) => (type === 'next' ? [payload.data.quotes.spot] : [])),
    ended: () =>
      talking.said.filter(({ type }) => type === 'error').map((said) => reasonOf(said.payload[0]))[0] ?? closed,
    leave: () => talking.socket.terminate(),
  };
}

async function channelSocket(app: TestApp, credential: string, symbol: string): Promise<FollowedQuote> {
  const { body } = await app.send('POST', '/v2/stream/ticket', { credential });
  const talking = talk(`${app.url}/v2/ws`);
  await talking.open;
  talking.send({ op: 'auth', ticket: body.data.ticket, proto: 3, encoding: 'protobuf' });
  talking.send({ op: 'sub', id: 1, topic: 'spot', symbol });
  return {
    prices: () => talking.bytes.flatMap(spotIn),
    ended: () =>
      talking.said.filter(({ op }) => op === 'bye').map(({ code, message }) => ({ code, message }))[0] ?? null,
    leave: () => talking.socket.terminate(),
  };
}

/** The price in a frame, read by the wire format alone: the contract's numbers 15 (spot) and in it 2 (zigzag). */
function spotIn(frame: Buffer): number[] {
  const spot = fieldsOf(frame).get(15);
  const price = spot instanceof Buffer ? fieldsOf(spot).get(2) : undefined;
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

/** Every endpoint that sends live data, each as a client of it follows a quote. */
export const streamEndpoints: Readonly<Record<string, Follow>> = {
  '/v2/stream': streamOf,
  '/graphql by event stream': async ({ url }, credential, symbol) =>
    graphEvents(await subscribe(url, credential, quoteOf(symbol)), (data) => data),
  '/graphql/stream': operationsOf,
  '/graphql by WebSocket': graphSocket,
  '/v2/ws': channelSocket,
};

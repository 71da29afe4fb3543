import type { GraphQLScalarType } from 'graphql';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createWsClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { schema } from '../../src/schema/index.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { handTimers, trade } from '../support/live.ts';
import { storeDays } from '../support/market.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs, every: handTimers().every });
  await storeDays(app.store, 'SPY', { '2026-11-18': 500, '2026-11-19': 600 });
});
afterAll(() => app.close());

const query = 'subscription Q($symbols: [Ticker!]!) { quotes(symbols: $symbols) { symbol spot } }';
const sent = { query, variables: { symbols: ['spy', 'Spy'] } };

/** Follows a subscription of `sent`; returns the spots that it has said so far. */
type Follow = (credential: string) => number[];

const bySse: Follow = (credential) => {
  const headers = { authorization: `Bearer ${credential}` };
  const client = createSseClient({ url: `${app.url}/graphql`, headers, retryAttempts: 0 });
  onTestFinished(() => client.dispose());
  return followed(client);
};

const byWebSocket: Follow = (credential) => {
  const client = createWsClient({
    url: `${app.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: `Bearer ${credential}` },
    retryAttempts: 0,
  });
  onTestFinished(async () => void (await client.dispose()));
  return followed(client);
};

interface Subscriber {
  subscribe(
    asked: typeof sent,
    sink: { next(message: Json): void; error(error: unknown): void; complete(): void },
  ): () => void;
}

function followed(client: Subscriber): number[] {
  const spots: number[] = [];
  const next = ({ data }: Json) => spots.push(data.quotes.spot);
  client.subscribe(sent, { next, error: () => {}, complete: () => {} });
  return spots;
}

const ways: [string, Follow][] = [
  ['events of POST /graphql', bySse],
  ['graphql-transport-ws', byWebSocket],
];

test.each(ways)('the variables of a subscription are read once, %s', async (_way, follow) => {
  const credential = await app.key();
  const read = vi.spyOn(schema.getType('Ticker') as GraphQLScalarType, 'parseValue');
  onTestFinished(() => read.mockRestore());
  const spots = follow(credential);
  await expect.poll(() => spots).toHaveLength(1);
  await trade(app.store, { SPY: spots[0]! + 1 }, nowMs - 1000);
  await expect.poll(() => spots).toEqual([spots[0], spots[0]! + 1]);
  expect(read).toHaveBeenCalledTimes(sent.variables.symbols.length);
});

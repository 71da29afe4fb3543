import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tier } from '../../../src/platform/config/tiers.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';

const routes: Record<string, string> = {
  'desk-basic.graphql': '{ symbol(symbol: "SPY") { spot { price } } }',
  'desk-basic.json': JSON.stringify({ tier: 'basic' }),
  'desk-flow.graphql': '{ ...Trades } fragment Trades on Query { largeTrades(symbol: "SPY") { events { seq } } }',
  'desk-person.graphql': 'mutation ($id: ID!) { revokeKey(id: $id) { revoked } }',
  'desk-person.json': JSON.stringify({ method: 'POST' }),
  'desk-free.graphql': '{ symbol(symbol: "SPY") { name } }',
  'two-lists.graphql':
    '{ spy: quotes(symbols: ["SPY"]) { rows { symbol } } aapl: quotes(symbols: ["AAPL", "MSFT"]) { rows { symbol } } }',
  'instant-alias.graphql':
    '{ as_of_at: symbol(symbol: "SPY") { name } as_of_at_effective: symbol(symbol: "AAPL") { name } }',
};

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ routes });
});
afterAll(() => app.close());

async function offered(credential: string, path = '/mcp'): Promise<string[]> {
  const { body } = await app.send('POST', path, {
    credential,
    headers: { accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  return body.result.tools.map(({ name }: Json) => name).filter((name: string) => name.startsWith('desk'));
}

describe('own routes as tools', () => {
  test.each<[Tier, string[]]>([
    ['free', ['desk_free']],
    ['basic', ['desk_basic', 'desk_free']],
    ['pro', ['desk_basic', 'desk_flow', 'desk_free']],
  ])('a key of the tier %s is offered what its tier, and the fields of each route, let it use', async (tier, names) => {
    const key = await app.key({ siteTier: tier, apiTier: tier });
    expect((await offered(key)).sort()).toEqual(names);
  });

  test('a person is offered those of their tier', async () => {
    const session = await app.session({ siteTier: 'free', apiTier: 'free' });
    expect((await offered(session)).sort()).toEqual(['desk_flow', 'desk_free', 'desk_person']);
  });
});

test('two lists of one key are tables by their paths', async () => {
  const table = async (name: string) =>
    String((await app.get(`/own/two-lists?table=${name}`, { headers: { accept: 'text/csv' } })).bytes);
  expect(await table('spy.rows')).toBe('symbol\r\nSPY\r\n');
  expect(await table('aapl.rows')).toBe('symbol\r\nAAPL\r\nMSFT\r\n');
  const { status, body } = await app.get('/own/two-lists?table=rows', { headers: { accept: 'text/csv' } });
  expect([status, body.error.message]).toEqual([400, expect.stringContaining('spy.rows')]);
});

test('aliases that are the gateway’s own keys of an instant are part of the data', async () => {
  for (const at of ['', '?at=2026-11-18']) {
    const { body } = await app.get(`/own/instant-alias${at}`);
    expect(body.data).toEqual({ as_of_at: { name: 'SPY Inc.' }, as_of_at_effective: { name: 'AAPL Inc.' } });
    expect(body.meta.plane).toBe(at === '' ? 'live' : 'archive');
  }
});

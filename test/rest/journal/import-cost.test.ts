import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { RATE_FREE: '60', RATE_PRO: '600' } });
});
afterAll(() => app.close());

const line = `${JSON.stringify({ account_id: 'main', symbol: 'SPY', side: 'buy', qty: 1, price: 1 })}\n`;
const remaining = (headers: Record<string, unknown>) => Number(headers['x-ratelimit-remaining']);

function importer(credential: string) {
  return (id: string, body: string) =>
    app.send('POST', `/v2/journal/import?import_id=${id}`, { credential, body, contentType: 'text/plain' });
}

describe('an import is charged by its lines', () => {
  test.each([
    ['one line', line, 1],
    ['1,000 lines', line.repeat(1000), 1],
    ['1,001 lines', line.repeat(1001), 2],
    ['10,000 empty objects', '{}\n'.repeat(10_000), 10],
    ['5,000 blank lines', '\n'.repeat(5000), 5],
    ['a line of 500 kB', `{"note":"${'x'.repeat(500_000)}"}`, 3],
  ])('%s', async (name, body, requests) => {
    const send = importer(await app.key());
    const { status, headers } = await send(name.replaceAll(/\W/g, ''), body);
    expect([status, 600 - remaining(headers)]).toEqual([200, requests]);
  });

  test('by MCP as by REST', async () => {
    const key = await app.key();
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'journal_import', arguments: { import_id: 'mcp', body: '{}\n'.repeat(2500) } },
    };
    const answer = await app.send('POST', '/mcp', {
      credential: key,
      body: JSON.stringify(call),
      headers: { accept: 'application/json, text/event-stream' },
    });
    expect(answer.bytes.toString()).toContain('missing_account_id');
    expect(600 - remaining(answer.headers)).toBe(3);
  });

  test('in the graph, beside what a mutation costs', async () => {
    const credential = await app.key();
    const cost = async (lines: number) => {
      const query =
        'mutation ($id: ID!, $body: ImportBody!) { importJournal(importId: $id, body: $body) { result { created } } }';
      const sent = await app.graphql(query, { id: `g${lines}`, body: '{}\n'.repeat(lines) }, { credential });
      expect(sent.errors).toBeUndefined();
      return sent.extensions.cost;
    };
    const [small, large] = [await cost(1), await cost(5000)];
    expect(large.actual - small.actual).toBeGreaterThanOrEqual(50);
    // 50 points for its lines, and less than one for the bytes of its variables.
    expect([small.requests, large.requests]).toEqual([1, 7]);
  });

  test('one that costs more than a minute takes the whole minute, on every tier', async () => {
    const send = importer(await app.key({ apiTier: 'free' }));
    const whole = await send('whole', line.repeat(100_000));
    expect([whole.status, whole.body.data.created]).toEqual([200, 100_000]);
    expect(remaining(whole.headers)).toBe(0);
  });

  test('beyond what is left of the minute it is 429, and nothing is imported', async () => {
    const send = importer(await app.key({ apiTier: 'free' }));
    expect((await send('first', line)).status).toBe(200);
    const left = await send('left', line.repeat(59_001));
    expect([left.status, left.body.error.code]).toEqual([429, 'rate_limited']);
    expect(left.headers['retry-after']).toMatch(/^\d+$/);
    expect((await send('left', line)).body.data.created).toBe(1);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';

const limit = 10;
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { JOURNAL_MAX_ROWS: String(limit) } });
});
afterAll(() => app.close());

const trade = { account_id: 'main', symbol: 'SPY', side: 'buy', qty: 1, price: 1 };
const { account_id, ...rest } = trade;
const graphTrade = { accountId: 'main', ...rest };
const lines = (count: number) => `${JSON.stringify(trade)}\n`.repeat(count);
const importing =
  'mutation ($id: ID!, $body: ImportBody!) { importJournal(importId: $id, body: $body) { result { created } } }';

/** A caller whose journal is full: an account and nine trades. */
async function fullJournal() {
  const credential = await app.key();
  const send = (method: string, path: string, body?: object | string) =>
    app.send(method, `/v2/journal/${path}`, {
      credential,
      ...(typeof body === 'object' && { body: JSON.stringify(body) }),
      ...(typeof body === 'string' && { body, contentType: 'text/plain' }),
    });
  for (let i = 0; i < 9; i++) expect((await send('PUT', `trades/t${i}`, trade)).status).toBe(200);
  const usage = async () => (await app.get('/v2/account/usage', { credential })).body.meta.journal;
  expect(await usage()).toEqual({ rows: limit, limit });
  const graph = (query: string, variables: object) => app.graphql(query, { ...variables }, { credential });
  return { credential, send, usage, graph };
}

type Journal = Awaited<ReturnType<typeof fullJournal>>;
const failure = ({ status, body }: { status: number; body: { error?: { code: string; message: string } } }) => ({
  status,
  code: body.error?.code,
  message: body.error?.message,
});

/** Every way to add a row, and the message of its failure. */
const ways: Record<string, (journal: Journal) => Promise<unknown>> = {
  'POST of a trade': async ({ send }) => failure(await send('POST', 'trades', trade)),
  'PUT of a trade': async ({ send }) => failure(await send('PUT', 'trades/new', trade)),
  'PUT of a trade to a new account': async ({ send }) =>
    failure(await send('PUT', 'trades/t1', { ...trade, account_id: 'new' })),
  'PATCH of a trade to a new account': async ({ send }) =>
    failure(await send('PATCH', 'trades/t1', { account_id: 'new' })),
  'POST of an account': async ({ send }) => failure(await send('POST', 'accounts', { name: 'New' })),
  'PUT of an account': async ({ send }) => failure(await send('PUT', 'accounts/new', { name: 'New' })),
  'an import': async ({ send }) => failure(await send('POST', 'import?import_id=i', lines(1))),
  'an import without a trade': async ({ send }) => failure(await send('POST', 'import?import_id=i', '{}')),
  'a mutation that creates a trade': ({ graph }) =>
    graph('mutation ($trade: JournalTradeInput!) { createJournalTrade(trade: $trade) { trade { id } } }', {
      trade: graphTrade,
    }),
  'a mutation that replaces a trade': ({ graph }) =>
    graph('mutation ($trade: JournalTradeInput!) { replaceJournalTrade(id: "new", trade: $trade) { trade { id } } }', {
      trade: graphTrade,
    }),
  'a mutation that imports': ({ graph }) => graph(importing, { id: 'i', body: lines(1) }),
  'a tool of MCP': async ({ credential }) => {
    const params = { name: 'create_journal_trade', arguments: { body: trade } };
    const answer = await app.send('POST', '/mcp', {
      credential,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      headers: { accept: 'application/json, text/event-stream' },
    });
    return answer.bytes.toString();
  },
};

describe('a full journal', () => {
  test.each(Object.keys(ways))('takes no row by %s, and names the quota', async (way) => {
    const journal = await fullJournal();
    const answer = await ways[way]!(journal);
    expect(JSON.stringify(answer)).toContain('The journal quota is 10 rows');
    expect(JSON.stringify(answer)).toContain('invalid_params');
    expect(await journal.usage()).toEqual({ rows: limit, limit });
  });

  test('changes what it holds, and takes rows again once some are deleted', async () => {
    const { send, usage } = await fullJournal();
    expect((await send('PUT', 'trades/t1', { ...trade, qty: 2 })).status).toBe(200);
    expect((await send('PATCH', 'trades/t2', { note: 'n' })).status).toBe(200);
    expect((await send('PATCH', 'accounts/main', { name: 'Main' })).status).toBe(200);
    expect((await send('DELETE', 'trades/t3')).status).toBe(200);
    expect(await usage()).toEqual({ rows: limit - 1, limit });
    expect((await send('DELETE', 'trades/t3')).status).toBe(404);
    expect((await send('POST', 'trades', { ...trade, id: 't4' })).body.error.message).toContain('already exists');
    expect(await usage()).toEqual({ rows: limit - 1, limit });
    expect((await send('POST', 'trades', trade)).status).toBe(200);
    expect(await usage()).toEqual({ rows: limit, limit });
  });
});

test('an import that would exceed the quota imports nothing, and its id can be used again', async () => {
  const credential = await app.key();
  const send = (body: string) =>
    app.send('POST', '/v2/journal/import?import_id=i', { credential, body, contentType: 'text/plain' });
  const over = await send(lines(9));
  expect([over.status, over.body.error.details]).toEqual([400, { quota: 'journal', limit, rows: 0, added: 11 }]);
  // Eight trades, their account, and the import.
  expect((await send(lines(8))).body.data.created).toBe(8);
  expect((await app.get('/v2/account/usage', { credential })).body.meta.journal).toEqual({ rows: limit, limit });
  // Its result is given again, though the journal is full.
  expect((await send(lines(9))).body.data.created).toBe(8);
});

test('writes at once never exceed the quota together', async () => {
  const accountId = await app.account();
  const { key: credential } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      i % 2
        ? app.send('POST', `/v2/journal/import?import_id=i${i}`, {
            credential,
            body: lines(3),
            contentType: 'text/plain',
          })
        : app.send('PUT', `/v2/journal/trades/t${i}`, { credential, body: JSON.stringify(trade) }),
    ),
  );
  expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true);
  const counts = await app.store.pool.query(
    `select (select count(*) from journal_trades where account_id = $1)
       + (select count(*) from journal_accounts where account_id = $1)
       + (select count(*) from journal_imports where account_id = $1) as rows,
       (select row_count from journal_sizes where account_id = $1) as counted`,
    [accountId],
  );
  const { rows, counted } = counts.rows[0];
  expect(Number(rows)).toBe(counted);
  expect(counted).toBeLessThanOrEqual(limit);
  expect(counted).toBeGreaterThan(limit - 4);
});

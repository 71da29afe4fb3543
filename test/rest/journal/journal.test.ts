import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';
import { statementsOf } from '../../support/statements.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs });
});
afterAll(() => app.close());

const accounts = '/v2/journal/accounts';
const trades = '/v2/journal/trades';
const ulid = /^[0-9A-HJKMNP-TV-Z]{26}$/;
const meta = { caps: { applied: [], tier: 'pro' }, plane: 'registry' };
const trade = { account_id: 'main', symbol: 'spy', side: 'buy', qty: 2, price: 600.5, ts: 1_699_999_999_000 };

/** Somebody with an empty journal: sends as them, bodies as JSON. */
async function owner(account?: Parameters<TestApp['key']>[0]) {
  const credential = await app.key(account);
  return (method: string, path: string, body?: unknown, contentType?: string) =>
    app.send(method, path, {
      credential,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(contentType === undefined ? {} : { contentType }),
    });
}

function expectBad(answer: { status: number; body: { error: Record<string, never> } }, name: string) {
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_params']);
  expect(answer.body.error.message).toMatch(new RegExp(`^${name}: `));
  expect(answer.body.error.details).toEqual({ parameter: name });
}

describe('journal accounts', () => {
  test('are made, listed by id, replaced, changed and deleted', async () => {
    const send = await owner();
    expect((await send('GET', accounts)).body).toEqual({ data: [], meta: { ...meta, count: 0 } });
    const made = await send('POST', accounts, { name: 'Main', broker: 'B & Co' });
    expect([made.status, made.body]).toEqual([
      200,
      { data: { id: expect.stringMatching(ulid), name: 'Main', broker: 'B & Co' }, meta },
    ]);
    const { id } = made.body.data;
    expect((await send('POST', accounts, { id: 'A', name: 'Own id' })).body.data).toEqual({ id: 'A', name: 'Own id' });
    expect((await send('GET', accounts)).body.data.map((account: { id: string }) => account.id)).toEqual([id, 'A']);
    const replaced = await send('PUT', `${accounts}/${id}`, { id: 'stale', name: 'Other' });
    expect([replaced.status, replaced.body]).toEqual([200, { data: { id, name: 'Other' }, meta }]);
    const patched = await send('PATCH', `${accounts}/${id}`, { broker: 'New' }, 'application/merge-patch+json');
    expect(patched.body.data).toEqual({ id, name: 'Other', broker: 'New' });
    expect((await send('PATCH', `${accounts}/${id}`, { broker: null, id: 'x', colour: 1 })).body.data).toEqual({
      id,
      name: 'Other',
    });
    expect((await send('PATCH', `${accounts}/${id}`, {})).body.data).toEqual({ id, name: 'Other' });
    const deleted = await send('DELETE', `${accounts}/${id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { data: { deleted: id }, meta }]);
    expect((await send('GET', accounts)).body.data).toEqual([{ id: 'A', name: 'Own id' }]);
  });

  test('are created by a PUT of an id that is not there; sent again, or twice at once, it makes no second one', async () => {
    const [send, other] = [await owner(), await owner()];
    await other('POST', accounts, { id: 'own', name: 'theirs' });
    const answers = await Promise.all([1, 2, 3].map(() => send('PUT', `${accounts}/own`, { name: 'n' })));
    for (const { status, body } of [...answers, await send('PUT', `${accounts}/own`, { name: 'n' })])
      expect([status, body.data]).toEqual([200, { id: 'own', name: 'n' }]);
    expect((await send('GET', accounts)).body.data).toEqual([{ id: 'own', name: 'n' }]);
    expect((await other('GET', accounts)).body.data).toEqual([{ id: 'own', name: 'theirs' }]);
    expectBad(await send('PUT', `${accounts}/${'x'.repeat(300)}`, { name: 'n' }), 'id');
  });

  test('are 404 where there is none, and under another account', async () => {
    const [send, other] = [await owner(), await owner()];
    await other('POST', accounts, { id: 'theirs', name: 'n' });
    for (const id of ['none', 'theirs']) {
      for (const [method, body] of [
        ['PATCH', { name: 'n' }],
        ['DELETE', undefined],
      ] as const) {
        const { status, body: answer } = await send(method, `${accounts}/${id}`, body);
        expect([status, answer.error.code]).toEqual([404, 'not_found']);
      }
    }
    expect((await other('GET', accounts)).body.data).toEqual([{ id: 'theirs', name: 'n' }]);
  });

  test.each([
    ['name', {}],
    ['name', { name: null }],
    ['name', { name: '' }],
    ['name', { name: 5 }],
    ['name', { name: 'x'.repeat(501) }],
    ['broker', { name: 'n', broker: 5 }],
    ['broker', { name: 'n', broker: 'a\u0000' }],
    ['id', { id: 5, name: 'n' }],
    ['id', { id: 'taken', name: 'n' }],
    ['body', []],
    ['body', '{'],
    ['body', ''],
  ])('with a wrong %s are a 400 that names it (%j)', async (name, body) => {
    const send = await owner();
    await send('POST', accounts, { id: 'taken', name: 'first' });
    expectBad(await send('POST', accounts, body), name);
    if (name !== 'id') expectBad(await send('PUT', `${accounts}/taken`, body), name);
    expect((await send('GET', accounts)).body.data).toEqual([{ id: 'taken', name: 'first' }]);
  });

  test('whose name is cleared are a 400, and stay as they were', async () => {
    const send = await owner();
    await send('POST', accounts, { id: 'a', name: 'n', broker: 'b' });
    expectBad(await send('PATCH', `${accounts}/a`, { name: null, broker: null }), 'name');
    expectBad(await send('PATCH', `${accounts}/a`, []), 'body');
    expect((await send('GET', accounts)).body.data).toEqual([{ id: 'a', name: 'n', broker: 'b' }]);
  });

  test('that hold trades are not deleted; without them they are', async () => {
    const send = await owner();
    const { id } = (await send('POST', trades, trade)).body.data;
    expect((await send('GET', accounts)).body.data).toEqual([{ id: 'main', name: 'main' }]);
    const refused = await send('DELETE', `${accounts}/main`);
    expectBad(refused, 'id');
    expect(refused.body.error.message).toContain('has a trade');
    await send('DELETE', `${trades}/${id}`);
    expect((await send('DELETE', `${accounts}/main`)).status).toBe(200);
  });
});

describe('journal trades', () => {
  test('are made, listed latest first, replaced, changed and deleted', async () => {
    const send = await owner();
    const made = await send('POST', trades, { ...trade, note: 'why' });
    expect([made.status, made.body]).toEqual([
      200,
      { data: { ...trade, id: expect.stringMatching(ulid), symbol: 'SPY', note: 'why' }, meta },
    ]);
    const { id } = made.body.data;
    const { ts, ...untimed } = trade;
    const now = (await send('POST', trades, { ...untimed, id: 'own', side: 'sell short' })).body.data;
    expect(now).toEqual({ ...untimed, id: 'own', symbol: 'SPY', side: 'sell short', ts: nowMs });
    const listed = await send('GET', trades);
    expect(listed.body).toEqual({ data: [now, made.body.data], meta: { ...meta, count: 2 } });
    const put = { ...trade, account_id: 'other', symbol: 'brk.b', qty: 1.5, price: 0, ts: '2024-07-01T09:30' };
    const replaced = await send('PUT', `${trades}/${id}`, { ...put, id: 'stale' });
    const stored = { ...put, id, symbol: 'BRK.B', ts: Date.parse('2024-07-01T13:30Z') };
    expect([replaced.status, replaced.body]).toEqual([200, { data: stored, meta }]);
    const patched = await send('PATCH', `${trades}/${id}`, { note: 'n', qty: 3 }, 'application/merge-patch+json');
    expect(patched.body.data).toEqual({ ...stored, note: 'n', qty: 3 });
    const cleared = await send('PATCH', `${trades}/${id}`, { note: null, ts: null, id: 'x' });
    expect(cleared.body.data).toEqual({ ...stored, qty: 3, ts: nowMs });
    const deleted = await send('DELETE', `${trades}/${id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { data: { deleted: id }, meta }]);
    expect((await send('GET', trades)).body.data).toEqual([now]);
    const known = (await send('GET', accounts)).body.data.map((account: { id: string }) => account.id);
    expect(known).toEqual(['main', 'other']);
  });

  test('changed and deleted at once are changed or not found, and never a failure', async () => {
    const send = await owner();
    for (let round = 0; round < 20; round++) {
      const path = `${trades}/race-${round}`;
      await send('PUT', path, trade);
      const answers = await Promise.all([
        ...Array.from({ length: 3 }, (_, qty) => send('PATCH', path, { qty: qty + 1 }, 'application/merge-patch+json')),
        send('DELETE', path),
      ]);
      for (const { status } of answers) expect([200, 404]).toContain(status);
    }
  });

  test('are created by a PUT of an id that is not there; sent again, or twice at once, it makes no second one', async () => {
    const [send, other] = [await owner(), await owner()];
    await other('POST', trades, { ...trade, id: 'own', qty: 7 });
    const answers = await Promise.all([1, 2, 3].map(() => send('PUT', `${trades}/own`, trade)));
    for (const { status, body } of [...answers, await send('PUT', `${trades}/own`, trade)])
      expect([status, body.data.id, body.data.qty]).toEqual([200, 'own', trade.qty]);
    expect((await send('GET', trades)).body.data).toHaveLength(1);
    expect((await other('GET', trades)).body.data).toMatchObject([{ id: 'own', qty: 7 }]);
  });

  test('are 404 where there is none, and under another account', async () => {
    const [send, other] = [await owner(), await owner()];
    await other('POST', trades, { ...trade, id: 'theirs' });
    for (const id of ['none', 'theirs']) {
      for (const [method, body] of [
        ['PATCH', { qty: 1 }],
        ['DELETE', undefined],
      ] as const) {
        expect((await send(method, `${trades}/${id}`, body)).status).toBe(404);
      }
    }
    expect((await other('GET', trades)).body.data).toHaveLength(1);
  });

  test.each([
    ['account_id', { account_id: undefined }],
    ['account_id', { account_id: 5 }],
    ['symbol', { symbol: null }],
    ['symbol', { symbol: 'not a ticker' }],
    ['side', { side: '' }],
    ['side', { side: 1 }],
    ['qty', { qty: undefined }],
    ['qty', { qty: '2' }],
    ['qty', { qty: 0 }],
    ['price', { price: null }],
    ['price', { price: -1 }],
    ['ts', { ts: 'noon' }],
    ['ts', { ts: 1.5 }],
    ['note', { note: 5 }],
  ])('with a wrong %s are a 400 that names it, however written (%j)', async (name, change) => {
    const send = await owner();
    await send('POST', trades, { ...trade, id: 't' });
    const before = (await send('GET', trades)).body.data;
    const wrong = { ...trade, ...change };
    expectBad(await send('POST', trades, wrong), name);
    expectBad(await send('PUT', `${trades}/t`, wrong), name);
    const patch = Object.fromEntries(Object.entries(change).map(([key, value]) => [key, value ?? null]));
    expectBad(await send('PATCH', `${trades}/t`, patch), name);
    expect((await send('GET', trades)).body.data).toEqual(before);
  });

  test('of an id that is taken are a 400, and so is a body that is no object', async () => {
    const send = await owner();
    await send('POST', trades, { ...trade, id: 't' });
    expectBad(await send('POST', trades, { ...trade, id: 't' }), 'id');
    expectBad(await send('POST', trades, { ...trade, id: 7 }), 'id');
    for (const method of ['PUT', 'PATCH']) expectBad(await send(method, `${trades}/t`, '[1]'), 'body');
    expect((await send('PATCH', `${trades}/t`, '{}', 'text/plain')).status).toBe(415);
    expect((await send('POST', `${trades}/t`, '{}')).headers.allow).toBe('PUT, PATCH, DELETE');
  });

  test('come in pages that together are the whole, also where many were made at one instant', async () => {
    const credential = await app.key();
    const line = (i: number) => JSON.stringify({ ...trade, id: `t${i}`, ts: trade.ts + Math.floor(i / 4) });
    const body = Array.from({ length: 25 }, (_, i) => line(i)).join('\n');
    await app.send('POST', '/v2/journal/import?import_id=i', { credential, body, contentType: 'text/plain' });
    const whole = (await app.get(trades, { credential })).body;
    expect([whole.data.length, whole.meta.cursor]).toEqual([25, undefined]);
    for (const limit of [1, 3, 25]) {
      const rows: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = (await app.get(`${trades}?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`, { credential }))
          .body;
        rows.push(...page.data);
        cursor = page.meta.cursor;
      } while (cursor);
      expect(rows).toEqual(whole.data);
    }
    const clamped = await app.get(`${trades}?limit=5001`, { credential });
    expect(clamped.body.meta.caps.applied).toEqual(['limit_clamped']);
    for (const query of ['limit=0', 'cursor=abc']) {
      expectBad(await app.get(`${trades}?${query}`, { credential }), query.split('=')[0]!);
    }
  });
});

describe('the journal', () => {
  test("is anybody's with a credential, and counts as journal", async () => {
    for (const path of [accounts, trades]) {
      const { status, body } = await app.get(path, { credential: null });
      expect([status, body.error.code]).toEqual([401, 'unauthenticated']);
    }
    const send = await owner({ apiTier: 'free', classification: null });
    expect((await send('POST', trades, trade)).status).toBe(200);
    const usage = await send('GET', '/v2/account/usage');
    expect(usage.body.data.totals_by_scope_group).toEqual({ journal: 1 });
  });

  test('in the graph says and does the same', async () => {
    const credential = await app.key();
    const run = (query: string, variables: Record<string, unknown> = {}) =>
      app.graphql(query, variables, { credential });
    const made = await run(
      `mutation Make($trade: JournalTradeInput!) {
        createJournalAccount(id: "main", account: { name: "Main" }) { account { id name broker } }
        createJournalTrade(id: "t", trade: $trade) { trade { id accountId ticker side qty price ts note symbol { name } } }
        patchJournalTrade(id: "t", patch: { note: "lit", accountId: "main" }) { trade { note } }
        replaceJournalAccount(id: "main", account: { name: "M", broker: "B" }) { account { name broker } }
        patchJournalAccount(id: "main", patch: { broker: null }) { account { name broker } } }`,
      { trade: { accountId: 'main', symbol: 'spy', side: 'buy', qty: 1, price: 2, ts: '2024-07-01' } },
    );
    expect(made.errors).toBeUndefined();
    expect(made.data).toEqual({
      createJournalAccount: { account: { id: 'main', name: 'Main', broker: null } },
      createJournalTrade: {
        trade: {
          id: 't',
          accountId: 'main',
          ticker: 'SPY',
          side: 'buy',
          qty: 1,
          price: 2,
          ts: Date.parse('2024-07-01T04:00Z'),
          note: null,
          symbol: { name: 'SPY Inc.' },
        },
      },
      patchJournalTrade: { trade: { note: 'lit' } },
      replaceJournalAccount: { account: { name: 'M', broker: 'B' } },
      patchJournalAccount: { account: { name: 'M', broker: null } },
    });
    const wrong = await run(
      `mutation { a: patchJournalTrade(id: "t", patch: { qty: 0 }) { trade { id } }
        b: patchJournalTrade(id: "none", patch: {}) { trade { id } } c: deleteJournalAccount(id: "main") { deleted }
        d: deleteJournalTrade(id: "t") { deleted } e: deleteJournalAccount(id: "main") { deleted } }`,
    );
    expect(wrong.data).toEqual({ a: null, b: null, c: null, d: { deleted: 't' }, e: { deleted: 'main' } });
    expect(wrong.errors?.map((error) => [error.path[0], error.extensions.code])).toEqual([
      ['a', 'invalid_params'],
      ['b', 'not_found'],
      ['c', 'invalid_params'],
    ]);
  });

  test('in the graph patches by its own names: null clears a field, one that is left out stays', async () => {
    const credential = await app.key();
    const run = (query: string, variables: Record<string, unknown> = {}) =>
      app.graphql(query, variables, { credential });
    const trade = '{ accountId: "main", symbol: "SPY", side: "buy", qty: 1, price: 2, ts: "2024-07-01", note: "n" }';
    await run(`mutation { createJournalTrade(id: "t", trade: ${trade}) { trade { id } } }`);
    const patch = async (sent: Record<string, unknown>) => {
      const { data, errors } = await run(
        `mutation Patch($patch: JournalTradePatch!) {
          patchJournalTrade(id: "t", patch: $patch) { trade { accountId ticker qty ts note } } }`,
        { patch: sent },
      );
      return errors ? errors[0].extensions.details : data.patchJournalTrade.trade;
    };
    const stored = { accountId: 'main', ticker: 'SPY', qty: 1, ts: Date.parse('2024-07-01T04:00Z'), note: 'n' };
    expect(await patch({})).toEqual(stored);
    expect(await patch({ accountId: 'other', symbol: 'qqq' })).toEqual({
      ...stored,
      accountId: 'other',
      ticker: 'QQQ',
    });
    expect(await patch({ note: null, ts: null })).toMatchObject({ qty: 1, ts: nowMs, note: null });
    for (const field of ['accountId', 'symbol', 'side', 'qty', 'price'])
      expect(await patch({ [field]: null })).toEqual({ parameter: field });
    expect(await patch({ accountId: 'a\n' })).toEqual({ parameter: 'accountId' });
    expect(await patch({ qty: 0 })).toEqual({ parameter: 'qty' });
  });

  test('is read with its accounts in a number of statements that does not grow', async () => {
    const counts: number[] = [];
    for (const size of [1, 10, 100]) {
      const credential = await app.key();
      const body = Array.from({ length: size }, (_, i) => JSON.stringify({ ...trade, account_id: `a${i}` })).join('\n');
      await app.send('POST', '/v2/journal/import?import_id=i', { credential, body, contentType: 'text/plain' });
      const query = `{ journalTrades(limit: 100) { rows { id account { name } } meta { count } } journalAccount(id: "a0") { name } }`;
      const statements = await statementsOf(async () => {
        const { data } = await app.graphql(query, {}, { credential });
        expect(data.journalTrades.rows).toHaveLength(size);
        expect(data.journalTrades.rows[0].account.name).toMatch(/^a\d+$/);
      });
      counts.push(statements.filter((text) => text.includes('journal_')).length);
    }
    expect(counts[1]).toBe(counts[0]);
    expect(counts[2]).toBe(counts[0]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importLimits } from '../../../src/core/domain/journal.ts';
import { heavyWork } from '../../../src/platform/runtime/event-loop.ts';
import { type Sending, type TestApp, testApp } from '../../support/app.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs });
});
afterAll(() => app.close());

const trade = {
  id: 't1',
  account_id: 'main',
  symbol: 'spy',
  side: 'buy',
  qty: 2,
  price: 600.5,
  ts: 1_699_999_999_000,
  note: 'a, "b"',
};
const jsonl = (...trades: object[]) => trades.map((each) => `${JSON.stringify(each)}\n`).join('');
const header = 'id,account_id,symbol,side,qty,price,ts,note\n';

const post = (query: string, body: string | Buffer | undefined, sending: Sending = {}) =>
  app.send('POST', `/v2/journal/import${query}`, { contentType: 'text/plain', ...(body ? { body } : {}), ...sending });

async function owner() {
  const session = await app.session();
  const accountId = (await app.graphql('{ me { accountId } }', {}, { credential: session })).data.me.accountId;
  const stored = async (table: 'journal_trades' | 'journal_accounts' | 'journal_imports') =>
    (await app.store.pool.query(`select * from ${table} where account_id = $1 order by 2`, [accountId])).rows;
  return {
    stored,
    session,
    send: (query: string, body: string | Buffer | undefined, sending: Sending = {}) =>
      post(query, body, { credential: session, ...sending }),
  };
}

describe('POST /v2/journal/import', () => {
  test('imports JSON lines, the good rows though others fail, and says which', async () => {
    const { send, stored } = await owner();
    const { id, ts, note, ...short } = trade;
    const good = jsonl(trade, { ...short, account_id: 'new' }, trade);
    const body = `${good}\n{"id":\n${jsonl({ ...trade, qty: 0 }, { ...short, side: null })}`;
    const { status, body: answer, headers } = await send('?import_id=i1', body);
    expect(status).toBe(200);
    expect(answer).toEqual({
      data: {
        created: 2,
        skipped: 1,
        errors: [
          { row: 5, code: 'bad_json' },
          { row: 6, code: 'bad_qty' },
          { row: 7, code: 'missing_side' },
        ],
      },
      meta: { caps: { applied: [], tier: 'pro' }, plane: 'registry' },
    });
    expect(headers['cache-control']).toBe('no-store');
    const trades = await stored('journal_trades');
    expect(trades).toHaveLength(2);
    expect(trades.find((row) => row.id === 't1')).toMatchObject({
      journal_account_id: 'main',
      symbol: 'SPY',
      side: 'buy',
      qty: 2,
      price: 600.5,
      ts_ms: 1_699_999_999_000,
      note: 'a, "b"',
    });
    expect(trades.find((row) => row.id !== 't1')).toMatchObject({
      id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      ts_ms: nowMs,
      note: null,
    });
    expect((await stored('journal_accounts')).map(({ id, name }) => [id, name])).toEqual([
      ['main', 'main'],
      ['new', 'new'],
    ]);
  });

  test('imports CSV: header, quoting, CRLF and a byte order mark', async () => {
    const { send, stored } = await owner();
    const body = `\ufeff${header}t1,main,spy,buy,2,600.5,1699999999000,"a, ""b"""\r\n\r\n,main,SPY,sell,1,1,,\nt3,main,SPY\n`;
    const { body: answer } = await send('?import_id=i1&format=csv', body, { contentType: 'text/plain; charset=utf-8' });
    expect(answer.data).toEqual({ created: 2, skipped: 0, errors: [{ row: 5, code: 'bad_columns' }] });
    expect((await stored('journal_trades')).find((row) => row.id === 't1')).toMatchObject({ note: 'a, "b"' });
    const headless = await send('?import_id=i2&format=csv', 't1,main,spy,buy,2,600.5,,\n');
    expect(headless.body.data).toEqual({ created: 0, skipped: 0, errors: [{ row: 1, code: 'bad_columns' }] });
  });

  test('sent again gives the first result verbatim and imports nothing, whatever the body is now', async () => {
    const { send, stored } = await owner();
    const first = await send('?import_id=same', `${jsonl(trade)}{`);
    for (const [query, body] of [
      ['?import_id=same', `${jsonl(trade)}{`],
      ['?import_id=same', jsonl({ ...trade, id: 'other' })],
      ['?import_id=same&format=csv', 'nonsense'],
      ['?import_id=same', Buffer.from([0xff, 0xfe])],
      ['?import_id=same', '\n'.repeat(importLimits.lines + 1)],
    ] as const) {
      const again = await send(query, body);
      expect([again.status, again.bytes]).toEqual([200, first.bytes]);
    }
    expect(await stored('journal_trades')).toHaveLength(1);
    expect(await stored('journal_imports')).toHaveLength(1);
  });

  test('sent many times at once imports once, and all get the one result', async () => {
    const { send, stored } = await owner();
    const { id, ...fresh } = trade;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => send('?import_id=race', jsonl(fresh, fresh, fresh))),
    );
    for (const { status, body } of answers) {
      expect([status, body.data]).toEqual([200, { created: 3, skipped: 0, errors: [] }]);
    }
    expect(await stored('journal_trades')).toHaveLength(3);
  });

  test('under another id skips the trades that are there already', async () => {
    const { send } = await owner();
    await send('?import_id=a', jsonl(trade));
    const { body } = await send('?import_id=b', jsonl(trade, { ...trade, id: 't2' }));
    expect(body.data).toEqual({ created: 1, skipped: 1, errors: [] });
  });

  test('is of one account: the same ids are free to another', async () => {
    const [one, two] = [await owner(), await owner()];
    for (const { send } of [one, two]) {
      expect((await send('?import_id=i', jsonl(trade))).body.data.created).toBe(1);
    }
  });

  test.each([
    ['import_id', '', jsonl(trade)],
    ['import_id', '?import_id=', jsonl(trade)],
    ['import_id', '?import_id=a&import_id=b', jsonl(trade)],
    ['import_id', '?import_id=a%00', jsonl(trade)],
    ['import_id', `?import_id=${'x'.repeat(129)}`, jsonl(trade)],
    ['format', '?import_id=a&format=xml', jsonl(trade)],
    ['format', '?import_id=a&format=CSV', jsonl(trade)],
    ['body', '?import_id=a', undefined],
    ['body', '?import_id=a', Buffer.from([0x7b, 0xff, 0x7d])],
  ])('with a wrong %s is a 400 that names it, and nothing is imported (%s)', async (name, query, body) => {
    const { send, stored } = await owner();
    const answer = await send(query, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_params']);
    expect(answer.body.error.message).toMatch(new RegExp(`^${name}: `));
    expect(answer.body.error.details).toEqual({ parameter: name });
    expect(await stored('journal_imports')).toEqual([]);
  });

  test('over 100,000 lines or 10 MiB is 413, and nothing is imported', async () => {
    const { send, stored } = await owner();
    const lines = jsonl(trade) + '\n'.repeat(importLimits.lines);
    const bytes = jsonl(trade) + ' '.repeat(importLimits.bytes);
    for (const [body, headers] of [
      [lines, {}],
      [bytes, {}],
      [bytes, { 'transfer-encoding': 'chunked' }],
    ] as [string, Record<string, string>][]) {
      const { status, body: answer } = await send('?import_id=large', body, { headers });
      expect([status, answer.error.code]).toEqual([413, 'invalid_params']);
    }
    expect(await stored('journal_trades')).toEqual([]);
    // The id is still free.
    expect((await send('?import_id=large', jsonl(trade))).body.data.created).toBe(1);
  });

  test('as large as it may be is imported whole, without holding up others', async () => {
    const { send } = await owner();
    const { id, ...fresh } = trade;
    const body = `${JSON.stringify(fresh)}\n`.repeat(50_000) + '{\n'.repeat(50_000);
    const done = send('?import_id=full', body);
    let longest = 0;
    let finished = false;
    const waiting = (async () => {
      while (!finished) {
        const start = performance.now();
        await app.get('/healthz', { credential: null });
        longest = Math.max(longest, performance.now() - start);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    const answer = await done;
    finished = true;
    await waiting;
    expect([answer.status, answer.body.data.created, answer.body.data.errors.length]).toEqual([200, 50_000, 100]);
    expect(answer.body.meta.errors_omitted).toBe(49_900);
    if (process.env.TIMES) console.info('longest wait', Math.round(longest), 'ms');
    // Far more than is seen: only a mistake would hold up others for so long.
    expect(longest).toBeLessThan(1500);
  });

  test('lists 100 of the rows that fail and counts the rest, and sent again answers the same', async () => {
    const { send, session } = await owner();
    const exact = await send('?import_id=exact', '{}\n'.repeat(100));
    expect(exact.body.data.errors).toHaveLength(100);
    expect('errors_omitted' in exact.body.meta).toBe(false);
    const all = await send('?import_id=all', `${jsonl(trade)}${'{}\n'.repeat(99_999)}`);
    expect(all.body.data).toMatchObject({ created: 1, skipped: 0 });
    expect(all.body.data.errors).toEqual(
      Array.from({ length: 100 }, (_, i) => ({ row: i + 2, code: 'missing_account_id' })),
    );
    expect(all.body.meta.errors_omitted).toBe(99_899);
    expect(all.bytes.length).toBeLessThan(10_000);
    expect((await send('?import_id=all', 'anything')).bytes).toEqual(all.bytes);
    const inGraph = await app.graphql(
      'mutation ($body: ImportBody!) { all: importJournal(importId: "all", body: $body) { result { errors { row } } meta { errorsOmitted } } exact: importJournal(importId: "exact", body: $body) { meta { errorsOmitted } } }',
      { body: 'x' },
      { credential: session },
    );
    expect(inGraph.data.all.result.errors).toHaveLength(100);
    expect(inGraph.data.all.meta.errorsOmitted).toBe(99_899);
    expect(inGraph.data.exact.meta.errorsOmitted).toBeNull();
  });

  test('runs in pieces between which other requests are served', async () => {
    const { send } = await owner();
    const before = heavyWork().pieces;
    await send('?import_id=pieces', '{}\n'.repeat(99_999));
    expect(heavyWork().pieces - before).toBeGreaterThanOrEqual(399);
    const { id, ...fresh } = trade;
    const middle = heavyWork().pieces;
    await send('?import_id=stored', jsonl(...Array.from({ length: 10_000 }, () => fresh)));
    // 40 of reading and 10 of storing.
    expect(heavyWork().pieces - middle).toBeGreaterThanOrEqual(50);
  });

  test('is 401 without a credential, 415 as JSON, 405 by PUT; any tier may', async () => {
    const none = await post('?import_id=a', jsonl(trade), { credential: null });
    expect([none.status, none.body.error.code]).toEqual([401, 'unauthenticated']);
    const json = await post('?import_id=a', jsonl(trade), { contentType: 'application/json' });
    expect([json.status, json.body.error.code]).toEqual([415, 'invalid_params']);
    expect((await app.send('PUT', '/v2/journal/import?import_id=a')).headers.allow).toBe('POST');
    const free = await app.key({ apiTier: 'free', classification: null });
    expect((await post('?import_id=a', jsonl(trade), { credential: free })).status).toBe(200);
    const usage = await app.get('/v2/account/usage', { credential: free });
    expect(usage.body.data.totals_by_scope_group).toEqual({ journal: 1 });
  });
});

describe('importJournal in the graph', () => {
  const mutation =
    'mutation Import($importId: ID!, $body: ImportBody!, $format: JournalFormat) { importJournal(importId: $importId, body: $body, format: $format) { result { created skipped errors { row code } } meta { plane } } }';

  test('imports by the same rules, and an id counts over both doors', async () => {
    const { session, send } = await owner();
    const run = (variables: object) => app.graphql(mutation, { ...variables }, { credential: session });
    const first = await run({ importId: 'g', body: `${jsonl(trade)}{` });
    expect(first.errors).toBeUndefined();
    expect(first.data.importJournal).toEqual({
      result: { created: 1, skipped: 0, errors: [{ row: 2, code: 'bad_json' }] },
      meta: { plane: 'registry' },
    });
    expect((await send('?import_id=g', 'anything')).body.data).toEqual(first.data.importJournal.result);
    const csv = await run({ importId: 'c', format: 'csv', body: `${header}t9,main,SPY,buy,1,1,,ü\n` });
    expect(csv.data.importJournal.result).toEqual({ created: 1, skipped: 0, errors: [] });
    const written = await app.graphql(
      'mutation { importJournal(importId: "block", body: """{"id":"b","account_id":"main","symbol":"SPY","side":"buy","qty":1,"price":1}""") { result { created } } }',
      {},
      { credential: session },
    );
    expect(written.data.importJournal.result.created).toBe(1);
  });

  test.each([
    ['import_id', { importId: '', body: 'x' }],
    ['importId', { importId: 'a\u0000', body: 'x' }],
    ['body', { importId: 'a', body: '' }],
    ['body', { importId: 'a', body: 'a\ud800' }],
    ['', { importId: 'a', body: 7 }],
    ['', { importId: 'a', body: 'x', format: 'xml' }],
    ['', { importId: 'a' }],
  ])('refuses a wrong %s with invalid_params (%j)', async (name, variables) => {
    const { errors } = await app.graphql(mutation, variables);
    expect(errors?.[0].extensions.code).toBe('invalid_params');
    expect(errors?.[0].message).toContain(name);
  });
});

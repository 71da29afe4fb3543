import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewTrade } from '../../../src/core/domain/journal.ts';
import { ulid } from '../../../src/platform/runtime/ulid.ts';
import { findImport, importTrades } from '../../../src/store/journal/imports.ts';
import { openStore } from '../../../src/store/rows/connection.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const newId = () => ulid(1, randomBytes);
const trade = (id: string | null, over: Partial<NewTrade> = {}): NewTrade => ({
  id,
  journalAccountId: 'main',
  symbol: 'SPY',
  side: 'buy',
  qty: 1.5,
  price: 600.25,
  tsMs: 1_700_000_000_000,
  note: null,
  ...over,
});
const run = (accountId: string, importId: string, trades: NewTrade[], errors: { row: number; code: string }[] = []) =>
  importTrades(store, of(accountId), { importId, trades, errors, errorsOmitted: 0 }, newId, 7);
const of = (accountId: string) => ({ accountId, maxRows: 1_000_000 });
const count = async (accountId: string, table = 'journal_trades') =>
  (await store.pool.query(`select count(*) as n from ${table} where account_id = $1`, [accountId])).rows[0].n;

describe('a journal import', () => {
  it('stores trades as they are, and makes the journal accounts it names', async () => {
    const trades = [
      trade('t1', { note: 'a "note"\nof two lines' }),
      trade('t2', { journalAccountId: 'ira', qty: 1e-9 }),
    ];
    expect(await run('ana', 'i1', trades)).toEqual({ created: 2, skipped: 0, errors: [], errorsOmitted: 0 });
    const stored = await store.pool.query(
      `select id, journal_account_id as "journalAccountId", symbol, side, qty, price, ts_ms as "tsMs", note
       from journal_trades where account_id = 'ana' order by id`,
    );
    expect(stored.rows).toEqual(trades);
    const accounts = await store.pool.query(
      `select id, name from journal_accounts where account_id = 'ana' order by id`,
    );
    expect(accounts.rows).toEqual([
      { id: 'ira', name: 'ira' },
      { id: 'main', name: 'main' },
    ]);
  });

  it('gives the first result verbatim when its id is sent again, and imports nothing', async () => {
    const first = await run('bo', 'i1', [trade('t1')], [{ row: 2, code: 'bad_json' }]);
    expect(await findImport(store, 'bo', 'i1')).toEqual(first);
    const again = await run('bo', 'i1', [trade('t2'), trade('t3')]);
    expect(JSON.stringify(again)).toBe(JSON.stringify(first));
    expect(await count('bo')).toBe(1);
    expect(await findImport(store, 'bo', 'i2')).toBeNull();
    expect(await findImport(store, 'ana', 'i2')).toBeNull();
  });

  it('skips ids that the journal or an earlier row has; the earlier row counts', async () => {
    await run('cy', 'i1', [trade('t1', { qty: 1 })]);
    const trades = [
      trade('t1', { qty: 2 }),
      trade('t2', { qty: 3 }),
      trade('t2', { qty: 4 }),
      trade(null),
      trade(null),
    ];
    expect(await run('cy', 'i2', trades)).toEqual({ created: 3, skipped: 2, errors: [], errorsOmitted: 0 });
    const { rows } = await store.pool.query(
      `select id, qty from journal_trades where account_id = 'cy' and id like 't%' order by id`,
    );
    expect(rows).toEqual([
      { id: 't1', qty: 1 },
      { id: 't2', qty: 3 },
    ]);
  });

  it('of one id from many connections at once imports once, and all get the one result', async () => {
    const other = await openStore({ databaseUrl: store.databaseUrl, dataDir: '', migrate: false });
    const bodies = Array.from({ length: 12 }, (_, i) => Array.from({ length: i + 1 }, () => trade(null)));
    const results = await Promise.all(
      bodies.map((trades, i) =>
        importTrades(
          i % 2 ? store : other,
          of('di'),
          { importId: 'same', trades, errors: [], errorsOmitted: 0 },
          newId,
          7,
        ),
      ),
    );
    await other.close();
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(await count('di')).toBe(results[0]!.created);
    expect(await count('di', 'journal_imports')).toBe(1);
  });

  it('of different ids at once, sharing trades in opposite order, imports each trade once', async () => {
    const trades = Array.from({ length: 300 }, (_, i) => trade(`t${i}`));
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, i) => run('ey', `i${i}`, i % 2 ? trades : trades.toReversed())),
    );
    expect(results.reduce((sum, result) => sum + result.created, 0)).toBe(300);
    expect(results.reduce((sum, result) => sum + result.skipped, 0)).toBe(7 * 300);
  });

  it('that fails half way leaves nothing, and can be sent again', async () => {
    let made = 0;
    const failing = () => {
      made += 1;
      if (made > 2500) throw new Error('the process ends here');
      return newId();
    };
    const request = {
      importId: 'i1',
      errorsOmitted: 0,
      trades: Array.from({ length: 3000 }, () => trade(null)),
      errors: [],
    };
    await expect(importTrades(store, of('fy'), request, failing, 7)).rejects.toThrow('ends here');
    for (const table of ['journal_trades', 'journal_accounts', 'journal_imports'])
      expect(await count('fy', table)).toBe(0);
    expect(await importTrades(store, of('fy'), request, newId, 7)).toMatchObject({ created: 3000 });
  });

  it('of nothing but errors is stored, too', async () => {
    const errors = [{ row: 1, code: 'missing_side' }];
    expect(await run('gy', 'i1', [], errors)).toEqual({ created: 0, skipped: 0, errors, errorsOmitted: 0 });
    expect(await findImport(store, 'gy', 'i1')).toEqual({ created: 0, skipped: 0, errors, errorsOmitted: 0 });
  });
});

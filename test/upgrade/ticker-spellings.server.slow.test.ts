// Stores of the release before hold rows under other spellings of a ticker, such as BRK-B for BRK.B.
import { beforeAll, describe, expect, test } from 'vitest';
import { type BarColumns, barColumns } from '../../src/core/domain/market/bar.ts';
import { barColumnNames } from '../../src/core/domain/market/bar-columns.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { openCurrentStore } from '../../src/store/current-store.ts';
import { readBars, writeBars } from '../../src/store/market/bar-blocks.ts';
import { allModels, tableOf } from '../../src/store/rows/models/model-tables.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { watchChanges } from '../../src/store/versions/announcements.ts';
import { storeForThisTest, type TestStore, testStore } from '../support/store.ts';
import { contentsOf } from '../support/store-contents.ts';

const tables = allModels.map(tableOf);
const [first, second] = ['2026-10-01', '2026-10-02'];

/** Opens a store as a new start does, and returns what it logs. */
async function start({ databaseUrl }: TestStore): Promise<string[]> {
  const lines: string[] = [];
  await (await openCurrentStore({ databaseUrl, dataDir: '', log: (line) => lines.push(line) })).close();
  return lines;
}

// Tables that no release had while it stored several spellings.
const later = ['symbol_commits', 'session_origins', 'option_roots', 'splits', 'dividends'];

/** Tables and columns that hold a ticker. */
const tickerColumns = tables.flatMap(({ table, fields }) =>
  fields
    .filter(({ field, list }) => !list && ['symbol', 'underlying', 'scope'].includes(field) && !later.includes(table))
    .map(({ column }) => ({ table, column })),
);

/** Writes a row with these values, all others being alike. */
async function direct({ pool }: TestStore, table: string, values: Record<string, unknown>): Promise<void> {
  const { fields } = tables.find((each) => each.table === table)!;
  const usual = { text: 'x', bool: false, int4: 1, int8: 1, float8: 1, bytea: Buffer.from('x'), jsonb: '[]' };
  const columns = fields.map(({ column }) => column);
  const row = fields.map(({ column, type, list }) => values[column] ?? (list ? '{}' : usual[type]));
  await pool.query(
    `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map((_, i) => `$${i + 1}`).join()})`,
    row,
  );
}

async function valuesOf({ pool }: TestStore, table: string, column: string, symbol: string): Promise<unknown[]> {
  const { rows } = await pool.query(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE ${column} = $1 ORDER BY row`, [
    symbol,
  ]);
  return rows.map(({ row }) => row);
}

/** Minute bars from 10:00 on, one per volume; NaN = no bar. */
function minutes(session: string, volumes: readonly number[]): BarColumns {
  const known = [...volumes.keys()].filter((i) => !Number.isNaN(volumes[i]));
  const bars = barColumns(known.length);
  const startMs = exchangeInstant(session) + 10 * 3_600_000;
  for (const [at, i] of known.entries()) {
    for (const name of barColumnNames) bars[name][at] = volumes[i]! / 10;
    bars.tsMs[at] = startMs + i * 60_000;
    bars.volume[at] = volumes[i]!;
  }
  return bars;
}

async function volumesOf(store: TestStore, session: string, timeframe: '1m' | '1d' = '1m'): Promise<number[]> {
  const fromMs = exchangeInstant(session);
  const range = { fromMs, toMs: fromMs + 86_400_000, limit: Infinity };
  return [...(await readBars(store, ['BRK.B'], timeframe, range)).get('BRK.B')!.bars.volume];
}

describe('a store with several spellings of a ticker', () => {
  test('has every row of every table under the ticker after it is opened', async () => {
    const store = await storeForThisTest();
    for (const { table, column } of tickerColumns)
      for (const [rank, symbol] of ['BRK-B', 'BF/B', 'SPY'].entries())
        await direct(store, table, { [column]: symbol, session_date: first, rank, id: symbol });
    const before = await Promise.all(tickerColumns.map(({ table, column }) => valuesOf(store, table, column, 'BRK-B')));
    expect(before.flat().length).toBeGreaterThan(20);
    await start(store);
    for (const [i, { table, column }] of tickerColumns.entries()) {
      if (table === 'symbols') continue;
      const own = before[i]!.map((row) => ({ ...(row as object), [column]: 'BRK.B' }));
      expect(await valuesOf(store, table, column, 'BRK.B'), table).toEqual(own);
    }
    const text = JSON.stringify(await contentsOf(store));
    expect(text.replaceAll(/\\"id\\": \\"[^"]*"/g, '')).not.toMatch(/BRK-B|BF\/B/);
    expect(text).toContain('BF.B');
  });

  const chain = { captured_at: 1000, session_date: first };

  test('keeps the larger of two captures of an instant, and logs those that differ', async () => {
    const store = await storeForThisTest();
    const rows = (symbol: string, at: number, count: number) =>
      direct(store, 'chain_captures', { ...chain, underlying: symbol, captured_at: at, row_count: count });
    await rows('BRK-B', 1000, 5);
    await rows('BRK.B', 1000, 3);
    await rows('BRK-B', 2000, 3);
    await rows('BRK.B', 2000, 5);
    await rows('BRK-B', 3000, 4);
    await rows('BRK.B', 3000, 4);
    await direct(store, 'gex_captures', { underlying: 'BRK-B', captured_at: 1000, version: 'of 5' });
    await direct(store, 'gex_captures', { underlying: 'BRK.B', captured_at: 1000, version: 'of 3' });
    const lines = await start(store);
    const kept = (await valuesOf(store, 'chain_captures', 'underlying', 'BRK.B')) as Record<string, number>[];
    expect(Object.fromEntries(kept.map(({ captured_at, row_count }) => [captured_at, row_count]))).toEqual({
      1000: 5,
      2000: 5,
      3000: 4,
    });
    expect(await valuesOf(store, 'gex_captures', 'underlying', 'BRK.B')).toMatchObject([{ version: 'of 5' }]);
    expect(lines).toEqual([
      'warning: what was stored as BRK-B is now BRK.B; stored under both and different, the larger kept: ' +
        'chain_captures 1000, chain_captures 2000',
    ]);
  });

  test('unites the bars of both, and of two of one minute keeps the one with more volume', async () => {
    const store = await storeForThisTest();
    await inTransaction(store, async (tx) => {
      await writeBars(tx, '1m', [
        { symbol: 'BRK-B', bars: minutes(first, [10, 20]) },
        { symbol: 'BRK-B', bars: minutes(second, [10, Number.NaN, 50, 70]) },
        { symbol: 'BRK.B', bars: minutes(second, [30, 40, 20]) },
      ]);
    });
    const lines = await start(store);
    expect(await volumesOf(store, first)).toEqual([10, 20]);
    expect(await volumesOf(store, second)).toEqual([30, 40, 50, 70]);
    expect(lines.join()).toContain(`bars 1m ${second}`);
    expect(lines.join()).not.toContain(first);
  });

  test('keeps the flow of a session whole: events and legs of the spelling that has more', async () => {
    const store = await storeForThisTest();
    const event = (underlying: string, id: string) =>
      Promise.all(
        ['flow_events', 'flow_legs'].map((table) =>
          direct(store, table, { underlying, session_date: first, event_id: id }),
        ),
      );
    await event('BRK-B', 'a');
    await event('BRK-B', 'b');
    await event('BRK.B', 'c');
    await direct(store, 'flow_coverage', { underlying: 'BRK.B', session_date: first, status: 'of c' });
    await direct(store, 'flow_coverage', { underlying: 'BRK-B', session_date: first, status: 'of a and b' });
    await start(store);
    const ids = async (table: string) =>
      ((await valuesOf(store, table, 'underlying', 'BRK.B')) as { event_id: string }[]).map((row) => row.event_id);
    expect(await ids('flow_events')).toEqual(['a', 'b']);
    expect(await ids('flow_legs')).toEqual(['a', 'b']);
    expect(await valuesOf(store, 'flow_coverage', 'underlying', 'BRK.B')).toMatchObject([{ status: 'of a and b' }]);
  });

  test('names tickers in watchlists, each once, and in journals', async () => {
    const store = await storeForThisTest();
    const symbols = '{SPY,BRK-B,QQQ,"BRK B",BRK.B}';
    await direct(store, 'watchlists', { account_id: 'a', id: 'mixed', symbols });
    await direct(store, 'watchlists', { account_id: 'a', id: 'other', symbols: '{QQQ,SPY,QQQ}' });
    await direct(store, 'journal_trades', { account_id: 'a', id: '1', symbol: 'BRK/B' });
    await direct(store, 'journal_trades', { account_id: 'a', id: '2', symbol: 'not a ticker-x' });
    await start(store);
    expect(await store.prisma.watchlist.findMany({ select: { symbols: true }, orderBy: { id: 'asc' } })).toEqual([
      { symbols: ['SPY', 'BRK.B', 'QQQ'] },
      { symbols: ['QQQ', 'SPY', 'QQQ'] },
    ]);
    const trades = await store.prisma.journalTrade.findMany({ select: { symbol: true }, orderBy: { id: 'asc' } });
    expect(trades.map(({ symbol }) => symbol)).toEqual(['BRK.B', 'not a ticker-x']);
  });

  test('keeps the registered entry of two', async () => {
    const store = await storeForThisTest();
    await direct(store, 'symbols', { symbol: 'BRK-B', name: 'Berkshire', registered: true });
    await direct(store, 'symbols', { symbol: 'BRK.B', name: 'BRK.B', registered: false });
    await start(store);
    const entries = await store.prisma.symbol.findMany();
    expect(entries).toMatchObject([{ symbol: 'BRK.B', name: 'Berkshire', registered: true }]);
  });

  test('notifies servers of the ticker and of the spelling', async () => {
    const store = await storeForThisTest();
    await inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: 'BRK-B', bars: minutes(first, [10]) }]));
    const changes = await watchChanges(store);
    const before = ['BRK.B', 'BRK-B', 'SPY'].map((symbol) => store.versions.of('market', symbol)!);
    await start(store);
    await expect.poll(() => store.versions.of('market', 'BRK.B')).toBeGreaterThan(before[0]!);
    expect(store.versions.of('market', 'BRK-B')).toBeGreaterThan(before[1]!);
    expect(store.versions.of('market', 'SPY')).toBe(before[2]);
    await changes.stop();
  });
});

describe('merging spellings', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
    await inTransaction(store, async (tx) => {
      await writeBars(tx, '1m', [
        { symbol: 'BF/B', bars: minutes(first, [10]) },
        { symbol: 'BRK-B', bars: minutes(first, [20]) },
      ]);
    });
    return () => store.close();
  });

  test('goes on at the next start if it was interrupted, also if two begin at once', async () => {
    await store.pool.query(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'interrupted'; END $$`,
    );
    await store.pool.query(`CREATE TRIGGER interrupt BEFORE DELETE ON bar_blocks FOR EACH ROW WHEN (OLD.symbol = 'BRK-B')
      EXECUTE FUNCTION fail()`);
    await expect(start(store)).rejects.toThrow('interrupted');
    const symbols = async () => (await store.prisma.barBlock.findMany()).map(({ symbol }) => symbol).sort();
    expect(await symbols()).toEqual(['BF.B', 'BRK-B']);
    await store.pool.query('DROP TRIGGER interrupt ON bar_blocks');
    const lines = await Promise.all([start(store), start(store)]);
    expect(lines.flat()).toEqual(['warning: what was stored as BRK-B is now BRK.B']);
    expect(await symbols()).toEqual(['BF.B', 'BRK.B']);
    expect(await volumesOf(store, first)).toEqual([20]);
  });

  test('changes nothing the second time', async () => {
    const before = await contentsOf(store);
    expect(await start(store)).toEqual([]);
    await store.pool.query(`DELETE FROM store_facts WHERE key = 'one_spelling_per_ticker'`);
    expect(await start(store)).toEqual([]);
    expect(await contentsOf(store)).toEqual(before);
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { SymbolEntry } from '../../../src/core/domain/market/symbol.ts';
import { allSymbols, saveSymbols, saveUnknownTickers, symbolRegistry } from '../../../src/store/market/symbols.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { watchChanges } from '../../../src/store/versions/announcements.ts';
import { storeForThisTest } from '../../support/store.ts';

const entry = (symbol: string, more: Partial<SymbolEntry> = {}): SymbolEntry => ({
  symbol,
  name: `${symbol} Inc.`,
  class: 'equity',
  registered: true,
  windowDays: 60,
  tenorFrame: 'weekly',
  minTier: 'free',
  requiresAttestation: false,
  sector: null,
  instrumentType: 'common_equity',
  ...more,
});

test('symbols come back as they were saved, ascending', async () => {
  const store = await storeForThisTest();
  const spx = entry('SPX', {
    class: 'index',
    minTier: 'pro',
    requiresAttestation: true,
    instrumentType: 'index',
    windowDays: 365,
  });
  const entries = [entry('BRK.B', { sector: 'Financials' }), spx, entry('AAPL', { tenorFrame: 'daily' })];
  expect(await inTransaction(store, (tx) => saveSymbols(tx, entries))).toBe(3);
  expect(await allSymbols(store)).toEqual([entries[2], entries[0], spx]);
});

test('saving changes only what differs, and raises the version only then', async () => {
  const store = await storeForThisTest();
  const save = (...entries: SymbolEntry[]) => inTransaction(store, (tx) => saveSymbols(tx, entries));
  await save(entry('A'), entry('B'));
  const { version } = await symbolRegistry(store);
  expect(await save(entry('A'), entry('B'))).toBe(0);
  expect((await symbolRegistry(store)).version).toBe(version);
  expect(await save(entry('A', { minTier: 'pro' }), entry('B'))).toBe(1);
  const changed = await symbolRegistry(store);
  expect(changed.version).toBe(version + 1);
  expect(changed.get('A')!.minTier).toBe('pro');
});

test('an unknown ticker enters the directory, not the registry; a known one stays as it is', async () => {
  const store = await storeForThisTest();
  await inTransaction(store, (tx) => saveSymbols(tx, [entry('AAPL')]));
  await inTransaction(store, (tx) =>
    saveUnknownTickers(tx, ['AAPL', 'ZZZ', 'SPX'], (ticker) => (ticker === 'SPX' ? 'index' : 'equity')),
  );
  const registry = await symbolRegistry(store);
  expect(registry.registered().map(({ symbol }) => symbol)).toEqual(['AAPL']);
  expect(registry.get('ZZZ')).toMatchObject({ registered: false, class: 'equity', instrumentType: 'unknown' });
  expect(registry.get('SPX')).toMatchObject({ registered: false, class: 'index', instrumentType: 'index' });
  expect(registry.get('NONE')).toBeUndefined();
});

test('looking symbols up costs no statement', async () => {
  const store = await storeForThisTest();
  await inTransaction(store, (tx) => saveSymbols(tx, [entry('AAPL')]));
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await Promise.all(Array.from({ length: 50 }, () => symbolRegistry(store)));
  // The version, the symbols, the roots.
  expect(query).toHaveBeenCalledTimes(3);
  for (let i = 0; i < 200; i++) expect((await symbolRegistry(store)).get('AAPL')).toBeDefined();
  expect(query).toHaveBeenCalledTimes(3);
});

test('symbols in memory are there at once, without a promise', async () => {
  const store = await storeForThisTest();
  const changes = await watchChanges(store);
  await inTransaction(store, (tx) => saveSymbols(tx, [entry('AAPL')]));
  await vi.waitFor(async () => {
    await symbolRegistry(store);
    expect(symbolRegistry(store)).toMatchObject({ version: expect.any(Number) });
  }, 20_000);
  await changes.stop();
});

test('a watched registry sees what another process saved, as soon as it is committed', async () => {
  const [store, other] = await storeForThisTest().then(async (one) => {
    const { openStore } = await import('../../../src/store/rows/connection.ts');
    return [one, await openStore({ databaseUrl: one.databaseUrl, dataDir: '' })] as const;
  });
  const { stop } = await watchChanges(store);
  try {
    expect((await symbolRegistry(store)).get('NEW')).toBeUndefined();
    await inTransaction(other, (tx) => saveSymbols(tx, [entry('NEW')]));
    let seen: SymbolEntry | undefined;
    for (let tries = 0; tries < 100 && !seen; tries++) {
      seen = (await symbolRegistry(store)).get('NEW');
      if (!seen) await pause(20);
    }
    expect(seen).toEqual(entry('NEW'));
  } finally {
    await stop();
    await other.close();
  }
});

test('many writers at once do not wait for each other in a circle', async () => {
  const store = await storeForThisTest();
  const names = Array.from({ length: 40 }, (_, i) => `T${i}`);
  const turns = Array.from({ length: 6 }, (_, turn) => [...names.slice(turn * 6), ...names.slice(0, turn * 6)]);
  await Promise.all(
    turns.map((turn) =>
      inTransaction(store, async (tx) => {
        for (const name of turn) await saveUnknownTickers(tx, [name]);
      }),
    ),
  );
  expect(await allSymbols(store)).toHaveLength(40);
});
